import { readdir, readFile } from "node:fs/promises";

import { must } from "../src/base/assert.ts";
import { onServer } from "./server.ts";

/** Linux shows times so, with any clock. */
const ticksPerSecond = 100;

/** The processor time that a process has taken, in seconds. Only where there is a `/proc`. */
export async function processorSeconds(pid: number): Promise<number> {
  return must(await ticksOf(pid), "the process runs").own / ticksPerSecond;
}

/** The processor time that a process and its children have taken, those that have ended, too; in seconds. */
export async function familySeconds(pid: number): Promise<number> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(processes.map(async (name) => await ticksOf(Number(name))));
  return (
    all.reduce((sum, ticks) => {
      if (ticks?.pid === pid) return sum + ticks.own + ticks.ofEnded;
      return ticks?.parent === pid ? sum + ticks.own : sum;
    }, 0) / ticksPerSecond
  );
}

/** The process that all connections to the server are children of; it has to run on this machine. */
export async function postmasterOf(url: string): Promise<number> {
  const backend = await onServer(url, async (sql) => {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    return await ticksOf(must(row, "a select without a table has a row").pid);
  });
  return must(backend, "the server runs on this machine").parent;
}

interface Ticks {
  readonly pid: number;
  readonly parent: number;
  readonly own: number;
  /** Of its children. */
  readonly ofEnded: number;
}

/** Undefined for a process that has ended. */
async function ticksOf(pid: number): Promise<Ticks | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // What comes behind the name of the program, which may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11);
    return { pid, parent, own: user + system, ofEnded: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}

import { readdir, readFile } from "node:fs/promises";

import type postgres from "postgres";

import { must } from "../src/base/assert.ts";
import { onServer } from "./server.ts";

/** Linux shows times so, with any clock. */
const ticksPerSecond = 100;

/** The processor time that a process has taken, in seconds. Only where there is a `/proc`. */
export async function processorSeconds(pid: number): Promise<number> {
  return must(await ticksOf(pid), "the process runs").own / ticksPerSecond;
}

/** The process that works for a connection; the server has to run on this machine. */
export async function backendOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return must(row, "a select without a table has a row").pid;
}

/** The processor time that a process with one thread has taken, to less than a microsecond. */
export async function processorMicroseconds(pid: number): Promise<number> {
  const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
  return Number(nanoseconds) / 1_000;
}

/** The same of a process with several threads, of all that run. */
export async function threadsMicroseconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    threads.map(async (thread) => {
      const [nanoseconds] = (await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8")).split(
        " ",
      );
      return Number(nanoseconds) / 1_000;
    }),
  );
  return times.reduce((sum, each) => sum + each, 0);
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

/** The processes that a process has started and that run. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(processes.map(async (name) => await ticksOf(Number(name))));
  return all.flatMap((ticks) => (ticks?.parent === pid ? [ticks.pid] : []));
}

/** The process that all connections to the server are children of; it has to run on this machine. */
export async function postmasterOf(url: string): Promise<number> {
  const backend = await onServer(url, async (sql) => await ticksOf(await backendOf(sql)));
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

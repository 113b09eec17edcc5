import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";

import { createTestDatabase } from "../support/database.ts";
import { type Addresses, type RunOptions, type Running, startServing } from "../support/pemba.ts";

/** A test needs them: at most one worker is started for each. */
export const hasTwoProcessors = availableParallelism() >= 2;

/** A server with two workers, and what it has logged so far. */
export interface WorkingInstance extends Running, Addresses {
  readonly log: () => string;
  /** Resolves when the log has the text, after so many of its characters. */
  readonly logs: (text: RegExp, from?: number) => Promise<void>;
  /** The processes of its workers. */
  readonly workers: () => Promise<readonly number[]>;
  /** Ends it at once, and drops the database of its own. */
  readonly end: () => Promise<void>;
}

/**
 * Starts an instance with two workers, on an empty database of its own if no other one is given; resolves when it is
 * ready.
 */
export async function startByTwo(
  words: readonly string[] = [],
  {
    env = {},
    databaseUrl,
  }: { readonly env?: RunOptions["env"]; readonly databaseUrl?: string } = {},
): Promise<WorkingInstance> {
  const database =
    databaseUrl === undefined
      ? await createTestDatabase()
      : { url: databaseUrl, drop: async () => {} };
  let text = "";
  const serving = startServing(
    [
      "--server-workers=2",
      "--database-engine=postgres",
      `--database-uri=${database.url}`,
      "--log-output=json",
      "--log-level=debug",
      ...words,
    ],
    { env, onOutput: (chunk) => (text += chunk) },
  );
  return {
    ...serving,
    ...(await serving.addresses),
    log: () => text,
    logs: async (expected, from = 0) => {
      while (!expected.test(text.slice(from))) await nextOutput(serving);
    },
    workers: async () => await childrenOf(serving.process.pid ?? assert.fail("it runs")),
    end: async () => {
      serving.process.kill("SIGKILL");
      await serving.finished;
      await database.drop();
    },
  };
}

async function nextOutput({ process, finished }: Running): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdout?.once("data", () => resolve());
  const ended = finished.then(({ stdout, stderr }) => {
    throw new Error(`the server has ended: ${stdout}${stderr}`);
  });
  await Promise.race([promise, ended]);
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  // Its status is 1 where there are none.
  const run = promisify(execFile)("pgrep", ["-P", String(pid)]);
  const { stdout } = await run.catch(() => ({ stdout: "" }));
  return stdout.split("\n").filter(Boolean).map(Number);
}

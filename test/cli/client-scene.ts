import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startPemba } from "../../src/testing/start-pemba.ts";
import { runCommand } from "../support/commands-process.ts";
import type { Finished } from "../support/pemba.ts";

/** A server on the memory engine, and commands that ask it. */
export interface ClientScene {
  /** Runs a command against the server. `input` is a file of this name, which takes the place of the word `-`. */
  readonly pemba: (words: readonly string[], input?: string) => Promise<Finished>;
  readonly close: () => Promise<void>;
}

export async function openClientScene(): Promise<ClientScene> {
  const server = await startPemba();
  const env = { PEMBA_URL: server.getRestUrl() };
  const folder = await mkdtemp(join(tmpdir(), "pemba-input-"));
  return {
    pemba: async (words, input) => {
      if (input === undefined) return await runCommand(words, { env });
      const cwd = await mkdtemp(join(folder, "of-command-"));
      await writeFile(join(cwd, "input"), input);
      const named = words.map((word) => (word === "-" ? "input" : word));
      return await runCommand(named, { env, cwd });
    },
    close: async () => {
      await rm(folder, { recursive: true });
      await server.stop();
    },
  };
}

/** A schema for tenants of tests, laid out as `pemba schema format` does. */
export const docSchema = `entity user {}

entity group {
  relation member @user @group
}

entity doc {
  relation viewer @user @group @group#member
  attribute public boolean
  attribute tags string[]
  attribute score double
  permission view = viewer or f(score)
}

rule f(score double) {
  score > 1.0 // high
}
`;

/** Makes a tenant with `docSchema`. Returns what runs a command there that succeeds. */
export async function tenantWithSchema(
  { pemba }: ClientScene,
  id: string,
): Promise<(words: readonly string[], input?: string) => Promise<string>> {
  const run = async (words: readonly string[], input?: string): Promise<string> => {
    const { status, stdout, stderr } = await pemba([...words, "--tenant", id], input);
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  };
  assert.equal((await pemba(["tenant", "create", id])).stdout, `${id}\n`);
  await run(["schema", "write", "-"], docSchema);
  return run;
}

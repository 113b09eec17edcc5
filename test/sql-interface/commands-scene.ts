import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import type postgres from "postgres";

import { connect } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import type { Finished } from "../support/pemba.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

/** An interface, and a role of an application that has no rights. */
export interface CommandScene extends InterfaceScene {
  /** Runs `pemba` with these words and variables alone. */
  readonly run: (
    words: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<Finished>;
  /** Runs `pemba sql` with these words on the database. */
  readonly pemba: (...words: readonly string[]) => Promise<Finished>;
  /** The output of a run that succeeds without a warning. */
  readonly printed: (...words: readonly string[]) => Promise<string>;
  /** Runs a printed migration as the owner, in a session of its own. */
  readonly apply: (migration: string) => Promise<void>;
  /** Makes a role without rights, with connections of its own. It ends with the test. */
  readonly newRole: (
    t: TestContext,
  ) => Promise<{ readonly name: string; readonly sql: postgres.Sql }>;
}

export async function openCommands(
  ...options: Parameters<typeof openInterface>
): Promise<CommandScene> {
  const scene = await openInterface(...options);
  const { url, owner } = scene;
  const run: CommandScene["run"] = async (words, env = {}) => await runCommand(words, { env });
  const pemba: CommandScene["pemba"] = async (...words) =>
    await run(["sql", ...words], { SERVICE_DATABASE_URI: url });
  return {
    ...scene,
    run,
    pemba,
    printed: async (...words) => {
      const { status, stdout, stderr } = await pemba(...words);
      assert.deepEqual([status, stderr], [0, ""]);
      return stdout;
    },
    apply: async (migration) => {
      const session = connect(url, 1);
      try {
        await session.unsafe(migration);
      } finally {
        await session.end({ timeout: 1 });
      }
    },
    newRole: async (t) => {
      // Capitals and quotes, so that the printed grants must quote it.
      const name = `App "${randomUUID().slice(0, 8)}"; drop`;
      await owner`create role ${owner(name)}`;
      const query = new URLSearchParams({ role: name });
      const connection = connect(`${url}?${query.toString().replaceAll("+", "%20")}`);
      t.after(async () => {
        await connection.end({ timeout: 1 });
        await owner`drop owned by ${owner(name)}`;
        await owner`drop role ${owner(name)}`;
      });
      return { name, sql: connection };
    },
  };
}

/** A file with a schema, which ends with the test. */
export function schemaFile(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-sql-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "app.perm");
  writeFileSync(file, text);
  return file;
}

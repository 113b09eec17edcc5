/**
 * A copy of the database takes its name while an instance runs, on the same server.
 */
import assert from "node:assert/strict";
import { test } from "node:test";

import { outcomeOf } from "./asked-text.ts";
import { newTenant, openPostgres, openStore, write } from "./engines.ts";
import { remove } from "./filters.ts";
import { connect } from "./open-write.ts";

const schema = `
  entity user {}
  entity doc {
    relation owner @user @doc#owner
    permission view = owner
  }
`;

test("no answer of a database is given for another one that took its name", async (t) => {
  const opened = await openPostgres();
  t.after(opened.close);
  const writer = opened.store;
  const tenant = await newTenant(writer);
  await writer.schemas.write(tenant, { text: schema });
  await write(writer, tenant, { tuples: ["doc:1#owner@user:ada"] });
  const url = new URL(opened.url);
  const name = url.pathname.slice(1);
  await writer.close();
  const root = new URL(opened.url);
  root.pathname = "/postgres";
  const sql = connect(root.href);
  await sql.unsafe(`create database "${name}_copy" template "${name}"`);
  t.after(async () => {
    await sql.unsafe(`drop database if exists "${name}_old" with (force)`);
    await sql.end({ timeout: 1 });
  });
  // What was revoked in the copy; an instance that opens it takes it over.
  const copyUrl = new URL(opened.url);
  copyUrl.pathname = `/${name}_copy`;
  const copy = await openStore(copyUrl.href);
  await remove(copy, tenant, { tuples: { type: "doc", ids: ["1"] } });
  await copy.close();

  const keeping = await openStore(opened.url, {
    cache: { maxBytes: 200_000, maxEntries: 1_000 },
    warn: () => {},
  });
  t.after(async () => await keeping.close());
  const asked = ["doc:1#view@user:ada", "doc#view@user:ada"];
  const ask = async () =>
    await Promise.all(asked.map(async (each) => await outcomeOf(keeping, tenant, each)));
  for (let times = 0; times < 4; times += 1) assert.deepEqual(await ask(), ["true", "1"]);

  await sql.unsafe(`alter database "${name}" allow_connections false`);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
  await sql.unsafe(`alter database "${name}" rename to "${name}_old"`);
  await sql.unsafe(`alter database "${name}_copy" rename to "${name}"`);
  // The first ones may find that their connections have ended.
  const answers = async (): Promise<readonly string[]> => {
    for (;;) {
      const found = await ask();
      if (!found.includes("UNAVAILABLE")) return found;
    }
  };
  for (let times = 0; times < 4; times += 1) assert.deepEqual(await answers(), ["false", ""]);
});

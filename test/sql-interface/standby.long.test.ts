/** The functions on a standby, which answer as on the primary. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { policyStatements } from "../../src/sql/application/policy.ts";
import { write } from "../store/engines.ts";
import { type Replicated, startReplicated } from "../store/replicated.ts";
import { interfaceOptions } from "./interface-scene.ts";
import { makeList, ways } from "./list-scene.ts";

let servers: Replicated;

before(async () => {
  servers = await startReplicated();
});

after(async () => {
  await servers.stop();
});

/** What a statement returns on the primary, and on the standby. */
async function both(work: (sql: postgres.TransactionSql) => Promise<readonly unknown[]>) {
  const run = async (sql: postgres.Sql): Promise<readonly unknown[]> => {
    const { rows } = await sql.begin("read only", async (inside) => ({ rows: await work(inside) }));
    return rows;
  };
  return { primary: await run(servers.sql), standby: await run(servers.following) };
}

test("a standby answers questions, lists and policies as the primary does", async (t) => {
  const { sql, following } = servers;
  const { store, tenant } = await servers.open(t, { sql: { ...interfaceOptions, bound: true } });
  const ids = Array.from({ length: 40 }, (_, index) => String(index));
  await write(store, tenant, {
    tuples: [
      "group:g#member@user:many",
      ...ids.map((id) => `doc:${id}#viewer@group:g#member`),
      "doc:7#owner@user:few",
      "doc:9#owner@user:few",
    ],
  });
  await sql.unsafe(`
    create schema app;
    create table app.docs (id bigint primary key, at integer not null);
    insert into app.docs select i, i % 5 from generate_series(0, 39) as i;
    create index on app.docs (at desc, id);
  `);
  for (const [index, bounds] of Object.values(ways).entries()) {
    await makeList(
      { url: servers.url, owner: sql },
      {
        table: "app.docs",
        key: "id",
        name: `list_${index}`,
        order: "at desc",
        where: "at < $most",
        question: { entityType: "doc", permission: "view", subjectType: "user" },
        bounds,
      },
    );
  }
  const role = `app_${randomUUID().slice(0, 8)}`;
  await sql`create role ${sql(role)}`;
  await sql`grant usage on schema app, pemba to ${sql(role)}`;
  await sql`grant select on app.docs to ${sql(role)}`;
  await sql`grant execute on all functions in schema pemba to ${sql(role)}`;
  await servers.caughtUp();

  for (const user of ["few", "many", "none"]) {
    const asked = await both(
      async (inside) =>
        await inside`
        select array(
            select d.id from app.docs as d
            where pemba.may(${tenant}, 'doc', d.id::text, 'view', 'user', ${user})
            order by d.id
          ) as may,
          array(
            select pemba.may_of(${tenant}, 'doc', array['7', '8'], 'view', 'user', ${user}) order by 1
          ) as may_of,
          array(select pemba.visible(${tenant}, 'doc', 'view', 'user', ${user}) order by 1) as visible,
          cardinality(pemba.visible_ids(${tenant}, 'doc', 'view', 'user', ${user})) as ids,
          pemba.visible_count(${tenant}, 'doc', 'view', 'user', ${user}) as count,
          array(select pemba.who(${tenant}, 'doc', '7', 'view', 'user') order by 1) as who
      `,
    );
    assert.deepEqual([...asked.standby], [...asked.primary], user);
    for (const [index, way] of Object.keys(ways).entries()) {
      const listed = await both(
        async (inside) =>
          await inside.unsafe(
            `select * from pemba.list_${index}('${tenant}', '${user}', 3, 8, 10, 4)`,
          ),
      );
      assert.deepEqual([...listed.standby], [...listed.primary], `${user} by ${way}`);
    }
  }

  for (const form of ["set", "check"] as const) {
    const statements = policyStatements({
      name: "seen",
      table: { schema: "app", name: "docs" },
      key: { name: "id", type: "bigint" },
      command: "select",
      form,
      entry: "pemba",
      tenant,
      question: { entityType: "doc", permission: "view", subjectType: "user" },
    });
    await sql.begin(async (inside) => {
      for (const statement of statements) await inside.unsafe(statement);
    });
    await servers.caughtUp();
    const seen = await both(async (inside) => {
      await inside`set local role ${inside(role)}`;
      await inside`
        select set_config('pemba.subject', 'few', true), set_config('pemba.tenant', ${tenant}, true)
      `;
      return await inside`
        select d.id, pemba.my_may('doc', d.id::text, 'view') as may from app.docs as d order by d.id
      `;
    });
    assert.deepEqual(
      [...seen.standby],
      ["7", "9"].map((id) => ({ id, may: true })),
    );
    assert.deepEqual([...seen.standby], [...seen.primary]);
  }
  // A write needs an id of a transaction, and a token what the primary alone knows.
  for (const [call, code] of Object.entries({
    [`write_tuple('${tenant}', 'doc', '1', 'owner', 'user', 'a')`]: "25006",
    [`delete_entity('${tenant}', 'doc', '1')`]: "25006",
    "announce()": "25006",
    [`token('${tenant}')`]: "55000",
  })) {
    await assert.rejects(following.unsafe(`select pemba.${call}`), { code }, call);
  }
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { pinTable } from "../../src/sql/state/source.ts";
import { param, render, sql } from "../../src/sql/text/fragment.ts";
import type { Store } from "../../src/store/store.ts";
import { openPostgres, tenantWithSchema, write } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";
import { effortOf } from "../support/rows-read.ts";

/*
 * To find out whether a tenant changed since a snapshot takes a few probes of the log, however long it
 * is: also while a transaction is open that began before all of it, in this or another database.
 */

let store: Store;
let client: postgres.Sql;
let close: () => Promise<void>;

before(async () => {
  const opened = await openPostgres();
  store = opened.store;
  client = connect(opened.url);
  close = async () => {
    await client.end({ timeout: 1 });
    await opened.close();
  };
});

after(async () => await close());

test("a long transaction elsewhere does not make a pinned question read the log", async () => {
  const tenant = await tenantWithSchema(store);
  const old = await client.reserve();
  await old`begin`;
  await old`select pg_current_xact_id()`;
  for (let round = 0; round < 5; round++) {
    const tuples = Array.from({ length: 200 }, (_, nth) => `doc:${round}x${nth}#owner@user:a`);
    await write(store, tenant, { tuples });
  }
  const [now] = await client<{ snapshot: string }[]>`
    select pg_current_snapshot()::text as snapshot`;
  const { snapshot } = must(now, "a select without a table has one row");
  const { text, params } = render(
    sql`select p.changed from tenants t cross join lateral (${pinTable}) p where t.id = ${param("tenant", "text")}`,
  );
  const values = new Map<string, string | number>([
    ["tenant", tenant],
    ["snapshot", snapshot],
    ["snapshot_timeline", 1],
    ["snapshot_change", "0"],
    ["snapshot_taken_before", "0"],
    ["snapshot_last", ""],
  ]);
  const given = params.map((key) => must(values.get(key), `the parameter ${key} has a value`));
  assert.deepEqual([...(await client.unsafe(text, given))], [{ changed: false }]);
  const { rows } = await effortOf(client, text, given);
  assert.ok(rows < 10, `${rows} rows for one tenant, one installation and no change`);

  const [late] = await old<{ written: boolean }[]>`
    insert into changes (
      tenant, xid, ordinal, operation, entity_type, entity_id, relation, subject_type, subject_id,
      subject_relation
    )
    select number, pg_current_xact_id(), 0, 'create', 'doc', 'late', 'owner', 'user', 'a', ''
    from tenants where id = ${tenant}
    returning true as written`;
  assert.equal(late?.written, true);
  await old`commit`;
  old.release();
  assert.deepEqual([...(await client.unsafe(text, given))], [{ changed: true }]);
});

/** Moves of tenants between databases, one thing at a time. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { TenantId } from "../../src/base/tuple.ts";
import type { MoveDatabase } from "../../src/store/placed/move/notes.ts";
import type { Store } from "../../src/store/store.ts";
import { openLine } from "../support/line.ts";
import { type Mover, openMover } from "../support/moves.ts";
import type { PlacedDatabases } from "../support/placed-databases.ts";
import { isLong, seed } from "../support/run-length.ts";
import {
  allowed,
  attribute,
  fails,
  openPlaced,
  schemaText,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { tupleFilter } from "./filters.ts";
import { connect } from "./open-write.ts";

let placed: PlacedDatabases;
let store: Store;
let mover: Mover;
let sql: Readonly<Record<"a" | "b" | "c", postgres.Sql>>;

before(async () => {
  placed = await openPlaced({ watch: { readAheadMax: 100 } });
  store = placed.store;
  mover = await openMover(placed.urls);
  const [a = "", b = "", c = ""] = placed.urls;
  sql = { a: connect(a, 2), b: connect(b, 2), c: connect(c, 2) };
});

after(async () => {
  await mover.close();
  await Promise.all(Object.values(sql).map(async (one) => await one.end({ timeout: 1 })));
  await placed.close();
});

/** On which clusters the tenant is served. */
async function servedOn(id: TenantId): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, one] of Object.entries(sql)) {
    if ((await one`select from tenants where id = ${id}`).length > 0) found.push(name);
  }
  return found;
}

async function placementOf(id: TenantId): Promise<unknown> {
  const [row] = await sql.a`select cluster, state from placements where tenant = ${id}`;
  return row && { ...row };
}

/** What is noted of moves of the tenant, in all databases. */
async function notesOf(id: TenantId): Promise<number> {
  const [moves] =
    await sql.a`select count(*)::integer as n from moves where tenant = ${id} and step <> 'ended'`;
  const counts = [Number(moves?.["n"])];
  for (const one of Object.values(sql)) {
    const [row] = await one`
      select (select count(*) from departures where id = ${id})::integer
        + (select count(*) from arrivals where id = ${id})::integer as n`;
    counts.push(Number(row?.["n"]));
  }
  return counts.reduce((sum, one) => sum + one, 0);
}

class Killed extends Error {}

/** A process that is gone just before, or just after, it has sent its statement with this number. */
function dyingAt(
  number: number,
  isAfter: boolean,
): { readonly through: (database: MoveDatabase) => MoveDatabase; readonly sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    through: (database) => ({
      query: async (text, values) => {
        sent++;
        if (sent > number || (sent === number && !isAfter)) throw new Killed();
        const rows = await database.query(text, values);
        if (sent >= number) throw new Killed();
        return rows;
      },
    }),
  };
}

async function filled(): Promise<TenantId> {
  const tenant = await tenantWithSchema(store, "b");
  await write(store, tenant, {
    tuples: ["doc:1#owner@user:ann", "doc:2#viewer@group:g#member", "group:g#member@user:bob"],
    attributes: [attribute("public", { type: "boolean", data: false })],
  });
  return tenant;
}

test("a tenant has the same data, schemas and bundles on the other cluster", async () => {
  const tenant = await filled();
  const first = await store.schemas.list(tenant, { before: undefined, limit: 10 });
  await store.schemas.write(tenant, { text: `${schemaText}\n entity folder {}` });
  const events = await mover.run({ tenant, to: "c" });
  assert.equal(events.at(-1)?.kind, "switched");
  assert.deepEqual(await servedOn(tenant), ["c"]);
  assert.deepEqual(await placementOf(tenant), { cluster: "c", state: "placed" });
  assert.equal(await notesOf(tenant), 0);
  assert.equal(await allowed(store, tenant, { id: "2", permission: "view", subject: "bob" }), true);
  assert.equal(
    await allowed(store, tenant, { id: "2", permission: "view", subject: "ann" }),
    false,
  );
  const versions = await store.schemas.list(tenant, { before: undefined, limit: 10 });
  assert.equal(versions.items.length, 2);
  assert.deepEqual(versions.items.at(-1), first.items[0]);
  await write(store, tenant, { tuples: ["doc:2#owner@user:ann"] });
  assert.equal(await allowed(store, tenant, { id: "2", permission: "view", subject: "ann" }), true);
});

test("what is written while pages are copied comes along", async () => {
  const tenant = await filled();
  let isWritten = false;
  await mover.run({
    tenant,
    to: "c",
    through: (database, cluster) => ({
      query: async (text, values) => {
        const rows = await database.query(text, values);
        // Every page has been read.
        if (
          !isWritten &&
          cluster === "b" &&
          text.includes("json_agg") &&
          text.includes("value_type, value")
        ) {
          isWritten = true;
          await write(store, tenant, {
            tuples: ["doc:3#owner@user:cid"],
            attributes: [attribute("public", { type: "boolean", data: true })],
          });
          const removed = { type: "doc", ids: ["1"], relation: "owner", subjectIds: ["ann"] };
          await store.data.delete(tenant, { tuples: tupleFilter(removed), attributes: undefined });
        }
        return rows;
      },
    }),
  });
  assert.ok(isWritten);
  assert.equal(await allowed(store, tenant, { id: "3", permission: "view", subject: "cid" }), true);
  assert.equal(await allowed(store, tenant, { id: "1", permission: "view", subject: "eve" }), true);
  assert.equal(
    await allowed(store, tenant, { id: "1", permission: "owner", subject: "ann" }),
    false,
  );
});

test("a token of before a move is expired, and a watcher ends as unavailable", async () => {
  const tenant = await filled();
  const token = await write(store, tenant, { tuples: ["doc:5#owner@user:ann"] });
  const signal = new AbortController().signal;
  const stream = await store.changes.follow(tenant, { after: token, signal });
  const ended = fails(
    (async () => {
      for await (const message of stream.messages) assert.equal(message.changes.length, 0);
    })(),
    "UNAVAILABLE",
    "moved",
  );
  await mover.run({ tenant, to: "a" });
  await ended;
  const asked = { id: "5", permission: "view", subject: "ann", at: token };
  await fails(allowed(store, tenant, asked), "SNAP_TOKEN_EXPIRED");
  await fails(store.changes.follow(tenant, { after: token, signal }), "SNAP_TOKEN_EXPIRED");
  await mover.run({ tenant, to: "b" });
  // It is of an earlier stay now.
  await fails(allowed(store, tenant, asked), "SNAP_TOKEN_EXPIRED", "moved to its cluster");
  const from = store.changes.follow(tenant, { after: token, signal });
  await fails(from, "SNAP_TOKEN_EXPIRED", "use a token of a newer answer");
  // The memory of moves goes with the tenant.
  await store.tenants.delete(tenant);
  await store.tenants.create({ id: tenant, name: "", cluster: "b" });
  await store.schemas.write(tenant, { text: schemaText });
  await fails(allowed(store, tenant, asked), "INVALID_SNAP_TOKEN", "before this tenant");
});

test("a mover that dies at any statement leaves one side, and another one ends the move", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  // A short run takes some of the statements, others each time.
  const step = isLong ? 1 : 5;
  for (const isAfter of [false, true]) {
    let times = 0;
    for (let number = 1 + (seed % step); ; number += step) {
      times++;
      const tenant = await filled();
      const dying = dyingAt(number, isAfter);
      const died = await mover
        .run({ tenant, to: "c", through: dying.through, leaseMs: 0 })
        .then(() => false)
        .catch((error: unknown) => {
          if (error instanceof Killed) return true;
          throw error;
        });
      if (!died) break;
      assert.ok((await servedOn(tenant)).length <= 1, `statement ${number}`);
      if (times % 2 === 0) await mover.revert(tenant).catch(() => undefined);
      await mover.run({ tenant, to: "c", leaseMs: 0 }).catch(() => undefined);
      assert.deepEqual(await servedOn(tenant), ["c"], `statement ${number}`);
      assert.equal(await notesOf(tenant), 0, `statement ${number}`);
      const asked = { id: "1", permission: "view", subject: "ann" };
      assert.equal(await allowed(store, tenant, asked), true);
    }
  }
});

test("a move that was begun is taken back, and is begun anew to another cluster", async () => {
  const tenant = await filled();
  const dying = dyingAt(9, true);
  await assert.rejects(mover.run({ tenant, to: "c", through: dying.through }), Killed);
  await fails(mover.run({ tenant, to: "c" }), "SERIALIZATION", "another process");
  await fails(mover.run({ tenant, to: "a", leaseMs: 0 }), "INVALID_ARGUMENT", "`c`");
  await mover.revert(tenant);
  assert.deepEqual([await servedOn(tenant), await notesOf(tenant)], [["b"], 0]);
  await mover.run({ tenant, to: "a" });
  assert.deepEqual(await servedOn(tenant), ["a"]);
});

test("a stop that takes too long ends, and the source serves the tenant again", async () => {
  const tenant = await filled();
  let isOpen = false;
  const reasons: string[] = [];
  const held = sql.b;
  const release = Promise.withResolvers<void>();
  let holding: Promise<unknown> | undefined;
  const events = await mover.run({
    tenant,
    to: "c",
    stopMs: 300,
    through: (database) => ({
      query: async (text, values) => {
        if (!isOpen && text.includes("hide_tenant")) {
          isOpen = true;
          const begun = Promise.withResolvers<void>();
          holding = held.begin(async (transaction) => {
            await transaction`select pg_current_xact_id()`;
            begun.resolve();
            await release.promise;
          });
          await begun.promise;
        }
        return await database.query(text, values);
      },
    }),
    onEvent: (event) => {
      if (event.kind !== "waiting") return;
      reasons.push(event.reason);
      release.resolve();
    },
  });
  await holding;
  assert.equal(reasons[0], "a transaction at the source did not end");
  assert.equal(events.at(-1)?.kind, "switched");
  assert.deepEqual(await servedOn(tenant), ["c"]);
});

test("a tenant that is deleted while it is copied is gone everywhere", async () => {
  const tenant = await filled();
  let isDeleted = false;
  const move = mover.run({
    tenant,
    to: "c",
    through: (database) => ({
      query: async (text, values) => {
        if (!isDeleted && text.includes("pg_relation_filenode")) {
          isDeleted = true;
          await store.tenants.delete(tenant);
        }
        return await database.query(text, values);
      },
    }),
  });
  await fails(move, "TENANT_NOT_FOUND");
  await mover.recover();
  assert.deepEqual([await servedOn(tenant), await notesOf(tenant)], [[], 0]);
  assert.equal(await placementOf(tenant), undefined);
});

test("an instance has a tenant served again that a mover left refused", async () => {
  for (const [statement, cluster] of [
    ["hide_tenant", "b"],
    ["set step = 'switched'", "c"],
  ] as const) {
    const tenant = await filled();
    let isDead = false;
    const move = mover.run({
      tenant,
      to: "c",
      through: (database) => ({
        query: async (text, values) => {
          if (isDead) throw new Killed();
          const rows = await database.query(text, values);
          isDead = text.includes(statement);
          if (isDead) throw new Killed();
          return rows;
        },
      }),
    });
    await assert.rejects(move, Killed);
    assert.deepEqual(await servedOn(tenant), []);
    const asked = { id: "1", permission: "view", subject: "ann" };
    const answer = allowed(store, tenant, asked);
    await mover.recover();
    assert.equal(await answer, true);
    assert.deepEqual(await servedOn(tenant), [cluster]);
  }
});

test("a move is refused while a map of either cluster derives data of the tenant", async () => {
  for (const [cluster, derivedOf] of [
    ["b", "one"],
    ["c", "one"],
    ["c", "all"],
  ] as const) {
    const tenant = await filled();
    const of = derivedOf === "one" ? tenant : "";
    const drop = await derive(sql[cluster], of);
    await fails(mover.run({ tenant, to: "c" }), "INVALID_ARGUMENT", "`app.documents`");
    assert.deepEqual([await servedOn(tenant), await notesOf(tenant)], [["b"], 0]);
    await drop();
    await mover.run({ tenant, to: "c" });
    assert.deepEqual(await servedOn(tenant), ["c"]);
  }
});

test("a map that is made while the tenant is copied ends the move before the switch", async () => {
  const tenant = await filled();
  let drop: (() => Promise<void>) | undefined;
  const move = mover.run({
    tenant,
    to: "c",
    through: (database) => ({
      query: async (text, values) => {
        if (text.includes("hide_tenant")) drop ??= await derive(sql.b, tenant);
        return await database.query(text, values);
      },
    }),
  });
  await fails(move, "INVALID_ARGUMENT", "`app.documents`");
  assert.deepEqual([await servedOn(tenant), await notesOf(tenant)], [["b"], 0]);
  await drop?.();
});

/** Notes a map as the functions of SQL do, and returns how it is dropped. */
async function derive(database: postgres.Sql, tenant: string): Promise<() => Promise<void>> {
  await database`insert into maps (name, source, definition) values ('m', 'app.documents', '{}')`;
  await database`
    insert into derived values ('doc#owner@user', ${tenant}, 'm', 'doc', 'owner', 'user', '', '')`;
  return async () => {
    await database`delete from derived where map = 'm'`;
    await database`delete from maps where name = 'm'`;
  };
}

test("a database that goes away amid a move leaves one side, and the move goes on later", async (t) => {
  const lines = await Promise.all(placed.urls.map(async (url) => await openLine(t, url)));
  const [a, b, c] = lines;
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const far = await openMover(lines.map(({ url }) => url));
  t.after(async () => await far.close());
  for (const [line, statement] of [
    [b, "block_size"],
    [c, "expect_tenant"],
    [c, "json_array_elements"],
    [b, "hide_tenant"],
    [a, "set step = 'switched'"],
    [c, "receive_tenant"],
    [b, "removed_tenants"],
  ] as const) {
    for (const isAfter of [false, true]) {
      const tenant = await filled();
      let isCut = false;
      const move = far.run({
        tenant,
        to: "c",
        leaseMs: 0,
        through: (database) => ({
          query: async (text, values) => {
            const isIt = !isCut && text.includes(statement);
            if (isIt && !isAfter) await line.cut();
            const rows = await database.query(text, values);
            if (isIt && isAfter) await line.cut();
            isCut ||= isIt;
            return rows;
          },
        }),
      });
      // After its last statement there, nothing of the move is missing.
      const isLast = ["receive_tenant", "removed_tenants"].includes(statement);
      if (isLast && isAfter) await move;
      else await fails(move, "UNAVAILABLE");
      assert.ok((await servedOn(tenant)).length <= 1, statement);
      await line.mend();
      await mover.recover();
      assert.equal((await servedOn(tenant)).length, 1, statement);
      const rest = await mover
        .run({ tenant, to: "c", leaseMs: 0 })
        .catch((error: unknown) => error);
      if (!Array.isArray(rest)) assert.match(String(rest), /is on `c`/, statement);
      assert.deepEqual([await servedOn(tenant), await notesOf(tenant)], [["c"], 0], statement);
      assert.equal(
        await allowed(store, tenant, { id: "1", permission: "view", subject: "ann" }),
        true,
      );
    }
  }
});

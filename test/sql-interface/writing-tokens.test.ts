/** Tokens that applications take in their own transactions. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type postgres from "postgres";

import { tokenMac } from "../../src/base/token-mac.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { follow, textOf } from "../store/change-streams.ts";
import { allowed, fails, openStore, tenantWithSchema, write } from "../store/engines.ts";
import { remove } from "../store/filters.ts";
import { until } from "../store/open-write.ts";
import { stateAt } from "../store/state.ts";
import { dice } from "../support/dice.ts";
import { caseCount } from "../support/run-length.ts";
import { interfaceOptions, type InterfaceScene, openInterface } from "./interface-scene.ts";

const cached = { cache: { maxBytes: 1_000_000, maxEntries: 10_000 } };

let scene: InterfaceScene;
let store: Store;

before(async () => {
  scene = await openInterface({}, { ...cached, watch: { readAheadMax: 10 } });
  ({ store } = scene);
});

after(async () => {
  await scene.close();
});

const owner = (id: string): string => `doc:${id}#owner@user:a`;

async function make(inside: postgres.ISql, tenant: TenantId, id: string): Promise<void> {
  await inside`select pemba.write_tuple(${tenant}, 'doc', ${id}, 'owner', 'user', 'a')`;
}

async function tokenOf(inside: postgres.ISql, tenant: TenantId): Promise<SnapToken> {
  const [row] = await inside<{ token: SnapToken }[]>`select pemba.token(${tenant})`;
  return row?.token ?? assert.fail("no token");
}

/** Every way to read at a token, and a change that needs its state. */
function reads(tenant: TenantId, token: SnapToken): readonly (() => Promise<unknown>)[] {
  return [
    async () => await stateAt(store, tenant, token),
    async () =>
      await allowed(store, tenant, { id: "1", permission: "view", subject: "a", at: token }),
    async () => await follow(store, tenant, token),
    async () =>
      await store.data.change(tenant, {
        schemaVersion: undefined,
        preconditions: [{ kind: "unchanged", since: token }],
        tupleFilters: [],
        attributeFilters: [],
        tuples: [],
        attributes: [],
      }),
  ];
}

test("a token is refused until its transaction is committed, and is exact from then on", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("0")] });
  const token = await scene.app.begin(async (inside) => {
    await make(inside, tenant, "1");
    const own = await tokenOf(inside, tenant);
    // Others go on, so that the id lies in the past.
    await write(store, tenant, { tuples: [owner("2")] });
    for (let round = 0; round < 3; round++) {
      for (const read of reads(tenant, own)) {
        await fails(read(), "INVALID_SNAP_TOKEN", "not committed yet");
      }
    }
    return own;
  });
  await remove(store, tenant, { tuples: { ids: ["0"] } });
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(await stateAt(store, tenant, token), [owner("0"), owner("1")]);
    for (const [id, isAllowed] of [
      ["0", true],
      ["1", true],
      ["2", false],
    ] as const) {
      const asked = { id, permission: "view", subject: "a", at: token };
      assert.equal(await allowed(store, tenant, asked), isAllowed);
    }
  }
  const follower = await follow(store, tenant, token);
  assert.deepEqual(textOf(await follower.next()), [`+${owner("2")}`]);
  assert.deepEqual(textOf(await follower.next()), [`-${owner("0")}`]);
  await follower.leave();
});

test("a token that was taken before the last write of its transaction is refused for good", async () => {
  const tenant = await tenantWithSchema(store);
  const [first, last] = await scene.app.begin(async (inside) => {
    await make(inside, tenant, "1");
    const early = await tokenOf(inside, tenant);
    await make(inside, tenant, "2");
    return [early, await tokenOf(inside, tenant)];
  });
  for (let round = 0; round < 3; round++) {
    for (const read of reads(tenant, first)) {
      await fails(read(), "INVALID_SNAP_TOKEN", "before the last write of its transaction");
    }
    assert.deepEqual(await stateAt(store, tenant, last), [owner("1"), owner("2")]);
  }
});

test("a token of a savepoint that was undone is refused for good, also where later writes count as many", async () => {
  for (const later of [["0"], ["0", "3"], []]) {
    const tenant = await tenantWithSchema(store);
    await write(store, tenant, { tuples: [owner("0")] });
    // Another transaction, with a lower id, deletes what is written again after the token.
    const other = await scene.app.reserve();
    await other`begin`;
    await other`select pg_current_xact_id()`;
    const token = await scene.app.begin(async (inside) => {
      await make(inside, tenant, "1");
      await inside`savepoint part`;
      await make(inside, tenant, "2");
      const early = await tokenOf(inside, tenant);
      await inside`rollback to savepoint part`;
      await other`select pemba.delete_tuples(${tenant}, ${[owner("0")]}::text[])`;
      await other`commit`;
      for (const id of later) await make(inside, tenant, id);
      return early;
    });
    other.release();
    for (const read of reads(tenant, token)) {
      await fails(read(), "INVALID_SNAP_TOKEN", "in a part that was undone");
    }
  }
});

test("a token of a transaction of which all was undone before the commit is of the state of all others", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("0")] });
  const token = await scene.app.begin(async (inside) => {
    await inside`savepoint part`;
    await make(inside, tenant, "1");
    const early = await tokenOf(inside, tenant);
    await inside`rollback to savepoint part`;
    return early;
  });
  assert.deepEqual(await stateAt(store, tenant, token), [owner("0")]);
});

test("a token of a transaction that was undone is of the state of all others", async () => {
  const tenant = await tenantWithSchema(store);
  await write(store, tenant, { tuples: [owner("0")] });
  let token: SnapToken | undefined;
  await scene.app
    .begin(async (inside) => {
      await make(inside, tenant, "1");
      token = await tokenOf(inside, tenant);
      throw new Error("undone");
    })
    .catch(() => undefined);
  await write(store, tenant, { tuples: [owner("2")] });
  assert.deepEqual(await stateAt(store, tenant, token), [owner("0")]);
});

test("a transaction that has written nothing of the tenant has a token that is good at once", async () => {
  const [tenant, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
  await write(store, tenant, { tuples: [owner("0")] });
  await scene.app.begin(async (inside) => {
    assert.deepEqual(await stateAt(store, tenant, await tokenOf(inside, tenant)), [owner("0")]);
    await make(inside, other, "1");
    assert.deepEqual(await stateAt(store, tenant, await tokenOf(inside, tenant)), [owner("0")]);
  });
  await scene.app.begin("isolation level repeatable read", async (inside) => {
    await tokenOf(inside, tenant);
    await write(store, tenant, { tuples: [owner("3")] });
    assert.deepEqual(await stateAt(store, tenant, await tokenOf(inside, tenant)), [owner("0")]);
  });
  const before = await scene.app.begin(async (inside) => {
    await inside`select pg_current_xact_id()`;
    // A later id is over, so that the own one lies below the end of the snapshot.
    await write(store, other, { tuples: [owner("5")] });
    const early = await tokenOf(inside, tenant);
    const asked = { id: "6", permission: "view", subject: "a", at: early };
    assert.equal(await allowed(store, tenant, asked), false);
    await make(inside, tenant, "6");
    assert.deepEqual(await stateAt(store, tenant, early), [owner("0"), owner("3")]);
    return early;
  });
  assert.deepEqual(await stateAt(store, tenant, before), [owner("0"), owner("3")]);
  const follower = await follow(store, tenant, before);
  assert.deepEqual(textOf(await follower.next()), [`+${owner("6")}`]);
  await follower.leave();
  await make(scene.app, tenant, "4");
  const later = await tokenOf(scene.app, tenant);
  const all = [owner("0"), owner("3"), owner("4"), owner("6")];
  assert.deepEqual(await stateAt(store, tenant, later), all);
});

test("a token that was changed, or is of another database or server, is refused", async () => {
  const tenant = await tenantWithSchema(store);
  await make(scene.app, tenant, "1");
  const token = await tokenOf(scene.app, tenant);
  const bytes = Buffer.from(token, "base64url");
  for (let place = 0; place < bytes.length; place++) {
    const changed = Buffer.from(bytes);
    changed[place] = (changed[place] ?? 0) ^ 1;
    const text = changed.toString("base64url") as SnapToken;
    await fails(stateAt(store, tenant, text), "INVALID_SNAP_TOKEN", "malformed");
  }
  await fails(stateAt(store, tenant, `${token}A` as SnapToken), "INVALID_SNAP_TOKEN", "malformed");
  const without = await openStore(scene.url);
  await fails(stateAt(without, tenant, token), "INVALID_SNAP_TOKEN", "malformed");
  await without.close();
  // The key of the configuration is not known to the database.
  const otherKey = await openStore(scene.url, { sql: interfaceOptions, tokenKey: "x".repeat(40) });
  assert.deepEqual(await stateAt(otherKey, tenant, token), [owner("1")]);
  await otherKey.close();
  const elsewhere = await openInterface();
  await fails(stateAt(elsewhere.store, tenant, token), "INVALID_SNAP_TOKEN");
  await elsewhere.close();
});

test("the code of a token is that of the secret of the database, which may be short or long", async () => {
  for (const secret of [
    "short",
    "x".repeat(64),
    "x".repeat(65),
    "a secret of 72 characters".repeat(4),
  ]) {
    for (const body of ["", "4.body", "b".repeat(300)]) {
      const [row] = await scene.owner<{ code: Buffer }[]>`
        select pemba_plans.token_code(${secret}, ${Buffer.from(body)}) as code
      `;
      assert.deepEqual(row?.code, tokenMac(secret, "sql")(Buffer.from(body)));
    }
  }
});

test("a token that would name too many running transactions is refused, and not after the commit", async () => {
  const tenant = await tenantWithSchema(store);
  let attempt = 0;
  const id = await until(async () => {
    const own = String(attempt++);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const { promise: done, resolve: taken } = Promise.withResolvers<void>();
    // Each savepoint takes an id, and none of them is over before the transaction is.
    const holding = scene.owner.begin(async (inside) => {
      await inside.unsafe(`
        create temporary table passing (number integer) on commit drop;
        do $$ begin
          for number in 1 .. 6000 loop
            begin
              insert into passing values (number);
            exception when division_by_zero then null;
            end;
          end loop;
        end $$`);
      taken();
      await over;
    });
    await done;
    const refused = await scene.app
      .begin(async (inside) => {
        await make(inside, tenant, own);
        await tokenOf(inside, tenant);
      })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    end();
    await holding;
    // When another transaction of the server has ended meanwhile, the snapshot ends behind the savepoints.
    if (refused === undefined) return undefined;
    assert.ok(refused instanceof Error && "code" in refused && refused.code === "54000");
    assert.ok("hint" in refused && refused.hint === "ask for the token after the commit");
    return own;
  });
  await make(scene.app, tenant, id);
  const after = await stateAt(store, tenant, await tokenOf(scene.app, tenant));
  assert.ok(after.includes(owner(id)));
});

test("answers that are kept for a token are never those of another state", async () => {
  const tenant = await tenantWithSchema(store);
  const rounds = caseCount({ short: 40, long: 500 });
  const die = dice(1);
  for (let round = 0; round < rounds; round++) {
    const ids = ["1", "2", "3"];
    const expected = new Set<string>();
    const id = ids[die.upTo(3)] ?? "1";
    const asking: Promise<void>[] = [];
    let isCommitted = false;
    const ask = async (token: SnapToken, isKnown: () => boolean): Promise<void> => {
      const maySee = isKnown();
      for (const asked of ids) {
        const answer = await allowed(store, tenant, {
          id: asked,
          permission: "view",
          subject: "a",
          at: token,
        }).catch((error: unknown) => {
          assert.match(String(error), /INVALID_SNAP_TOKEN/);
          assert.equal(maySee, false);
        });
        if (answer !== undefined) assert.equal(answer, expected.has(asked), `${asked} in ${round}`);
      }
    };
    const token = await scene.app.begin(async (inside) => {
      await inside`select pemba.delete_entity(${tenant}, 'doc', ${id})`;
      await make(inside, tenant, ids[die.upTo(3)] ?? "1");
      const own = await tokenOf(inside, tenant);
      const rows = await inside<{ id: string }[]>`
        select v as id from pemba.visible(${tenant}, 'doc', 'view', 'user', 'a') as v
      `;
      for (const row of rows) expected.add(row.id);
      for (let count = 0; count < 6; count++) {
        const late = wait(die.upTo(6)).then(async () => await ask(own, () => isCommitted));
        asking.push(late);
      }
      await wait(die.upTo(6));
      return own;
    });
    isCommitted = true;
    await Promise.all(asking);
    await ask(token, () => true);
    await ask(token, () => true);
  }
});

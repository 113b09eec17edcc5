import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { Attribute, SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { apply, follow, stateAt, textOf } from "./change-streams.ts";
import {
  allowed,
  attribute,
  engines,
  fails,
  newTenant,
  type OpenStore,
  tenantId,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";
import { until } from "./open-write.ts";

const watch = { readAheadMax: 100 };

function limit(data: number): Attribute {
  return attribute("limit", { type: "integer", data });
}

async function deleteTuples(
  store: Store,
  tenant: TenantId,
  ids: readonly string[],
): Promise<SnapToken> {
  const entity = { type: "doc", ids };
  const subject = { type: "", ids: [], relation: "" };
  return await store.data.delete(tenant, {
    tuples: { entity, relation: "", subject },
    attributes: undefined,
  });
}

for (const engine of engines) {
  describe(`changes on ${engine.name}`, () => {
    let open: OpenStore;
    let store: Store;
    before(async () => {
      open = await engine.open({ watch });
      store = open.store;
    });
    after(async () => {
      await open.close();
    });

    test("each transaction is a message, whose token names the state after it", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { tuples: ["doc:0#owner@user:a"] });
      const follower = await follow(store, tenant);
      await write(store, tenant, {
        tuples: ["doc:1#owner@user:a", "doc:1#viewer@group:g#member"],
        attributes: [limit(1)],
      });
      await write(store, tenant, { attributes: [limit(2)] });
      await deleteTuples(store, tenant, ["1"]);
      const state = new Set(await stateAt(store, tenant, follower.start));
      assert.deepEqual([...state], ["doc:0#owner@user:a"]);
      const texts = [];
      for (let count = 0; count < 3; count++) {
        const message = await follower.next();
        texts.push(textOf(message).toSorted());
        for (const change of textOf(message)) apply(state, change);
        assert.deepEqual(state, await stateAt(store, tenant, message.snapToken));
      }
      assert.deepEqual(texts, [
        ["+doc:1#owner@user:a", "+doc:1#viewer@group:g#member", "+doc:1$limit=1"],
        ["+doc:1$limit=2", "-doc:1$limit=1"],
        ["-doc:1#owner@user:a", "-doc:1#viewer@group:g#member"],
      ]);
      await follower.leave();
    });

    test("an overwritten value goes before the new one comes", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, { attributes: [limit(1)] });
      const follower = await follow(store, tenant);
      await write(store, tenant, { attributes: [limit(2)] });
      assert.deepEqual(textOf(await follower.next()), ["-doc:1$limit=1", "+doc:1$limit=2"]);
      await follower.leave();
    });

    test("what changes nothing, and what happens elsewhere, is no message", async () => {
      const tenant = await tenantWithSchema(store);
      const other = await tenantWithSchema(store);
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"], attributes: [limit(1)] });
      const follower = await follow(store, tenant);
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"], attributes: [limit(1)] });
      await write(store, tenant, {});
      await deleteTuples(store, tenant, ["2"]);
      await write(store, other, { tuples: ["doc:1#owner@user:other"] });
      await write(store, tenant, { tuples: ["doc:2#owner@user:b"] });
      assert.deepEqual(textOf(await follower.next()), ["+doc:2#owner@user:b"]);
      await follower.leave();
    });

    test("any token resumes with what came after it", async () => {
      const tenant = await tenantWithSchema(store);
      const subjects = ["a", "b", "c", "d"];
      const tokens: SnapToken[] = [];
      for (const subject of subjects) {
        tokens.push(await write(store, tenant, { tuples: [`doc:1#owner@user:${subject}`] }));
      }
      for (const [index, token] of tokens.entries()) {
        let resumed = token;
        for (const subject of subjects.slice(index + 1)) {
          const follower = await follow(store, tenant, resumed);
          const message = await follower.next();
          assert.deepEqual(textOf(message), [`+doc:1#owner@user:${subject}`]);
          resumed = message.snapToken;
          await follower.leave();
        }
      }
    });

    test("a tenant that has never been written into is followed from its first write on", async () => {
      const tenant = await tenantWithSchema(store);
      const follower = await follow(store, tenant);
      const next = follower.next();
      await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      assert.deepEqual(textOf(await next), ["+doc:1#owner@user:a"]);
      await follower.leave();
    });

    test("operations of a bundle are one message, in their order", async () => {
      const tenant = await tenantWithSchema(store);
      const follower = await follow(store, tenant);
      await store.bundles.write(tenant, [{ name: "b", arguments: [], operations: [] }]);
      const operation = {
        tuples: [],
        attributes: [],
        deletedTuples: [],
        deletedAttributes: [],
      };
      await store.bundles.run(tenant, "b", () => [
        { ...operation, tuples: [tuple("doc:1#owner@user:a")], attributes: [limit(1)] },
        { ...operation, deletedTuples: [tuple("doc:1#owner@user:a")] },
        { ...operation, attributes: [limit(2)] },
      ]);
      const message = await follower.next();
      assert.deepEqual(textOf(message), [
        "+doc:1#owner@user:a",
        "+doc:1$limit=1",
        "-doc:1#owner@user:a",
        "-doc:1$limit=1",
        "+doc:1$limit=2",
      ]);
      await follower.leave();
    });

    test("a large transaction comes in parts, all but the last with the token before it", async () => {
      const tenant = await tenantWithSchema(store);
      const tuples = Array.from({ length: 2_500 }, (_, index) => `doc:${index}#owner@user:a`);
      const follower = await follow(store, tenant);
      const before = await write(store, tenant, { tuples: ["doc:x#owner@user:a"] });
      await write(store, tenant, { tuples });
      await write(store, tenant, { tuples: ["doc:y#owner@user:a"] });
      const first = await follower.next();
      const parts = [await follower.next(), await follower.next(), await follower.next()];
      const last = await follower.next();
      assert.deepEqual(
        parts.map(({ changes }) => changes.length),
        [1_000, 1_000, 500],
      );
      assert.deepEqual(parts.flatMap(textOf).toSorted(), tuples.map((it) => `+${it}`).toSorted());
      assert.deepEqual(textOf(last), ["+doc:y#owner@user:a"]);
      const beforeState = await stateAt(store, tenant, before);
      assert.deepEqual(await stateAt(store, tenant, first.snapToken), beforeState);
      for (const part of parts.slice(0, 2)) assert.equal(part.snapToken, first.snapToken);
      assert.equal((await stateAt(store, tenant, parts[2]?.snapToken)).size, 2_501);

      const resumed = await follow(store, tenant, parts[1]?.snapToken);
      const repeated = [await resumed.next(), await resumed.next(), await resumed.next()];
      assert.deepEqual(repeated.flatMap(textOf), parts.flatMap(textOf));
      assert.deepEqual(textOf(await resumed.next()), ["+doc:y#owner@user:a"]);
      await resumed.leave();
      await follower.leave();
    });

    test("a transaction of 1,000 changes is one message, and of large values each has its own", async () => {
      const tenant = await tenantWithSchema(store);
      const tuples = Array.from({ length: 1_000 }, (_, index) => `doc:${index}#owner@user:a`);
      const text = "x".repeat(700_000);
      const tags = ["1", "2", "3"].map((id) =>
        attribute("tags", { type: "string[]", data: [text] }, id),
      );
      const follower = await follow(store, tenant);
      await write(store, tenant, { tuples });
      await write(store, tenant, { attributes: tags });
      assert.equal((await follower.next()).changes.length, 1_000);
      const sizes = [];
      for (let count = 0; count < 3; count++) sizes.push((await follower.next()).changes.length);
      assert.deepEqual(sizes, [1, 1, 1]);
      await follower.leave();
    });

    test("many small transactions before a large one each have their message", async () => {
      const tenant = await tenantWithSchema(store);
      const tokens: SnapToken[] = [];
      const follower = await follow(store, tenant);
      for (let count = 0; count < 150; count++) {
        tokens.push(await write(store, tenant, { tuples: [`doc:1#owner@user:u${count}`] }));
      }
      const tuples = Array.from({ length: 950 }, (_, index) => `doc:${index}#viewer@user:a`);
      await write(store, tenant, { tuples });
      for (let count = 0; count < 150; count++) {
        assert.deepEqual(textOf(await follower.next()), [`+doc:1#owner@user:u${count}`]);
      }
      assert.equal((await follower.next()).changes.length, 950);
      await follower.leave();
    });

    test("all who follow a tenant get the same messages", async () => {
      const tenant = await tenantWithSchema(store);
      const token = await write(store, tenant, {});
      const followers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          follow(store, tenant, index % 2 === 0 ? token : undefined),
        ),
      );
      for (let count = 0; count < 5; count++) {
        await write(store, tenant, { tuples: [`doc:${count}#owner@user:a`] });
      }
      for (const follower of followers) {
        for (let count = 0; count < 5; count++) {
          assert.deepEqual(textOf(await follower.next()), [`+doc:${count}#owner@user:a`]);
        }
      }
      await Promise.all(followers.map((follower) => follower.leave()));
    });

    test("a stream of a tenant that is deleted ends with the error that there is none", async () => {
      const tenant = await tenantWithSchema(store);
      const [waiting, behind] = [await follow(store, tenant), await follow(store, tenant)];
      const next = fails(waiting.next(), "TENANT_NOT_FOUND", tenant);
      await store.tenants.delete(tenant);
      await next;
      await fails(behind.next(), "TENANT_NOT_FOUND", tenant);
    });

    test("a tenant made anew refuses the tokens of its predecessor, whose stream has ended", async () => {
      const tenant = await tenantWithSchema(store);
      const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const last = await write(store, tenant, { tuples: ["doc:2#owner@user:a"] });
      const old = await follow(store, tenant, token);
      const { text } = await store.schemas.read(tenant, undefined);
      await store.tenants.delete(tenant);
      await store.tenants.create({ id: tenant, name: "" });
      await store.schemas.write(tenant, { text });
      for (const former of [token, last]) {
        const refused = ["INVALID_SNAP_TOKEN", "before this tenant was created"] as const;
        await fails(follow(store, tenant, former), ...refused);
        await fails(stateAt(store, tenant, former), ...refused);
        await fails(
          allowed(store, tenant, { id: "1", permission: "view", subject: "a", at: former }),
          ...refused,
        );
      }
      const follower = await follow(store, tenant);
      const first = await write(store, tenant, { tuples: ["doc:3#owner@user:a"] });
      assert.deepEqual(textOf(await follower.next()), ["+doc:3#owner@user:a"]);
      assert.deepEqual([...(await stateAt(store, tenant, first))], ["doc:3#owner@user:a"]);
      assert.deepEqual([...(await stateAt(store, tenant, follower.start))], []);
      await follower.leave();
      await old.next().then(
        (message) => assert.deepEqual(textOf(message), ["+doc:2#owner@user:a"]),
        (error: unknown) => assert.match(String(error), /TENANT_NOT_FOUND/),
      );
      await old.leave();
    });

    test("an unknown tenant and a token that is none are refused before anything is delivered", async () => {
      await fails(follow(store, tenantId("missing")), "TENANT_NOT_FOUND");
      const tenant = await newTenant(store);
      await fails(follow(store, tenant, "x" as SnapToken), "INVALID_SNAP_TOKEN", "malformed");
      const other = await engine.open({ watch });
      const foreign = await write(other.store, await tenantWithSchema(other.store), {});
      await other.close();
      await (engine.name === "placed"
        ? fails(follow(store, tenant, foreign), "SNAP_TOKEN_EXPIRED", "another cluster")
        : fails(follow(store, tenant, foreign), "INVALID_SNAP_TOKEN", "another database"));
    });

    test("a token from before the history that is kept is refused, and a stream that falls behind it ends", async (t) => {
      const { store: forgetful, close } = await engine.open({
        watch,
        garbageCollection: { intervalMs: 10, windowMs: 1, timeoutMs: 60_000 },
        onCollected: () => {},
      });
      t.after(close);
      const tenant = await tenantWithSchema(forgetful);
      const token = await write(forgetful, tenant, { tuples: ["doc:1#owner@user:a"] });
      const behind = await follow(forgetful, tenant);
      let written = 0;
      await until(async () => {
        // Time goes by for a database only when there are transactions.
        await write(forgetful, tenant, { tuples: [`doc:${written++}#owner@user:b`] });
        const following = follow(forgetful, tenant, behind.start);
        return await following.then(
          async (follower) => {
            await follower.leave();
            return undefined;
          },
          () => true,
        );
      });
      await fails(follow(forgetful, tenant, token), "SNAP_TOKEN_EXPIRED", "older than the history");
      await fails(behind.next(), "SNAP_TOKEN_EXPIRED");
    });

    test("a stream without anything to tell gives a token of a present state now and then", async (t) => {
      const { store: keeping, close } = await engine.open({
        watch,
        garbageCollection: { intervalMs: 3_600_000, windowMs: 1_000, timeoutMs: 60_000 },
        onCollected: () => {},
      });
      t.after(close);
      const [tenant, other] = [await tenantWithSchema(keeping), await tenantWithSchema(keeping)];
      const follower = await follow(keeping, tenant);
      await write(keeping, other, { tuples: ["doc:1#owner@user:a"] });
      const message = await follower.next();
      assert.deepEqual(message.changes, []);
      assert.notEqual(message.snapToken, follower.start);
      await write(keeping, tenant, { tuples: ["doc:1#owner@user:a"] });
      assert.deepEqual(textOf(await follower.next()), ["+doc:1#owner@user:a"]);
      await follower.leave();
      const resumed = await follow(keeping, tenant, message.snapToken);
      assert.deepEqual(textOf(await resumed.next()), ["+doc:1#owner@user:a"]);
      await resumed.leave();
    });

    test("a stream that is quiet comes to later states, but not within a transaction", async () => {
      const [tenant, other] = [await tenantWithSchema(store), await tenantWithSchema(store)];
      const follower = await follow(store, tenant);
      const next = follower.next();
      const tuples = Array.from({ length: 1_001 }, (_, index) => `doc:${index}#owner@user:a`);
      await write(store, other, { tuples: ["doc:1#owner@user:a"] });
      await write(store, tenant, { tuples: ["doc:x#owner@user:a"] });
      const { snapToken } = await next;
      assert.equal(follower.delivered(), snapToken);
      const part = follower.next();
      await write(store, other, { tuples: ["doc:2#owner@user:a"] });
      await write(store, tenant, { tuples: ["doc:y#owner@user:a"] });
      await part;
      const parts = follower.next();
      await write(store, other, { tuples: ["doc:3#owner@user:a"] });
      await until(async () => (follower.delivered() === (await part).snapToken ? undefined : true));
      await write(store, tenant, { tuples });
      assert.equal((await parts).snapToken, (await part).snapToken);
      assert.equal(follower.delivered(), (await part).snapToken);
      const whole = await follower.next();
      assert.equal(whole.changes.length, 1);
      assert.equal(follower.delivered(), whole.snapToken);
      await follower.leave();
    });

    test("the stream of one who leaves while it waits has ended", async () => {
      const tenant = await tenantWithSchema(store);
      const leaving = new AbortController();
      const { messages } = await store.changes.follow(tenant, {
        after: undefined,
        signal: leaving.signal,
      });
      const next = messages[Symbol.asyncIterator]().next();
      leaving.abort();
      assert.equal((await next).done, true);
    });
  });
}

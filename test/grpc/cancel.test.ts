import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { status } from "@grpc/grpc-js";
import postgres from "postgres";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Permission as Explained } from "../../src/gen/pemba/v1/permission_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { type CallLimits, failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

/*
 * A lock on the tuples holds every check up, for as long as a test needs; the server's own list of
 * what runs tells whether a statement is still there.
 */

describe("a call whose client has left", () => {
  let database: TestDatabase;
  let store: Store;
  let grpc: GrpcApp;
  let sql: postgres.Sql;
  before(async () => {
    database = await createMigratedDatabase();
    store = await createPostgresStore({
      url: database.url,
      pool: { maxConnections: 2, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 0 },
      autoMigrate: true,
      maxRetries: 10,
      maxSchemaCacheBytes: 1024 * 1024,
      warn: () => {},
    });
    const health = createHealth(store);
    grpc = await serveGrpc({ store, health, maxDataPerWrite: 1_000, bulkLimit: 100 });
    sql = postgres(database.url, { onnotice: () => {} });
    const schema = "entity user {} entity doc { relation viewer @user }";
    await grpc.client.call(Schema.method.write, { tenantId: "t1", schema });
    // The statement is known to the server, so that only its run is held up.
    await grpc.client.call(Permission.method.check, question);
  });
  after(async () => {
    await sql.end();
    await grpc.close();
    await store.close();
    await database.drop();
  });

  const question = {
    tenantId: "t1",
    metadata: {},
    entity: { type: "doc", id: "1" },
    permission: "viewer",
    subject: { type: "user", id: "ada" },
  };

  /** How many statements of the app wait for the lock. */
  async function waiting(): Promise<number> {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and application_name = 'pemba'
        and state = 'active' and wait_event_type = 'Lock'
    `;
    return row?.count ?? 0;
  }

  async function until(count: number): Promise<void> {
    while ((await waiting()) !== count) await wait(10);
  }

  /** Asks until a deadline passes while the statement waits for the lock. A busy server may be late with it. */
  async function passDeadline(ask: (limits: CallLimits) => Promise<unknown>): Promise<void> {
    for (let isSeen = false, limitMs = 250; !isSeen; limitMs *= 2) {
      let isOver = false;
      const call = failure(ask({ deadline: Date.now() + limitMs })).finally(() => {
        isOver = true;
      });
      while (!isOver && !isSeen) isSeen = (await waiting()) === 1;
      assert.equal((await call).code, status.DEADLINE_EXCEEDED);
      await until(0);
    }
  }

  /** Runs the work while no question can come to its end. */
  async function lockedOut(work: () => Promise<void>): Promise<void> {
    await sql.begin(async (lock) => {
      await lock`lock table relationships, attributes in access exclusive mode`;
      await work();
    });
  }

  test("its statement is gone from the server once its deadline has passed", async () => {
    await lockedOut(async () => {
      await passDeadline(
        async (limits) => await grpc.client.call(Permission.method.check, question, limits),
      );
    });
  });

  test("its statement is gone from the server once it is cancelled", async () => {
    await lockedOut(async () => {
      const leaving = new AbortController();
      const call = failure(
        grpc.client.call(Permission.method.check, question, { signal: leaving.signal }),
      );
      await until(1);
      leaving.abort();
      assert.equal((await call).code, status.CANCELLED);
      await until(0);
    });
  });

  test("the statement of an explanation is gone, by a deadline or by leaving", async () => {
    const explain = async (limits: CallLimits): Promise<unknown> =>
      await grpc.client.call(Explained.method.explain, question, limits);
    // Its statement is known to the server, too.
    await explain({});
    await lockedOut(async () => {
      await passDeadline(explain);
      const leaving = new AbortController();
      const left = failure(explain({ signal: leaving.signal }));
      await until(1);
      leaving.abort();
      assert.equal((await left).code, status.CANCELLED);
      await until(0);
    });
  });

  test("the statement of a lookup is gone, whether it was for a page or for a stream", async () => {
    const lookup = {
      tenantId: "t1",
      metadata: {},
      entityType: "doc",
      permission: "viewer",
      subject: { type: "user", id: "ada" },
    };
    // Its statement is known to the server, too.
    await grpc.client.call(Permission.method.lookupEntity, lookup);
    await lockedOut(async () => {
      for (const ask of [
        async (signal: AbortSignal) =>
          await grpc.client.call(Permission.method.lookupEntity, lookup, { signal }),
        async (signal: AbortSignal) =>
          await grpc.client.stream(Permission.method.lookupEntityStream, lookup, { signal }).next(),
      ]) {
        const leaving = new AbortController();
        const call = failure(ask(leaving.signal));
        await until(1);
        leaving.abort();
        assert.equal((await call).code, status.CANCELLED);
        await until(0);
      }
    });
  });

  test("the statement of a read of data is gone, by a deadline or by leaving", async () => {
    const page = { tenantId: "t1", metadata: {}, filter: { entity: { type: "doc", ids: ["1"] } } };
    const { readRelationships, readAttributes } = Data.method;
    for (const read of [
      async (limits: CallLimits) => await grpc.client.call(readRelationships, page, limits),
      async (limits: CallLimits) => await grpc.client.call(readAttributes, page, limits),
    ]) {
      // Its statement is known to the server, too.
      await read({});
      await lockedOut(async () => {
        await passDeadline(read);
        const leaving = new AbortController();
        const left = failure(read({ signal: leaving.signal }));
        await until(1);
        leaving.abort();
        assert.equal((await left).code, status.CANCELLED);
        await until(0);
      });
    }
  });

  test("the calls of others are answered all the same", async () => {
    const others = Array.from({ length: 8 }, () => new AbortController());
    let calls: Promise<unknown>[] = [];
    await lockedOut(async () => {
      calls = others.map(async ({ signal }, index) => {
        const call = grpc.client.call(Permission.method.check, question, { signal });
        return index % 2 === 0 ? (await failure(call)).code : (await call).can;
      });
      while ((await waiting()) === 0) await wait(10);
      for (const [index, other] of others.entries()) if (index % 2 === 0) other.abort();
    });
    const outcomes = await Promise.all(calls);
    assert.deepEqual(outcomes, [1, 2, 1, 2, 1, 2, 1, 2]);
    const written = await grpc.client.call(Data.method.write, { tenantId: "t1", metadata: {} });
    assert.notEqual(written.snapToken, "");
  });
});

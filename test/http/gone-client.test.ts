/**
 * A client that breaks its connection off while its question runs: a lock holds every question up, and
 * the server's own list of what runs tells whether the statement is still there.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { pino } from "pino";
import type postgres from "postgres";

import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Store } from "../../src/store/store.ts";
import { openPostgres, type OpenStore } from "../store/engines.ts";
import { connect, until } from "../store/open-write.ts";
import { admitAll } from "../support/admit-all.ts";

const asked = {
  metadata: {},
  entity: { type: "doc", id: "1" },
  permission: "viewer",
  subject: { type: "user", id: "ada" },
};
const { entity, permission, subject } = asked;
const filter = { entity: { type: "doc", ids: ["1"] } };

const questions: Readonly<Record<string, object>> = {
  "permissions/check": asked,
  "permissions/bulk-check": { metadata: {}, items: [{ entity, permission, subject }] },
  "permissions/expand": asked,
  "permissions/explain": asked,
  "permissions/subject-permission": asked,
  "permissions/lookup-entity": { ...asked, entity_type: "doc" },
  "permissions/lookup-entity-stream": { ...asked, entity_type: "doc" },
  "permissions/lookup-subject": { ...asked, subject_reference: { type: "user" } },
  "data/relationships/read": { metadata: {}, filter },
  "data/attributes/read": { metadata: {}, filter },
};

describe("a client that is gone", () => {
  let open: OpenStore;
  let store: Store;
  let sql: postgres.Sql;
  let app: HttpApp;
  let address: string;
  before(async () => {
    const opened = await openPostgres();
    open = opened;
    store = opened.store;
    sql = connect(opened.url);
    const health = createHealth(store);
    const service = { store, health, maxDataPerWrite: 1_000, bulkLimit: 100 };
    app = buildHttpServer({ service, admission: admitAll, logger: pino({ level: "silent" }) });
    address = await app.listen({ host: "127.0.0.1", port: 0 });
    const schema = "entity user {} entity doc { relation viewer @user }";
    assert.equal((await ask("schemas/write", { schema })).status, 200);
  });
  after(async () => {
    await app.close();
    await sql.end();
    await open.close();
  });

  async function ask(path: string, body: object, signal?: AbortSignal): Promise<Response> {
    return await fetch(`${address}/v1/tenants/t1/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  async function untilWaiting(count: number): Promise<void> {
    await until(async () => {
      const waiting = await sql`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'pemba'
          and state = 'active' and wait_event_type = 'Lock'
      `;
      return waiting.length === count ? true : undefined;
    });
  }

  for (const [path, body] of Object.entries(questions)) {
    test(`leaves no statement of ${path} behind`, async () => {
      // The statement is known to the server, so that only its run is held up.
      assert.equal((await ask(path, body)).status, 200);
      const leaving = new AbortController();
      await sql.begin(async (lock) => {
        await lock`lock table relationships, attributes in access exclusive mode`;
        const answer = assert.rejects(ask(path, body, leaving.signal), { name: "AbortError" });
        await untilWaiting(1);
        leaving.abort();
        await answer;
        await untilWaiting(0);
      });
    });
  }
});

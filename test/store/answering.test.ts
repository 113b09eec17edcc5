import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";

const tenant = "t1" as TenantId;
const schema = `entity user {}
entity doc {
  relation parent @doc
  relation peer @doc
  relation owner @user
  permission view = owner or parent.view
  permission both = owner or (parent.both and peer.both)
  attribute level integer
  permission ruled = owner or wanted(level)
}
rule wanted(level integer) { level > context.data.wanted }`;

let database: TestDatabase;
let store: Store;
const counts = { pushed_down: 0, gathered: 0, looked_into: 0 };

before(async () => {
  database = await createMigratedDatabase();
  store = await createPostgresStore({
    url: database.url,
    pool: { maxConnections: 1, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 },
    autoMigrate: true,
    maxRetries: 3,
    maxSchemaCacheBytes: 1024 * 1024,
    warn: () => {},
    onAnswered: (how, answers) => {
      counts[how] += answers;
    },
  });
  await store.schemas.write(tenant, { text: schema });
});
after(async () => {
  await store.close();
  await database.drop();
});

const ask = (permissions: readonly string[], data: Readonly<Record<string, number>>) =>
  store.permissions.check(tenant, {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: { tuples: [], attributes: [], data },
    items: permissions.map((permission) => ({
      entity: { type: "doc", id: "1" },
      permission,
      subject: { type: "user", id: "ann", relation: "" },
      arguments: [],
    })),
    path: (_item, field) => field,
  });

test("answers are counted by how they were found", async () => {
  await ask(["view", "both", "view", "ruled"], { wanted: 1 });
  assert.deepEqual(counts, { pushed_down: 3, gathered: 1, looked_into: 0 });
});

test("an answer that a rule leaves open is looked into, and counted as that", async () => {
  counts.looked_into = 0;
  await assert.rejects(ask(["ruled"], {}), /RULE_EVALUATION/);
  assert.equal(counts.looked_into, 1);
});

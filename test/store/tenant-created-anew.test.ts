import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { SchemaVersion, TenantId } from "../../src/base/tuple.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { fails } from "./engines.ts";

const tenant = "anew" as TenantId;
const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const viewer = {
  entity: { type: "doc", id: "1" },
  relation: "viewer",
  subject: { type: "user", id: "ann", relation: "" },
};

let database: TestDatabase;
let one: Store;
let other: Store;

const open = (): Promise<Store> =>
  createPostgresStore({
    url: database.url,
    pool: {
      maxConnections: 2,
      idleTimeoutMs: 0,
      maxLifetimeMs: 0,
      connectTimeoutMs: 10_000,
    },
    autoMigrate: true,
    maxRetries: 3,
    maxSchemaCacheBytes: 1024 * 1024,
    warn: () => {},
  });

const check = (
  store: Store,
  schemaVersion?: SchemaVersion,
): ReturnType<Store["permissions"]["check"]> =>
  store.permissions.check(tenant, {
    schemaVersion,
    snapToken: undefined,
    depth: 100,
    context: { tuples: [], attributes: [], data: {} },
    items: [{ entity: viewer.entity, permission: "view", subject: viewer.subject, arguments: [] }],
    path: (_item, field) => field,
  });

before(async () => {
  database = await createMigratedDatabase();
  one = await open();
  other = await open();
});
after(async () => {
  await one.close();
  await other.close();
  await database.drop();
});

for (const isUsed of [false, true]) {
  test(`a tenant created anew through another instance answers here, ${isUsed ? "where it was asked before" : "where its schema was only written"}`, async () => {
    await one.tenants.create({ id: tenant, name: "" });
    await other.schemas.write(tenant, { text: schema });
    if (isUsed) await check(other);
    await one.tenants.delete(tenant);
    await one.tenants.create({ id: tenant, name: "" });
    await one.schemas.write(tenant, { text: schema });
    const write = { schemaVersion: undefined, tuples: [viewer], attributes: [] };
    await one.data.write(tenant, write);

    const answers = await check(other);
    assert.deepEqual(
      answers.map(({ allowed }) => allowed),
      [true],
    );
    await other.data.write(tenant, write);
    await one.tenants.delete(tenant);
  });
}

test("a version of the former tenant is not one of the tenant created anew", async () => {
  await one.tenants.create({ id: tenant, name: "" });
  const version = await other.schemas.write(tenant, { text: schema });
  await check(other, version);
  await one.tenants.delete(tenant);
  await one.tenants.create({ id: tenant, name: "" });
  await one.schemas.write(tenant, { text: schema });
  await fails(check(other, version), "SCHEMA_NOT_FOUND");
  await one.tenants.delete(tenant);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import type { SchemaVersion } from "../../src/base/tuple.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { tenantId } from "./engines.ts";

test("to forget a tenant does not go through the versions of all others", async () => {
  const version = "1" as SchemaVersion;
  const text = "entity user {}";
  const load = async () => ({ version, text, createdAt: new Date() });
  const schemas = new CompiledSchemas(load, { maxBytes: 1_000_000 });
  for (let nth = 0; nth < 50_000; nth++) await schemas.reload(tenantId(`t${nth}`), undefined);
  const start = process.cpuUsage();
  for (let nth = 0; nth < 1_000; nth++) schemas.forget(tenantId(`unknown${nth}`));
  const { user } = process.cpuUsage(start);
  assert.ok(user < 500_000, `${user} microseconds`);
  schemas.forget(tenantId("t1"));
  assert.equal(schemas.known(tenantId("t1"), version), undefined);
  assert.equal(schemas.known(tenantId("t2"), version)?.version, version);
});

/** The age of the oldest open transaction that has written. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { OpenWrites } from "../../src/store/postgres/sql-interface/open-writes.ts";
import { pool, tenantWithSchema } from "../store/engines.ts";
import { openInterface } from "./interface-scene.ts";

test("the oldest open transaction that has written counts from when it was first seen", async (t) => {
  const scene = await openInterface();
  t.after(scene.close);
  const database = await Database.connect({ url: scene.url, pool, warn: assert.fail });
  t.after(async () => await database.close());
  let read: (() => readonly { readonly value: number }[]) | undefined;
  const telemetry: Telemetry = {
    ...noTelemetry,
    observe: (name, readings) => {
      assert.equal(name, "pemba.sql.open.write.age");
      read = readings;
    },
  };
  const names = { entry: "pemba", plans: "pemba_plans", tables: "public" };
  const writes = new OpenWrites(database, names, telemetry);
  t.after(async () => await writes.close());
  const age = (): number => read?.()[0]?.value ?? assert.fail("nothing is observed");
  const tenant = await tenantWithSchema(scene.store);
  await writes.look();
  assert.equal(age(), 0);
  await scene.app.begin(async (inside) => {
    await inside`select pg_current_xact_id()`;
    await inside`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'a')`;
    await writes.look();
    // It has an id, and has written nothing.
    assert.equal(age(), 0);
    await inside`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'a')`;
    await writes.look();
    const first = age();
    await scene.app.begin(async (other) => {
      await other`select pemba.write_tuple(${tenant}, 'doc', '2', 'owner', 'user', 'a')`;
      await writes.look();
    });
    assert.ok(age() > first);
    await writes.look();
    assert.ok(age() > first);
  });
  await writes.look();
  assert.equal(age(), 0);
});

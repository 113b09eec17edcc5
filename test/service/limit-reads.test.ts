import assert from "node:assert/strict";
import { test } from "node:test";

import { forCaller } from "../../src/base/caller.ts";
import { limitReads } from "../../src/service/limit-reads.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { fails, tenantWithSchema, write } from "../store/engines.ts";

const connections = 2;
const waiting = 20;
const refusal =
  "2 reads are being worked on (`database.max_connections`) and 20 wait, retry in a second";

test("so many reads wait for those that are worked on: what is more is refused, and changes are not", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const tenant = await tenantWithSchema(store);
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const limited = limitReads(
    {
      ...store,
      schemas: {
        ...store.schemas,
        read: async (...given) => {
          begun++;
          await gate.promise;
          return await store.schemas.read(...given);
        },
      },
    },
    connections,
  );
  const read = async (): Promise<unknown> => await limited.schemas.read(tenant, undefined);
  const leaving = new AbortController();
  const reads = Array.from({ length: connections + waiting - 1 }, read);
  const leaver = forCaller(leaving.signal, read);
  const page = { snapToken: undefined, after: undefined, limit: 10 };
  const entity = { type: "doc", ids: [] };
  const subject = { type: "", ids: [], relation: "" };
  for (const refused of [
    read(),
    limited.schemas.list(tenant, { before: undefined, limit: 10 }),
    limited.tenants.list({ after: undefined, limit: 10 }),
    limited.bundles.read(tenant, "b"),
    limited.data.readTuples(tenant, { ...page, filter: { entity, relation: "", subject } }),
    limited.data.readAttributes(tenant, { ...page, filter: { entity, attributes: [] } }),
    limited.changes.follow(tenant, { after: undefined, signal: leaving.signal }),
  ]) {
    await fails(refused, "CONCURRENCY_LIMIT_EXCEEDED", refusal);
  }
  assert.equal(begun, connections);
  await write(limited, tenant, { tuples: ["doc:1#owner@user:a"] });

  leaving.abort();
  await fails(leaver, "CANCELLED");
  reads.push(read());
  gate.resolve();
  await Promise.all(reads);
  assert.equal(begun, connections + waiting);
  await store.close();
});

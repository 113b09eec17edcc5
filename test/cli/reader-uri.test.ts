import assert from "node:assert/strict";
import { test } from "node:test";

import { newTenant } from "../store/engines.ts";
import { openConfigured, readAll } from "./configured-store.ts";

/*
 * What replicas do is held against the options that the configuration is made into, in
 * test/store/replicas.long.test.ts.
 */

test("the servers of `database.reader.uri` are asked, and are not needed", async (t) => {
  const { store, log } = await openConfigured(
    t,
    "--database-reader-uri=postgres://somebody:secret@127.0.0.1:1,127.0.0.1:2/nowhere",
  );
  for (const host of ["127.0.0.1:1", "127.0.0.1:2"]) {
    const lines = log.filter((line) => line.includes(`the standby \`${host}\` is not asked`));
    assert.equal(lines.length, 1, log.join(""));
  }
  assert.ok(!log.some((line) => line.includes("secret")));
  await readAll(store, await newTenant(store));
});

test("the readers are those of `database.uri` when only the writer has a URI of its own", async (t) => {
  const { log } = await openConfigured(
    t,
    "--database-writer-uri={url}",
    "--database-uri=postgres://somebody@127.0.0.1:3/nowhere",
  );
  assert.ok(log.some((line) => line.includes("the standby `127.0.0.1:3` is not asked")));
});

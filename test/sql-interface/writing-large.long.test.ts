/** A transaction of an application has no limit of its size: streams tell it in parts of a limited size. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { messageChangesMax } from "../../src/store/change.ts";
import { follow, textOf } from "../store/change-streams.ts";
import { tenantWithSchema } from "../store/engines.ts";
import { openInterface } from "./interface-scene.ts";

const tuples = 100_000;
const perCall = 10_000;

test("a transaction of 100,000 tuples is told whole, in parts, with one token at its end", async (t) => {
  const scene = await openInterface({}, { watch: { readAheadMax: 100 } });
  t.after(scene.close);
  const tenant = await tenantWithSchema(scene.store);
  const follower = await follow(scene.store, tenant);
  await scene.app.begin(async (inside) => {
    for (let from = 0; from < tuples; from += perCall) {
      await inside`
        select pemba.write_tuples(${tenant}, array_agg(format('doc:%s#owner@user:a', number)))
        from generate_series(${from}::integer, ${from + perCall - 1}::integer) as number
      `;
    }
  });
  await scene.app`select pemba.write_tuple(${tenant}, 'doc', 'last', 'owner', 'user', 'a')`;
  const told = new Set<string>();
  const tokens = new Set<string>();
  while (told.size < tuples) {
    const message = await follower.next();
    assert.ok(message.changes.length <= messageChangesMax);
    for (const text of textOf(message)) told.add(text);
    // What comes before the end of the transaction leads back to its begin.
    tokens.add(message.snapToken);
    if (told.size < tuples) assert.equal(message.snapToken, follower.start);
  }
  assert.equal(told.size, tuples);
  assert.equal(tokens.size, 2);
  assert.deepEqual(textOf(await follower.next()), ["+doc:last#owner@user:a"]);
  await follower.leave();
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { tell } from "../differential/story.ts";
import { plainFrame } from "./scene.ts";

/** The negation leads back to `view`, so that its lookups gather what they judge. */
const schema = `entity user {}
entity node {
  relation next @node
  relation odd @node
  relation owner @user
  permission view = owner or next.view or (owner not odd.view)
}`;

const facts = factsOf([
  "node:a#next@node:x",
  "node:x#owner@user:ann",
  "node:b#next@node:c",
  "node:c#owner@user:ann",
  "node:d#owner@user:ann",
]);

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

for (const engine of ["memory", "postgres"] as const) {
  const found = async (scope: readonly string[]): Promise<readonly string[]> => {
    const writes = [{ schema: 0, ...facts }];
    const { store, tenant } = await tell(engines[engine], { schemas: [schema], writes });
    const { items } = await store.lookups.entities(tenant, {
      ...plainFrame,
      after: undefined,
      limit: 100,
      entityType: "node",
      permission: "view",
      subject: { type: "user", id: "ann", relation: "" },
      scope: new Map(scope.length === 0 ? [] : [["node", scope]]),
    });
    return items;
  };

  test(`a scope leaves out what is found through entities outside of it (${engine})`, async () => {
    assert.deepEqual(await found([]), ["a", "b", "c", "d", "x"]);
    assert.deepEqual(await found(["a", "b", "c"]), ["b", "c"]);
    assert.deepEqual(await found(["a"]), []);
    assert.deepEqual(await found(["d"]), ["d"]);
  });
}

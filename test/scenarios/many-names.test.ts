import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { tell } from "../differential/story.ts";
import { nameOf } from "../language/numbered-name.ts";
import { plainFrame } from "./scene.ts";

const length = 600;

/** Each permission leads to the one before, here and at the parent: more names than a plan has. */
const schema = `entity user {}
entity doc {
  relation parent @doc
  relation viewer @user
  permission ${nameOf(0)} = viewer
  ${Array.from(
    { length },
    (_, place) => `permission ${nameOf(place + 1)} = ${nameOf(place)} or parent.${nameOf(place)}`,
  ).join("\n  ")}
}`;

const facts = factsOf([
  "doc:a#parent@doc:b",
  "doc:b#parent@doc:c",
  "doc:c#viewer@user:ann",
  "doc:d#viewer@user:bob",
]);

const frame = { ...plainFrame, after: undefined, limit: 100 };
const permission = nameOf(length);

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

for (const engine of ["memory", "postgres"] as const) {
  test(`lookups through more names than a plan has find all, the asked userset too (${engine})`, async () => {
    const writes = [{ schema: 0, ...facts }];
    const { store, tenant } = await tell(engines[engine], { schemas: [schema], writes });
    const entitiesOf = async (type: string, id: string, relation: string): Promise<unknown> => {
      const asked = { ...frame, entityType: "doc", permission, scope: new Map() };
      const subject = { type, id, relation };
      return (await store.lookups.entities(tenant, { ...asked, subject })).items;
    };
    assert.deepEqual(await entitiesOf("user", "ann", ""), ["a", "b", "c"]);
    assert.deepEqual(await entitiesOf("user", "bob", ""), ["d"]);
    assert.deepEqual(await entitiesOf("doc", "b", permission), ["b"]);
    assert.deepEqual(await entitiesOf("doc", "c", nameOf(0)), ["a", "b", "c"]);
    const { items } = await store.lookups.subjects(tenant, {
      ...frame,
      entity: { type: "doc", id: "a" },
      permission,
      arguments: [],
      subjectType: "user",
      subjectRelation: "",
    });
    assert.deepEqual(items, ["ann"]);
  });
}

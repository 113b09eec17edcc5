import assert from "node:assert/strict";
import { test } from "node:test";

import type { ExpandTree } from "../../src/store/expand-tree.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { CheckAnswer, Store } from "../../src/store/store.ts";
import { casesOfSeed } from "./fixed-cases.ts";
import { formFaults } from "./form-answers.ts";

test("the same seed makes the same cases, however many come after them", () => {
  const few = [...casesOfSeed(7, 3)];
  const more = [...casesOfSeed(7, 5)];
  assert.deepEqual(more.slice(0, 3), few);
  assert.notDeepEqual([...casesOfSeed(8, 3)], few);
});

test("cases survive being kept as JSON, and ask in every form", () => {
  const cases = [...casesOfSeed(7, 5)];
  assert.deepEqual(JSON.parse(JSON.stringify(cases)), cases);
  const forms = cases.flatMap(({ steps }) =>
    steps.flatMap((step) => (step.kind === "ask" ? [step.question.form] : [])),
  );
  assert.equal(new Set(forms).size, 13);
});

test("an engine that answers right has no faults, and one that answers wrongly has some in every form", async () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 64 * 1024 * 1024 });
  const wrongForms = new Set<string>();
  for (const { schema, steps } of casesOfSeed(7, 5)) {
    assert.deepEqual(await formFaults(store, schema, steps), []);
    const found = await formFaults(wrong(store), schema, steps);
    for (const { question } of found) wrongForms.add(question.form);
  }
  assert.equal(wrongForms.size, 13, [...wrongForms].join(", "));
  await store.close();
});

/** An engine that answers checks the other way round, finds nothing and expands the complement. */
function wrong(store: Store): Store {
  const other = ({ allowed, nodes }: CheckAnswer): CheckAnswer => ({ allowed: !allowed, nodes });
  return {
    ...store,
    permissions: {
      check: async (tenant, question) =>
        (await store.permissions.check(tenant, question)).map(other),
      subjectPermissions: async (tenant, question) => {
        const answers = await store.permissions.subjectPermissions(tenant, question);
        return new Map([...answers].map(([name, answer]) => [name, other(answer)]));
      },
      expand: async (tenant, question) => {
        const tree = await store.permissions.expand(tenant, question);
        return { ...tree, node: { kind: "exclusion", children: [everyone(tree), tree] } };
      },
      explain: async (tenant, question) => await store.permissions.explain(tenant, question),
    },
    lookups: {
      entities: async (tenant, question) => ({
        ...(await store.lookups.entities(tenant, question)),
        items: [],
      }),
      subjects: async (tenant, question) => ({
        ...(await store.lookups.subjects(tenant, question)),
        items: [],
      }),
    },
  };
}

function everyone({ entity }: ExpandTree): ExpandTree {
  const value = { type: "boolean", data: true } as const;
  return { entity, name: "everyone", arguments: [], node: { kind: "value", value } };
}

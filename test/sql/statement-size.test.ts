import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { ask, tell } from "../differential/story.ts";
import { roundOf } from "../scenarios/scene.ts";
import { plansOver } from "../support/plans.ts";

/** Names are letters alone, so numbers are spelled with them. */
const numberName = (number: number): string =>
  `x${String(number).replaceAll(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "")}`;

const operators = ["and", "or", "not"];

/** Each permission asks the one before twice: written out, the statement doubles with each. */
const doubling = (count: number): string => {
  const permissions = Array.from({ length: count }, (_, index) => {
    const before = index === 0 ? "a" : numberName(index - 1);
    const operator = index % 2 === 0 ? "and" : "or";
    return `permission ${numberName(index)} = ${before} ${operator} parent.${before}`;
  });
  return `entity user {}
    entity doc { relation parent @doc relation a @user ${permissions.join(" ")}
      permission asked = ${numberName(count - 1)} }`;
};

const nested = (count: number): string => {
  let expression = "a";
  for (let index = 0; index < count; index += 1) {
    expression = `(${expression}) ${operators[index % 3] ?? ""} ${"bca"[index % 3] ?? ""}`;
  }
  return `entity user {}
    entity doc { relation a @user relation b @user relation c @user
      permission asked = ${expression} }`;
};

const conjunction = (count: number): string => `entity user {}
  entity doc { relation a @user
    permission asked = ${Array.from({ length: count }, () => "a").join(" and ")} }`;

const schemas = {
  "permissions that ask each other twice": doubling(14),
};

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

for (const [name, text] of Object.entries(schemas)) {
  test(`${name}: gathered with a small statement, and answered alike`, async () => {
    const question = { ask: "doc:a asked user:u", answer: "allowed" } as const;
    const items = roundOf(question).items;
    const { compiled, checks } = await plansOver(text);
    const groups = await checks.groupsOf({ compiled, items, path: (_item, field) => field });
    assert.deepEqual(
      groups.map((group) => group.body.kind),
      ["gather"],
    );
    const shape = {
      bulk: false,
      pinned: false,
      pinnedVersion: false,
      contextTuples: false,
      contextAttributes: false,
    };
    assert.ok(checks.statementOf(compiled.compiled, groups, shape).text.length < 5000);

    const facts = ["doc:a#a@user:u", ...(text.includes("parent") ? ["doc:a#parent@doc:b"] : [])];
    const write = { schema: 0, ...factsOf(facts) };
    const outcomes = await Promise.all(
      [engines.memory, engines.postgres].map(async (store) =>
        ask(await tell(store, { schemas: [text], writes: [write] }), roundOf(question)),
      ),
    );
    assert.deepEqual(outcomes[0], outcomes[1]);
    assert.match(String(outcomes[0]?.[0]), /^(allowed|denied)$/);
  });
}

for (const [name, text] of Object.entries({
  "a permission with a few guards": nested(6),
  "one name two thousand times": conjunction(2000),
  "three names under operators four hundred deep": nested(400),
})) {
  test(`${name} stays one search`, async () => {
    const { items } = roundOf({ ask: "doc:a asked user:u", answer: "denied" });
    const { compiled, checks } = await plansOver(text);
    const groups = await checks.groupsOf({ compiled, items, path: (_item, field) => field });
    assert.deepEqual(
      groups.map((group) => group.body.kind),
      ["search"],
    );
  });
}

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { ask, frameOf, tell } from "../differential/story.ts";
import { type Question, roundOf } from "./scene.ts";

/*
 * The promise of the Postgres engine: one question, one statement, for every depth of the graph and
 * every number of items. Counted at the driver, once the schema is known.
 */

const statements: string[] = [];
let engines: Engines;

before(async () => {
  engines = await startEngines((text) => statements.push(text));
});

after(() => engines.stop());

beforeEach(() => {
  statements.length = 0;
});

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation twin @folder
  relation viewer @user @group#member
  relation banned @user
  attribute level integer
  attribute tags string[]
  permission view = (viewer or parent.view) not banned
  permission deep = viewer or (parent.deep and allowed(level))
  permission both = viewer or (parent.both and twin.both)
  permission odd = viewer not parent.odd
  permission tagged = viewer and found(tags)
  permission secret = banned or parent.secret
  permission kept = (viewer or parent.view) not parent.secret
}
rule allowed(level integer) { level >= context.data.needed }
rule found(tags string[]) { tags.exists(tag, tag == context.data.tag) }`;

const facts = [
  ...Array.from({ length: 20 }, (_, index) => `folder:f${index}#parent@folder:f${index + 1}`),
  "folder:f0#twin@folder:f5",
  "folder:f20#viewer@group:g1#member",
  "group:g1#member@group:g2#member",
  "group:g2#member@user:ann",
  "folder:f0#viewer@user:bob",
  "folder:f0#viewer@user:eve",
  "folder:f9#banned@user:eve",
];

const questions: readonly (Question & { readonly name: string })[] = [
  { name: "a deep search with an exclusion", ask: "folder:f0 view user:ann", answer: "allowed" },
  { name: "a denial of it", ask: "folder:f0 view user:outsider", answer: "denied" },
  {
    name: "an exclusion with a search of its own",
    ask: "folder:f0 kept user:eve",
    answer: "denied",
  },
  { name: "one that excludes nothing", ask: "folder:f0 kept user:ann", answer: "allowed" },
  {
    name: "a search with a condition on the path",
    ask: "folder:f0 deep user:ann",
    answer: "allowed",
    data: { needed: 0 },
  },
  {
    name: "several operands that recurse",
    ask: "folder:f0 both user:bob",
    answer: "allowed",
  },
  { name: "a negation through the recursion", ask: "folder:f0 odd user:ann", answer: "denied" },
  {
    name: "a rule that has no translation",
    ask: "folder:f0 tagged user:bob",
    answer: "allowed",
    with: ["folder:f0$tags|string[]:a,b"],
    data: { tag: "b" },
  },
  {
    name: "a path that is too deep",
    ask: "folder:f0 view user:ann",
    answer: "DEPTH_NOT_ENOUGH",
    depth: 3,
  },
];

for (const question of questions) {
  test(`a check is one statement: ${question.name}`, async () => {
    const write = { schema: 0, ...factsOf(facts) };
    const story = await tell(engines.postgres, { schemas: [schema], writes: [write] });
    const round = roundOf(question);
    await ask(story, round);
    statements.length = 0;
    const [outcome] = await ask(story, round);
    assert.equal(outcome, question.answer);
    assert.equal(statements.length, 1, statements.join("\n"));
  });

  test(`a check of a past state is one statement: ${question.name}`, async () => {
    const write = { schema: 0, ...factsOf(facts) };
    const later = {
      schema: 0,
      ...factsOf(["folder:f0#banned@user:ann", "folder:f1#viewer@user:c"]),
    };
    const story = await tell(engines.postgres, { schemas: [schema], writes: [write, later] });
    const round = { ...roundOf(question), schema: 0, after: 0 };
    await ask(story, round);
    statements.length = 0;
    const [outcome] = await ask(story, round);
    assert.equal(outcome, question.answer);
    assert.equal(statements.length, 1, statements.join("\n"));
  });
}

for (const question of questions.filter(({ depth }) => depth === undefined)) {
  test(`an explanation is one statement: ${question.name}`, async () => {
    const write = { schema: 0, ...factsOf(facts) };
    const story = await tell(engines.postgres, { schemas: [schema], writes: [write] });
    const { items, ...round } = roundOf(question);
    const asked = { ...frameOf(story, { ...round, items }), item: must(items[0], "it asks one") };
    await story.store.permissions.explain(story.tenant, asked);
    statements.length = 0;
    const { allowed } = await story.store.permissions.explain(story.tenant, asked);
    assert.equal(allowed ? "allowed" : "denied", question.answer);
    assert.equal(statements.length, 1, statements.join("\n"));
  });
}

test("a bulk-check of different permissions is one statement", async () => {
  const write = { schema: 0, ...factsOf(facts) };
  const story = await tell(engines.postgres, { schemas: [schema], writes: [write] });
  const items = ["view", "deep", "both", "odd", "tagged", "viewer"].flatMap((permission) =>
    ["ann", "bob", "outsider"].flatMap(
      (user) => roundOf({ ask: `folder:f0 ${permission} user:${user}`, answer: "denied" }).items,
    ),
  );
  const round = { schema: null, after: null, depth: 100, items };
  const context = { tuples: [], attributes: [], data: { needed: 0, tag: "a" } };
  await ask(story, { ...round, context });
  statements.length = 0;
  const outcomes = await ask(story, { ...round, context });
  assert.ok(outcomes.every((outcome) => outcome === "allowed" || outcome === "denied"));
  assert.equal(outcomes[0], "allowed");
  assert.equal(statements.length, 1, statements.join("\n"));
});

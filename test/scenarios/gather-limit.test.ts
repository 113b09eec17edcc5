import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { gatheredEntitiesMax, gatheredTuplesMax } from "../../src/plan/limit.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { ask, tell, tellWrite } from "../differential/story.ts";
import { plainFrame, roundOf } from "./scene.ts";

/** Two operands lead back to `view`, so it is gathered and solved. */
const schema = `entity user {}
entity node {
  relation left @node
  relation right @node
  relation owner @user
  permission view = owner or (left.view and right.view)
}`;

/** A chain in which every node is both the left and the right one of the node before. */
const chain = (length: number): string[] =>
  Array.from({ length }, (_, index) => [
    `node:n${index}#left@node:n${index + 1}`,
    `node:n${index}#right@node:n${index + 1}`,
  ]).flat();

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

for (const engine of ["memory", "postgres"] as const) {
  test(`a question that leads to too many entities fails instead of reading them all (${engine})`, async () => {
    const facts = [...chain(gatheredEntitiesMax + 1), "node:n1#owner@user:u"];
    const writes = [{ schema: 0, ...factsOf(facts) }];
    const story = await tell(engines[engine], { schemas: [schema], writes });
    const far = roundOf({ ask: "node:n0 view user:u", answer: "GATHER_LIMIT_EXCEEDED" });
    assert.deepEqual(await ask(story, far), ["GATHER_LIMIT_EXCEEDED"]);
    const near = roundOf({ ask: "node:n9000 view user:u", answer: "denied", depth: 10_000 });
    assert.deepEqual(await ask(story, near), ["denied"]);
  });
}

test("as many tuples as may be are gathered for an answer, one more is too much (postgres)", async () => {
  const relations = "abcdefghijklmnopqrstuvwxy".split("");
  const text = `entity user {}
entity node {
  ${relations.map((name) => `relation ${name} @node`).join("\n")}
  relation owner @user
  permission view = owner not (${relations.map((name) => `${name}.view`).join(" or ")})
}`;
  // Tuples that a walk follows count; those of the subject itself do not.
  const edges = Array.from({ length: gatheredTuplesMax }, (_, index) => {
    const name = relations[index % relations.length];
    return `node:top#${name}@node:n${Math.floor(index / relations.length)}`;
  });
  const write = { schema: 0, ...factsOf([...edges, "node:top#owner@user:ann"]) };
  const story = await tell(engines.postgres, { schemas: [text], writes: [write] });
  const asked = roundOf({ ask: "node:top view user:ann", answer: "allowed" });
  assert.deepEqual(await ask(story, asked), ["allowed"]);
  await tellWrite(story, { schema: 0, ...factsOf(["node:n0#a@node:n1"]) });
  assert.deepEqual(await ask(story, asked), ["GATHER_LIMIT_EXCEEDED"]);
});

test("names that lead to too much together are answered one by one", async () => {
  const names = `entity user {}
entity node {
  relation left @node
  relation right @node
  relation owner @user
  permission view = owner not left.view
  permission edit = owner not right.edit
}`;
  const many = Array.from({ length: 6_000 }, (_, index) => [
    `node:top#left@node:l${index}`,
    `node:top#right@node:r${index}`,
  ]).flat();
  const write = { schema: 0, ...factsOf([...many, "node:top#owner@user:ann"]) };
  const subject = { type: "user", id: "ann", relation: "" };
  for (const store of [engines.memory, engines.postgres]) {
    const story = await tell(store, { schemas: [names], writes: [write] });
    const answers = await store.permissions.subjectPermissions(story.tenant, {
      ...plainFrame,
      entity: { type: "node", id: "top" },
      subject,
      onlyPermission: true,
    });
    assert.deepEqual(
      [...answers].map(([name, { allowed }]) => [name, allowed]),
      [
        ["view", true],
        ["edit", true],
      ],
    );
  }
});

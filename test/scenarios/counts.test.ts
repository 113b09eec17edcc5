import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { tell } from "../differential/story.ts";
import { plainFrame, roundOf } from "./scene.ts";

const schema = `entity user {}
entity folder {
  relation parent @folder
  relation owner @user
  relation banned @user
  permission view = owner or parent.view
  permission safe = (owner or parent.safe) not banned
  permission odd = owner not parent.odd
}`;

const facts = [
  "folder:a#parent@folder:b",
  "folder:b#parent@folder:c",
  "folder:c#parent@folder:d",
  "folder:c#owner@user:ann",
  "folder:a#banned@user:ann",
];

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

/** The nodes that an engine counts until the answer. */
async function nodesOf(
  engine: "memory" | "postgres",
  question: string,
): Promise<number | undefined> {
  const writes = [{ schema: 0, ...factsOf(facts) }];
  const { store, tenant } = await tell(engines[engine], { schemas: [schema], writes });
  const { items } = roundOf({ ask: question, answer: "allowed" });
  const [answer] = await store.permissions.check(tenant, {
    ...plainFrame,
    items,
    path: (_item, field) => field,
  });
  return answer?.nodes;
}

for (const [what, question, nodes] of [
  ["a relation is one node", "folder:c owner user:ann", 1],
  ["a relation that denies is one node", "folder:c owner user:bob", 1],
  ["a search counts the entities up to the one that allows", "folder:a view user:ann", 3],
  ["a search that denies counts all that it reached", "folder:a view user:bob", 4],
  ["a search that finds nothing to go on to is one node", "folder:d view user:bob", 1],
  ["a search that its first guard ends is one node", "folder:a safe user:ann", 1],
  ["a guard that passes counts nothing", "folder:b safe user:ann", 2],
  // Of each of the four folders the name and its operands, `owner` and the walk.
  ["what is solved counts the names and operands that it rests on", "folder:a odd user:ann", 12],
] as const) {
  for (const engine of ["memory", "postgres"] as const) {
    test(`${what}: ${question} (${engine})`, async () => {
      assert.equal(await nodesOf(engine, question), nodes);
    });
  }
}

for (const engine of ["memory", "postgres"] as const) {
  test(`relations that are asked together are one node each (${engine})`, async () => {
    const writes = [{ schema: 0, ...factsOf(facts) }];
    const { store, tenant } = await tell(engines[engine], { schemas: [schema], writes });
    const items = ["folder:c owner user:ann", "folder:a banned user:ann"].flatMap(
      (text) => roundOf({ ask: text, answer: "allowed" }).items,
    );
    const frame = { ...plainFrame, path: (_item: number, field: string) => field };
    const answers = await store.permissions.check(tenant, { ...frame, items });
    assert.deepEqual(
      answers.map(({ allowed, nodes }) => ({ allowed, nodes })),
      [1, 1].map((nodes) => ({ allowed: true, nodes })),
    );
  });
}

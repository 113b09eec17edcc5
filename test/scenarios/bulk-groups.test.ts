import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { compileSchemaText } from "../../src/language/compile.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { itemText } from "../differential/case.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { expectation, type Outcome } from "../differential/oracle.ts";
import { ask, askSingly, factsAfter, tell } from "../differential/story.ts";
import { roundOf } from "./scene.ts";

/* Items of a bulk check that have a subject or an entity in common are answered as they are one by one. */

const schema = `entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder @folder#viewer
  relation viewer @user @group#member
  relation banned @user @group#member
  attribute level integer
  permission view = viewer or parent.view
  permission safe = (viewer or parent.safe) not banned
  permission fine = viewer or (parent.fine and divides(level))
}
entity document {
  relation parent @folder
  relation owner @user
  relation banned @user @group#member
  attribute public boolean
  permission view = (owner or parent.view) not banned
  permission open = view or public
  permission safe = parent.safe
  permission fine = parent.fine
}
rule divides(level integer) { 10 / level > 1 }`;

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

/** Folders in a chain, `f0` in `f1` and so on, and as many documents, each in the folder of its number. */
function chain(length: number): readonly string[] {
  return Array.from({ length }, (_, nth) => [
    `folder:f${nth}#parent@folder:f${nth + 1}`,
    `document:d${nth}#parent@folder:f${nth}`,
  ]).flat();
}

function items(permission: string, user: string, documents: readonly string[]): CheckItem[] {
  return documents.flatMap(
    (id) => roundOf({ ask: `${id} ${permission} ${user}`, answer: "allowed" }).items,
  );
}

const documents = Array.from({ length: 32 }, (_, nth) => `document:d${nth}`);

/** Asks the items together and says what each of them is, or the error of all. */
async function assertAnswers(
  facts: readonly string[],
  asked: readonly CheckItem[],
  depth: number,
): Promise<readonly Outcome[]> {
  const write = { schema: 0, ...factsOf(facts) };
  const known = { schema: compileSchemaText(schema), facts: factsAfter([write], null) };
  const round = {
    ...roundOf({ ask: "user:a view user:b", answer: "denied" }),
    depth,
    items: asked,
  };
  const expected = asked.map((item) => [
    ...expectation({ ...known, ...item, context: round.context }, depth).outcomes,
  ]);
  const failing = expected.findIndex(([outcome]) => outcome !== "allowed" && outcome !== "denied");
  for (const engine of ["memory", "postgres"] as const) {
    const story = await tell(engines[engine], { schemas: [schema], writes: [write] });
    const answers = await ask(story, round);
    for (const [place, answer] of answers.entries()) {
      const wanted = expected[failing < 0 ? place : failing] ?? [];
      assert.deepEqual([answer], wanted, `${engine}: ${asked.map(itemText).join(", ")}`);
    }
  }
  return expected.flat();
}

test("many entities of one subject are answered from what leads to it", async () => {
  const facts = [
    ...chain(10),
    "folder:f6#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:ann",
    "document:d9#owner@user:ann",
    "document:d3#banned@user:ann",
    "document:d4#banned@group:h#member",
  ];
  const answers = await assertAnswers(facts, items("view", "user:ann", documents), 50);
  assert.deepEqual(
    answers.flatMap((answer, nth) => (answer === "allowed" ? [nth] : [])),
    [0, 1, 2, 5, 6, 9],
  );
});

test("a subject that leads to more than is read for its items is asked from each entity", async () => {
  const many = Array.from({ length: 200 }, (_, nth) => `folder:a${nth}#viewer@user:ann`);
  const facts = [...chain(10), ...many, "folder:f6#viewer@user:ann", "document:d3#banned@user:ann"];
  const answers = await assertAnswers(facts, items("view", "user:ann", documents), 50);
  assert.deepEqual(
    answers.flatMap((answer, nth) => (answer === "allowed" ? [nth] : [])),
    [0, 1, 2, 4, 5, 6],
  );
});

test("items of several subjects are kept apart", async () => {
  const facts = [
    ...chain(10),
    "folder:f3#viewer@user:ann",
    "folder:f7#viewer@user:bob",
    "document:d1#banned@user:bob",
  ];
  const asked = documents.flatMap((id) =>
    ["user:ann", "user:bob", "user:cid"].flatMap((user) => items("view", user, [id])),
  );
  await assertAnswers(facts, asked, 50);
});

test("a path that is too long fails a bulk of one subject as it fails the item", async () => {
  const facts = [...chain(10), "folder:f9#viewer@user:ann"];
  const near = items("view", "user:ann", documents.slice(5));
  await assertAnswers(facts, near, 5);
  await assertAnswers(facts, [...near, ...items("view", "user:ann", ["document:d4"])], 5);
});

test("an item that was answered by a longer path does not shorten the next one", async () => {
  const facts = [...chain(10), "folder:f9#viewer@user:ann"];
  for (const order of [documents, documents.toReversed()]) {
    for (const depth of [3, 6, 9, 10, 11, 12]) {
      const near = items("view", "user:ann", order).filter(
        (item) => Number(item.entity.id.slice(1)) >= 10 - depth,
      );
      await assertAnswers(facts, near, depth);
    }
  }
});

test("guards on the way and values are asked of each item", async () => {
  const facts = [
    ...chain(10),
    "folder:f8#viewer@user:ann",
    "folder:f4#banned@group:g#member",
    "group:g#member@user:ann",
    "document:d2$public|boolean:true",
  ];
  const answers = await assertAnswers(facts, items("safe", "user:ann", documents), 50);
  assert.deepEqual(
    answers.flatMap((answer, nth) => (answer === "allowed" ? [nth] : [])),
    [5, 6, 7, 8],
  );
  await assertAnswers(facts, items("open", "user:ann", documents), 50);
  await assertAnswers(facts, items("open", "user:cid", documents), 50);
});

const users = Array.from({ length: 18 }, (_, nth) => `user:u${nth}`);

/** Checks of a document for each of the users. */
function ofUsers(permission: string, document: string): CheckItem[] {
  return users.flatMap((user) => items(permission, user, [document]));
}

function allowedOf(answers: readonly Outcome[]): readonly number[] {
  return answers.flatMap((answer, nth) => (answer === "allowed" ? [nth] : []));
}

test("many subjects at an entity are answered from what it leads to", async () => {
  const facts = [
    ...chain(5),
    "document:d0#owner@user:u0",
    "folder:f4#viewer@user:u1",
    "folder:f2#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:u2",
    "group:h#member@user:u3",
    "document:d0#banned@user:u3",
    "folder:f1#viewer@group:i#member",
    "group:i#member@user:u4",
    "document:d0#banned@group:j#member",
    "group:j#member@group:i#member",
    "folder:f1#viewer@user:u5",
  ];
  assert.deepEqual(
    allowedOf(await assertAnswers(facts, ofUsers("view", "document:d0"), 50)),
    [0, 1, 2, 5],
  );
});

test("an entity that leads to more than is read for its items is asked for each subject", async () => {
  const many = Array.from({ length: 60 }, (_, nth) => `folder:f3#viewer@group:other${nth}#member`);
  const facts = [
    ...chain(5),
    ...many,
    "folder:f4#viewer@user:u1",
    "group:other59#member@user:u2",
    "group:other58#member@user:u3",
    "document:d0#banned@user:u3",
  ];
  assert.deepEqual(
    allowedOf(await assertAnswers(facts, ofUsers("view", "document:d0"), 50)),
    [1, 2],
  );
});

test("a subject in too many usersets to be read is searched from the entity", async () => {
  const many = Array.from({ length: 120 }, (_, nth) => `group:many${nth}#member@user:u2`);
  const facts = [
    ...chain(5),
    ...many,
    ...many.map((fact) => fact.replace("user:u2", "user:u6")),
    "folder:f2#viewer@group:last#member",
    "group:last#member@group:many119#member",
    "document:d0#banned@group:sixth#member",
    "group:sixth#member@user:u6",
    "folder:f2#viewer@user:u7",
  ];
  assert.deepEqual(
    allowedOf(await assertAnswers(facts, ofUsers("view", "document:d0"), 50)),
    [2, 7],
  );
});

test("a path that is too long fails a bulk of one entity as it fails the item", async () => {
  const facts = [
    ...chain(5),
    "folder:f2#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:u1",
    "folder:f4#viewer@user:u2",
    "group:g#member@user:u3",
  ];
  const asked = ofUsers("view", "document:d0");
  for (const depth of [3, 4, 5, 6]) await assertAnswers(facts, asked, depth);
  await assertAnswers(
    facts,
    asked.filter(({ subject }) => subject.id !== "u1"),
    5,
  );
});

/** Folders in a folder, so that what is granted on it leads to more than is read. */
function below(folder: string): readonly string[] {
  return Array.from({ length: 200 }, (_, nth) => `folder:sub${nth}#parent@${folder}`);
}

test("a subject from which walks lead to more than is read is met half way", async () => {
  const facts = [
    ...chain(10),
    ...below("folder:f6"),
    "folder:f6#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:ann",
    "document:d9#owner@user:ann",
    "document:d3#banned@user:ann",
    "document:d4#banned@group:h#member",
    "document:d12#owner@user:ann",
  ];
  const asked = items("view", "user:ann", documents);
  assert.deepEqual(allowedOf(await assertAnswers(facts, asked, 50)), [0, 1, 2, 5, 6, 9, 12]);
  const folders = items(
    "view",
    "user:ann",
    Array.from({ length: 24 }, (_, nth) => `folder:f${nth}`),
  );
  assert.deepEqual(allowedOf(await assertAnswers(facts, folders, 50)), [0, 1, 2, 3, 4, 5, 6]);
});

test("a path that is too long from half way fails a bulk as it fails the item", async () => {
  const facts = [
    ...chain(10),
    ...below("folder:f9"),
    "folder:f9#viewer@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:ann",
    "folder:f8#viewer@user:ann",
    "document:d0#owner@user:ann",
    "group:a#member@group:b#member",
    "group:b#member@group:c#member",
    "group:c#member@group:d#member",
    "group:d#member@user:ann",
  ];
  for (const depth of [1, 2, 3, 5, 8, 9, 10, 12, 14]) {
    const near = items("view", "user:ann", documents).filter((item) => {
      const place = Number(item.entity.id.slice(1));
      return place === 0 || place >= 9 - depth;
    });
    await assertAnswers(facts, near, depth);
    // Of a folder nothing but the depth can leave the answer open.
    const ids = Array.from({ length: 34 }, (_, nth) => nth).filter((nth) => nth >= 8 - depth);
    const folders = ids.map((nth) => `folder:f${nth}`);
    await assertAnswers(facts, items("view", "user:ann", folders), depth);
  }
  await assertAnswers(facts, items("view", "user:ann", documents), 5);
});

test("a walk goes on from a subject with a relation", async () => {
  const facts = [
    "folder:f1#parent@folder:f2#viewer",
    "folder:f2#parent@folder:f3#viewer",
    ...documents.map((id, nth) => `${id}#parent@folder:f${nth % 5}`),
    "folder:f3#viewer@user:ann",
  ];
  const answers = await assertAnswers(facts, items("view", "user:ann", documents), 50);
  assert.deepEqual(
    allowedOf(answers),
    documents.flatMap((_, nth) => (nth % 5 > 0 && nth % 5 < 4 ? [nth] : [])),
  );
});

test("an item meets the fault of a rule that an earlier item met without need", async () => {
  const facts = [
    "folder:bad#parent@folder:top",
    "folder:bad$level|integer:0",
    "folder:good#parent@folder:middle",
    "folder:good$level|integer:1",
    "folder:middle#parent@folder:top",
    "folder:middle$level|integer:1",
    "folder:top#viewer@user:ann",
    "document:d0#parent@folder:good",
    "document:d1#parent@folder:bad",
    "document:d1#parent@folder:good",
    "document:d2#parent@folder:bad",
  ];
  const [first, second, third, ...others] = items("fine", "user:ann", documents);
  const rest = others.slice(0, 16);
  const two = [first, second].flatMap((item) => (item === undefined ? [] : [item]));
  assert.deepEqual(allowedOf(await assertAnswers(facts, [...two, ...rest], 50)), [0, 1]);
  const all = third === undefined ? [] : [...two, third, ...rest];
  assert.ok((await assertAnswers(facts, all, 50)).includes("RULE_EVALUATION"));
});

test("what an item found nothing behind may be too far away for the guards of the next one", async () => {
  const facts = [
    "document:d0#parent@folder:near",
    "document:d1#parent@folder:far",
    "folder:far#parent@folder:near",
    "folder:near#parent@folder:top",
    "folder:top#viewer@user:ann",
    "folder:top#banned@group:g#member",
    "group:g#member@group:h#member",
    "group:h#member@user:ann",
  ];
  // Where a guard lies beyond the depth, several answers are right: items must get theirs all the same.
  const asked = items("safe", "user:ann", documents);
  const writes = [{ schema: 0, ...factsOf(facts) }];
  for (const engine of ["memory", "postgres"] as const) {
    const story = await tell(engines[engine], { schemas: [schema], writes });
    for (const depth of [3, 4, 5, 6]) {
      const round = { ...roundOf({ ask: "user:a view user:b", answer: "denied" }), depth };
      const alone = await askSingly(story, { ...round, items: asked });
      const failure = alone.find((answer) => answer !== "allowed" && answer !== "denied");
      const together = await ask(story, { ...round, items: asked });
      const wanted = failure === undefined ? alone : alone.map(() => failure);
      assert.deepEqual(together, wanted, `${engine}, depth ${depth}`);
    }
  }
});

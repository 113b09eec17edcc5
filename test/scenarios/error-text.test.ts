import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { tell } from "../differential/story.ts";
import { type Question, roundOf } from "./scene.ts";

let engines: Engines;
before(async () => {
  engines = await startEngines();
});
after(() => engines.stop());

const schema = `
entity user {}
entity folder {
  relation parent @folder
  relation viewer @user
  attribute level integer
  permission view = viewer or parent.view
  permission odd = viewer not parent.odd
  permission high = above(level)
}
rule above(level integer) { level > context.data.limit }`;

const facts = [
  "folder:a#parent@folder:b",
  "folder:b#parent@folder:a",
  "folder:a#viewer@user:ann",
  "folder:b#viewer@user:ann",
  "folder:s#parent@folder:s",
  "folder:s#viewer@user:ann",
  "folder:c#parent@folder:d",
  "folder:d#parent@folder:e",
  "folder:e#viewer@user:ann",
];

const expected: readonly (Question & {
  readonly name: string;
  readonly words: readonly RegExp[];
})[] = [
  {
    name: "an undefined answer names the nodes of the cycle",
    ask: "folder:a odd user:ann",
    answer: "UNDEFINED_RESULT",
    words: [/folder:a#odd.*folder:b#odd.*folder:a#odd/],
  },
  {
    name: "an undefined answer of an entity that leads to itself names it twice",
    ask: "folder:s odd user:ann",
    answer: "UNDEFINED_RESULT",
    words: [/`not`:.*folder:s#odd.*folder:s#odd/],
  },
  {
    name: "a failed rule is named, with what it lacks",
    ask: "folder:c high user:ann",
    answer: "RULE_EVALUATION",
    words: [/`above`/, /`folder:c`/, /limit/, /send it in `context\.data`/],
  },
  {
    name: "a path that is too deep names the depth",
    ask: "folder:c view user:ann",
    answer: "DEPTH_NOT_ENOUGH",
    depth: 1,
    words: [/depth/, /\b1\b/],
  },
  {
    name: "an unknown permission names the field and the entity",
    ask: "folder:c sight user:ann",
    answer: "PERMISSION_NOT_FOUND",
    words: [/items\[0\]\.permission/, /`sight`/, /`folder`/],
  },
  {
    name: "an unknown type names the field",
    ask: "file:c view user:ann",
    answer: "ENTITY_TYPE_NOT_FOUND",
    words: [/items\[0\]\.entity\.type/, /`file`/],
  },
  {
    name: "a contextual tuple that does not fit the schema is named",
    ask: "folder:c view user:ann",
    answer: "RELATION_DEFINITION_NOT_FOUND",
    with: ["folder:c#viewer@user:bob", "folder:c#owner@user:bob"],
    words: [/context\.tuples\[1\]\.relation/, /`owner`/],
  },
  {
    name: "a contextual attribute of the wrong type is named",
    ask: "folder:c view user:ann",
    answer: "ATTRIBUTE_TYPE_MISMATCH",
    with: ["folder:c$level|string:high"],
    words: [/context\.attributes\[0\]\.value/, /integer/],
  },
];

for (const { name, words, ...question } of expected) {
  test(`${name}, in the same words on both engines`, async () => {
    const texts = await Promise.all(
      [engines.memory, engines.postgres].map(async (store) => {
        const story = await tell(store, {
          schemas: [schema],
          writes: [{ schema: 0, ...factsOf(facts) }],
        });
        const { depth, context, items } = roundOf(question);
        const path = (item: number, field: string): string => `items[${item}].${field}`;
        const asked = {
          schemaVersion: undefined,
          snapToken: undefined,
          depth,
          context,
          items,
          path,
        };
        const failure = await store.permissions.check(story.tenant, asked).then(
          () => assert.fail("it was answered"),
          (error: unknown) => error,
        );
        assert.ok(failure instanceof PembaError, String(failure));
        assert.equal(failure.code, question.answer);
        return failure.message;
      }),
    );
    assert.equal(texts[0], texts[1]);
    for (const word of words) assert.match(texts[0] ?? "", word);
  });
}

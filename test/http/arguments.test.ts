import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";
import { watchKeys } from "../support/kept-keys.ts";

const schema = `
entity user {}
entity doc {
  relation owner @user
  attribute open boolean
  attribute level integer
  permission view = owner or open
}
rule above(level integer) { level > 3 }
`;

const facts = {
  metadata: {},
  tuples: [
    {
      entity: { type: "doc", id: "1" },
      relation: "owner",
      subject: { type: "user", id: "ann" },
    },
  ],
  attributes: [
    {
      entity: { type: "doc", id: "1" },
      attribute: "level",
      value: { "@type": "type.googleapis.com/base.v1.IntegerValue", data: 5 },
    },
  ],
};

const entity = { type: "doc", id: "1" };
const subject = { type: "user", id: "ann" };

const listOf = (...names: readonly string[]): object[] =>
  names.map((name) => ({ computed_attribute: { name } }));

/** Each question with arguments: its path and body, and a pattern of its answer. */
const questions: readonly (readonly [path: string, body: object, answer: RegExp])[] = [
  ["check", { entity, subject }, /RESULT_ALLOWED/],
  ["bulk-check", { items: [{ entity, subject, permission: "view" }] }, /RESULT_ALLOWED/],
  ["expand", { entity }, /"ann"/],
  ["lookup-subject", { entity, subject_reference: { type: "user" } }, /"ann"/],
];

for (const engine of engines) {
  describe(`arguments on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;
    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      assert.equal((await app.post(`${path}/data/write`, facts)).status, 200);
    });
    after(() => app.close());

    for (const [name, body, expected] of questions) {
      test(`${name} of a permission accepts any arguments and keeps none`, async (context) => {
        // A text without earlier questions: plans are kept by it.
        const ownPath = await app.tenant(`${schema}\n// ${name}`);
        assert.equal((await app.post(`${ownPath}/data/write`, facts)).status, 200);
        const ask = async (permission: string, round: number): Promise<void> => {
          const names = listOf("made_up", `made_up_${"x".repeat(round + 1)}`);
          const asked = { metadata: {}, ...body, permission, arguments: names };
          const { status, body: answer } = await app.post(`${ownPath}/permissions/${name}`, asked);
          assert.equal(status, 200);
          if (permission !== "open") assert.match(JSON.stringify(answer), expected);
        };
        const keys = watchKeys(context);
        for (const permission of ["view", "owner", "open"]) {
          for (let round = 0; round < 3; round++) await ask(permission, round);
        }
        assert.ok(keys().length > 0);
        assert.deepEqual(
          keys().filter((key) => key.includes("made_up")),
          [],
        );
      });
    }

    test("a rule takes those of its parameters and no other", async () => {
      const ask = async (...names: readonly string[]): Promise<number> => {
        const asked = { metadata: {}, entity, subject, permission: "above" };
        const body = { ...asked, arguments: listOf(...names) };
        return (await app.post(`${path}/permissions/check`, body)).status;
      };
      assert.equal(await ask("level"), 200);
      assert.equal(await ask("level", "level"), 200);
      assert.equal(await ask(), 400);
      assert.equal(await ask("made_up"), 400);
      assert.equal(await ask("level", "open"), 400);
      assert.equal(await ask("level", "made_up"), 400);
    });
  });
}

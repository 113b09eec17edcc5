import assert from "node:assert/strict";
import { test } from "node:test";

import { addCheck, type AddedCheck } from "../../src/console/views/test/add-check.ts";
import { firstTest } from "../../src/console/views/test/first-test.ts";
import { readModelFile } from "../../src/model-test/file/read-model-file.ts";

const check: AddedCheck = {
  entity: "document:plan",
  subject: "user:ada",
  permission: "edit",
  isAllowed: false,
  relationships: ["document:plan#viewer@user:ada"],
  attributes: ["document:plan$public|boolean:true"],
  context: { tuples: [], attributes: [], data: "" },
};

function added(text: string, one: AddedCheck): string {
  const result = addCheck(text, one);
  assert.ok(result.kind === "added", "it was refused");
  assert.match(result.text.split("\n")[result.line - 1] ?? "", /- name: /);
  const read = readModelFile(result.text, "test", { isStrict: true, minDepth: 1 });
  assert.ok(read.kind === "file", JSON.stringify(read));
  return result.text;
}

test("a check is added to an empty test with the facts that it rests on", () => {
  const text = added(firstTest, check);
  assert.equal(
    text.slice(text.indexOf("relationships")),
    `relationships:
  - document:plan#viewer@user:ada

attributes:
  - document:plan$public|boolean:true

scenarios:
  - name: user:ada edit document:plan
    checks:
      - entity: document:plan
        subject: user:ada
        assertions: { edit: false }
`,
  );
});

test("a check is added behind the others, and a fact that is there is not added again", () => {
  const before = `schema: model.perm
relationships:
- document:plan#viewer@user:ada
# What is asked.
scenarios:
- name: one
  checks:
  - { entity: document:plan, subject: user:ada, assertions: { view: true } }


attributes: []  # none yet
`;
  assert.equal(
    added(before, check),
    `schema: model.perm
relationships:
- document:plan#viewer@user:ada
# What is asked.
scenarios:
- name: one
  checks:
  - { entity: document:plan, subject: user:ada, assertions: { view: true } }

- name: user:ada edit document:plan
  checks:
    - entity: document:plan
      subject: user:ada
      assertions: { edit: false }


attributes: # none yet
  - document:plan$public|boolean:true
`,
  );
});

test("a key that is missing is made, and odd ids and a context are written as YAML reads them", () => {
  const odd = { ...check, entity: "document:a, b: {c}", subject: "user:-x #y" };
  const context = {
    tuples: ["document:plan#viewer@user:eve"],
    attributes: ["document:plan$note|string:a, b"],
    data: '{ "hour": 9 }',
  };
  const text = added("schema: model.perm", { ...odd, context });
  assert.match(text, /context:\n\s+tuples: \["document:plan#viewer@user:eve"\]\n/);
  assert.match(text, /data: \{"hour":9\}/);
  const read = readModelFile(text, "test", { isStrict: true, minDepth: 1 });
  assert.ok(read.kind === "file");
  const [one] = read.file.scenarios[0]?.cases ?? [];
  assert.ok(one !== undefined && "entity" in one);
  assert.deepEqual(one.entity, { type: "document", id: "a, b: {c}" });
});

test("a list in one line is refused with its key", () => {
  const text = "schema: model.perm\nrelationships: [document:plan#owner@user:bob]\n";
  assert.deepEqual(addCheck(text, check), { kind: "refused", key: "relationships" });
});

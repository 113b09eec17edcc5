import assert from "node:assert/strict";
import { test } from "node:test";

import type { ModelFile } from "../../src/model-test/file/model-file.ts";
import { readModelFile } from "../../src/model-test/file/read-model-file.ts";
import { type PlacedMessage, placeText } from "../../src/model-test/file/text-place.ts";

const strict = { isStrict: true, minDepth: 1 };
const lenient = { isStrict: false, minDepth: 3 };

function readFile(text: string, rules = strict): ModelFile {
  const read = readModelFile(text, "f.yaml", rules);
  assert.equal(read.kind, "file", JSON.stringify(read));
  return read.kind === "file" ? read.file : assert.fail();
}

function problemsOf(text: string, rules = strict): readonly string[] {
  const read = readModelFile(text, "f.yaml", rules);
  return read.kind === "problems" ? texts(read.problems) : [];
}

function texts(messages: readonly PlacedMessage[]): readonly string[] {
  return messages.map(({ place, message }) => `${placeText(place)}: ${message}`);
}

test("a file may use all keys of the format", () => {
  const file = readFile(`
tenant_id: t9
schema: entity user {}
relationships: ["doc:1#viewer@group:g#member"]
attributes: ["doc:1$tags|string[]:a,b"]
scenarios:
  - name: one
    description: what it shows
    checks:
      - depth: 20
        context:
          tuples: ["doc:1#viewer@user:eve"]
          attributes: ["doc:1$open|boolean:true"]
          data: {hour: 9, on: 2024-05-02, list: [1.5, true, null, {deep: "x"}]}
        entity: doc:1
        subject: group:g#member
        assertions: {view: true, edit: false}
    entity_filters:
      - {entity_type: doc, subject: "user:ann", context: null, assertions: {view: [1, "02"], edit: []}}
    subject_filters:
      - {subject_reference: "group#member", entity: "doc:1", assertions: {view: }}
`);
  assert.deepEqual(file.tuples[0]?.value.subject, { type: "group", id: "g", relation: "member" });
  assert.deepEqual(file.attributes[0]?.value.value, { type: "string[]", data: ["a", "b"] });
  const [check, entities, subjects] = file.scenarios[0]?.cases ?? [];
  assert.ok(check?.kind === "check" && entities?.kind === "entity_filter");
  assert.ok(subjects?.kind === "subject_filter");
  assert.equal(check.depth, 20);
  assert.deepEqual(check.context.data, {
    hour: 9,
    on: "2024-05-02",
    list: [1.5, true, null, { deep: "x" }],
  });
  assert.deepEqual(
    check.assertions.map(({ name, expected }) => [name, expected]),
    [
      ["view", true],
      ["edit", false],
    ],
  );
  assert.equal(entities.depth, 100);
  assert.deepEqual(entities.assertions[0]?.expected, ["1", "02"]);
  assert.deepEqual(entities.assertions[1]?.expected, []);
  assert.deepEqual(subjects.assertions[0]?.expected, []);
  assert.equal(subjects.subjectRelation, "member");
});

test("anchors, aliases and merges stand for what they name", () => {
  const file = readFile(`
schema: entity user {}
scenarios:
  - name: first
    checks:
      - &base {entity: "doc:1", subject: "user:a", assertions: &all {view: true}}
      - <<: *base
        subject: user:b
      - {entity: "doc:2", subject: "user:c", assertions: *all}
`);
  const subjects = file.scenarios[0]?.cases.map((one) =>
    one.kind === "check" ? `${one.subject.id} ${one.entity.id} ${one.assertions[0]?.name}` : "",
  );
  assert.deepEqual(subjects, ["a 1 view", "b 1 view", "c 2 view"]);
});

test("every mistake of a file is told with its place", () => {
  const found = problemsOf(`schema: entity user {}
relationships:
  - doc:1#viewer
  - doc:1$open|boolean:true
attributes: doc:1$open|boolean:true
scenarios:
  - checks:
      - entity: doc
        subject: user:a#
        depth: -1
        assertions: {view: "true", view: true, edit: yes}
    entity_filters:
      - {subject: "user:a", assertions: {view: doc}}
`);
  assert.deepEqual(
    found.map((text) => text.replace(/: `doc:1#viewer` cannot be read.*/, ": unreadable")),
    [
      "f.yaml:3:5: unreadable",
      "f.yaml:4:5: `doc:1$open|boolean:true` is an attribute, which does not stand in `relationships` or `tuples`",
      "f.yaml:5:13: a list of attributes is a single value, expected a list",
      "f.yaml:8:17: `doc` is not an entity, expected `type:id`",
      "f.yaml:9:18: `user:a#` is not a subject, expected `type:id` or `type:id#relation`",
      "f.yaml:10:16: depth must be greater than or equal to 1",
      "f.yaml:11:28: `view` is `true`, expected true or false",
      "f.yaml:11:36: `view` is given twice in one map",
      "f.yaml:11:54: `edit` is `yes`, expected true or false",
      "f.yaml:13:9: an entity filter has no `entity_type`",
      "f.yaml:13:48: `view` is a single value, expected a list",
    ],
  );
});

const misspelled = `schema: entity user {}
scenarios:
  - name: typo
    check: []
    checks:
      - {entity: "doc:1", subject: "user:a", assertion: {view: true}}
`;

test("an unknown key is a mistake with a suggestion, and so is what tests nothing", () => {
  assert.deepEqual(problemsOf(misspelled), [
    "f.yaml:4:5: `check` is not a key of a scenario (did you mean `checks`?)",
    "f.yaml:6:9: a check has no assertions, so it tests nothing",
    "f.yaml:6:46: `assertion` is not a key of a check (did you mean `assertions`?)",
  ]);
});

test("a scenario without cases that has an unknown key is told by the key alone", () => {
  const text = "schema: entity user {}\nscenarios:\n  - name: one\n    chekcs: []\n";
  assert.deepEqual(problemsOf(text), [
    "f.yaml:4:5: `chekcs` is not a key of a scenario (did you mean `checks`?)",
  ]);
});

test("a lenient reading warns of an unknown key", () => {
  const read = readModelFile(misspelled, "f.yaml", lenient);
  assert.ok(read.kind === "file");
  assert.deepEqual(texts(read.warnings), problemsOf(misspelled));
});

test("a lenient reading refuses a depth below three, except for zero", () => {
  const withDepth = (depth: string): string => `schema: entity user {}
scenarios:
  - checks: [{entity: "doc:1", subject: "user:a", depth: ${depth}, assertions: {view: true}}]
`;
  for (const depth of ["1", "2", "-3"]) {
    assert.match(problemsOf(withDepth(depth), lenient)[0] ?? "", /depth must be greater than or/);
  }
  for (const depth of ["0", "", "3"]) assert.deepEqual(problemsOf(withDepth(depth), lenient), []);
});

test("a place in a block of the schema is a place in the file", () => {
  const { schema } = readFile("name: x\nschema: |-\n\n    entity a {}\n    entity b {}\n", lenient);
  assert.equal(schema.text, "\nentity a {}\nentity b {}");
  assert.deepEqual(schema.placeIn(3, 8), { file: "f.yaml", line: 5, column: 12 });
  const further = readFile("schema: |2\n    entity a {}\n  entity b {}\n", lenient).schema;
  assert.equal(further.text, "  entity a {}\nentity b {}\n");
  assert.deepEqual(further.placeIn(2, 8), { file: "f.yaml", line: 3, column: 10 });
});

test("a text that is no YAML is refused with the place", () => {
  assert.match(problemsOf("schema: [")[0] ?? "", /^f\.yaml:1:\d+: flow sequence/i);
  assert.match(problemsOf("a: 1\n---\nb: 2\n")[0] ?? "", /^f\.yaml:2:1: a second document/);
  assert.match(problemsOf("schema: *none\n")[0] ?? "", /no anchor `&none` before it/);
  assert.match(problemsOf("schema: !odd x\n")[0] ?? "", /a tag without a meaning/);
  assert.deepEqual(problemsOf(""), ["f.yaml:1:1: schema is empty"]);
  assert.match(problemsOf("- a")[0] ?? "", /the file is a list, expected a map/);
});

const laughs = ["a", "b", "c", "d", "e", "f", "g", "h"].map(
  (name, index, all) =>
    `${name}: &${name} [${Array.from({ length: 10 }, () => (index === 0 ? "1" : `*${all[index - 1]}`)).join(",")}]\n`,
);
const aliased = (data: string): string => `schema: s
scenarios:
  - checks: [{entity: "a:1", subject: "b:1", assertions: {c: true}, context: {data: ${data}}}]
`;

const hostile: Readonly<Record<string, { readonly text: string; readonly message: RegExp }>> = {
  "deep brackets": { text: "[".repeat(1_000_000), message: /nested deeper than 64 levels/ },
  "deep list marks": { text: "- ".repeat(1_000_000), message: /nested deeper than 64 levels/ },
  "deep indentation": {
    text: Array.from({ length: 2_000 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join(""),
    message: /nested too deeply/,
  },
  "ten megabytes": {
    text: "#".repeat(10_000_000),
    message: /has 10000000 bytes, expected at most/,
  },
  "a million marks": {
    text: `[${",".repeat(1_000_000)}`,
    message: /more than 500000 words and marks/,
  },
  "aliases of aliases": {
    text: `${laughs.join("")}${aliased("{x: *h}")}`,
    message: /aliases of the file stand for more than/,
  },
  "an alias of what it is in": {
    text: aliased("&d {x: *d}"),
    message: /`data` is nested deeper than 64 levels/,
  },
  "a merge through thousands of maps": {
    text: `schema: s\nx:\n  - &m0 {a: 1}\n${Array.from({ length: 20_000 }, (_, index) => `  - &m${index + 1} {<<: *m${index}}\n`).join("")}scenarios: [*m20000]\n`,
    message: /`<<` leads through more than 64 maps/,
  },
  "a merge of itself": { text: "&a\n<<: *a\n", message: /`<<` leads back to itself/ },
};

for (const [name, { text, message }] of Object.entries(hostile)) {
  test(`a file with ${name} is refused`, () => {
    const problems = problemsOf(text);
    assert.ok(
      problems.some((problem) => message.test(problem)),
      problems.slice(0, 3).join("\n"),
    );
    assert.ok(problems.length <= 100);
  });
}

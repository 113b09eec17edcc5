import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import { analyseSchema } from "../../src/editor/analysis.ts";
import { fileCompletionsAt } from "../../src/editor/file-completion.ts";
import { readEditorFile } from "../../src/editor/project.ts";

const schema = `entity user {}
entity team { relation member @user @team#member }
entity document {
  relation team @team
  relation viewer @user @team#member
  attribute public boolean
  attribute limit integer
  permission view = viewer or team.member or public
}
`;

const head = `schema: model.perm
relationships:
  - team:staff#member@user:ada
  - "document:plan#viewer@user:bob"
`;

/** What can be written at `‸` of a model test, with what each inserts if that is another text. */
function labels(written: string, model = schema): readonly string[] {
  const offset = written.indexOf("‸");
  assert.ok(offset >= 0);
  const text = written.replace("‸", "");
  const file = runThrough(readEditorFile("a.yaml", "test", text));
  const analysis = runThrough(analyseSchema(model));
  const { word, suggestions } = runThrough(fileCompletionsAt(file, analysis, offset));
  assert.equal(word.end, offset);
  return suggestions.map(({ label, insert }) => (label === insert ? label : `${label}: ${insert}`));
}

test("a tuple of a model test is completed part by part", () => {
  const types = ["user: user:", "team: team:", "document: document:"];
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["  - ‸", types],
    ['  - "‸', types],
    ["  - doc‸", ["document: document:"]],
    ["  - document:‸", ["plan"]],
    ["  - document:other‸", []],
    ["  - document:plan#‸", ["team: team@", "viewer: viewer@"]],
    ["  - document:plan#vi‸", ["viewer: viewer@"]],
    ["  - document:plan#viewer@‸", ["user: user:", "team: team:"]],
    ["  - document:plan#team@‸", ["team: team:"]],
    ["  - document:plan#viewer@user:‸", ["ada", "bob"]],
    ["  - document:plan#viewer@team:‸", ["staff"]],
    ["  - document:plan#viewer@team:staff#‸", ["member"]],
    ["  # docu‸", []],
    ["‸", ["schema", "relationships", "attributes", "scenarios"]],
    ["attr‸", ["attributes"]],
    ["attributes:\n  - document:plan$‸", ["public: public|boolean:", "limit: limit|integer:"]],
    ["attributes:\n  - document:plan$public|boolean:‸", ["true", "false"]],
    ["attributes:\n- doc‸", ["document: document:"]],
  ];
  for (const [line, expected] of cases) assert.deepEqual(labels(`${head}${line}`), expected, line);
});

test("the questions of a model test are completed with what fits their key", () => {
  const scenario = `${head}scenarios:\n  - name: sharing\n`;
  const checks = `${scenario}    checks:\n      - entity: document:plan\n`;
  const subjects = `${scenario}    subject_filters:\n      - subject_reference: user\n        entity: document:plan\n        assertions:\n`;
  const entities = `${scenario}    entity_filters:\n      - { entity_type: document, subject: "user:ada",`;
  const cases: readonly (readonly [string, readonly string[]])[] = [
    [`${scenario}    ch‸`, ["checks"]],
    [`${scenario}    checks:\n      - ent‸`, ["entity"]],
    [
      `${scenario}    checks:\n      - entity: ‸`,
      ["user: user:", "team: team:", "document: document:"],
    ],
    [`${scenario}    checks:\n      - entity: document:pl‸`, ["plan"]],
    [`${checks}        sub‸`, ["subject"]],
    [`${checks}        subject: team:staff#‸`, ["member"]],
    [`${checks}        assertions: { ‸`, ["view", "team", "viewer"]],
    [`${checks}        assertions: { view: t‸ }`, ["true"]],
    [`${checks}        assertions:\n          v‸`, ["view", "viewer"]],
    [
      `${checks}        context:\n          tuples: ["document:plan#‸`,
      ["team: team@", "viewer: viewer@"],
    ],
    [`${checks}        context:\n          data:\n            ent‸`, []],
    [`${scenario}    subject_filters:\n      - subject_reference: te‸`, ["team"]],
    [`${scenario}    subject_filters:\n      - subject_reference: team#‸`, ["member"]],
    [`${subjects}          vie‸`, ["view", "viewer"]],
    [`${subjects}          view: [ada, ‸`, ["ada", "bob"]],
    [`${subjects}          view:\n            - b‸`, ["bob"]],
    [`${entities} assertions: { te‸`, ["team"]],
    [`${entities} assertions: { view: [p‸`, ["plan"]],
  ];
  for (const [text, expected] of cases) assert.deepEqual(labels(text), expected, text);
});

test("the schema inside a model test is completed as a schema", () => {
  const text =
    "schema: |\n  entity user {}\n  entity document { relation owner @‸ }\nrelationships: []\n";
  assert.deepEqual(labels(text), ["user", "document"]);
});

test("a completion in a long model test looks at a bounded part of it", () => {
  const rows = Array.from(
    { length: 8_000 },
    (_, index) => `  - document:d${index}#viewer@user:u${index}`,
  );
  const text = `${head}${rows.join("\n")}\n  - document:plan#viewer@user:‸`;
  assert.equal(labels(text).length, 500);
});

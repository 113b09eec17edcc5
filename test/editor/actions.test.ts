import assert from "node:assert/strict";
import { test } from "node:test";

import { lintSchemaText } from "../../src/authoring/lint/lint.ts";
import { runThrough } from "../../src/base/steps.ts";
import { actionsFor } from "../../src/editor/actions.ts";
import { applyEdits } from "../../src/editor/edit.ts";
import { editInFile, formatFile } from "../../src/editor/file-edit.ts";
import { fileProblems } from "../../src/editor/file-problems.ts";
import { schemaProblems } from "../../src/editor/problems.ts";
import { type EditorFile, projectOf, readEditorFile } from "../../src/editor/project.ts";

/** The text after each action for its first problem with that code, by the title of the action. */
function after(text: string, code: string): Readonly<Record<string, string>> {
  const problem = runThrough(schemaProblems(text)).find((one) => one.code === code);
  assert.ok(problem !== undefined, code);
  return Object.fromEntries(
    runThrough(actionsFor(text, problem)).map(({ title, edits }) => [
      title,
      applyEdits(text, edits),
    ]),
  );
}

const head = "entity user {}\nentity a {\n  relation r @user\n  relation s @user\n";

test("a misspelled name is replaced by the one that is near", () => {
  const text = `${head}  permission p = rr or s\n}\n`.replace("relation r ", "relation rrr ");
  assert.deepEqual(after(text, "SCHEMA_COMPILE"), {
    "Replace by `rrr`": text.replace("= rr ", "= rrr "),
  });
  const types = `${head}  attribute list strin[]\n permission p = r or s }`;
  assert.deepEqual(after(types, "SCHEMA_COMPILE"), {
    "Replace by `string[]`": types.replace("strin[]", "string[]"),
  });
});

test("parentheses are put around what is read first, and the meaning stays", () => {
  const text = `${head}  relation t @user\n  permission p = r or s and t\n}\n`;
  const mended = after(text, "mixed-operators");
  assert.equal(
    mended["Put parentheses around what is read first"],
    text.replace("r or s", "(r or s)"),
  );
});

test("a finding is silenced above its line, and the comment is the one that lint understands", () => {
  const text = `${head}  permission p = r\n}\n`;
  const { "Allow `unreachable-name` here": silenced = "" } = after(text, "unreachable-name");
  assert.equal(
    silenced,
    text.replace("  relation s", "  // pemba-lint: allow unreachable-name\n  relation s"),
  );
  assert.deepEqual(lintSchemaText(silenced), []);
});

test("a finding is silenced in the comment that is there", () => {
  const text = `${head.replace("  relation s", "  // pemba-lint: allow case-only -- why\n  relation s")}  relation S @user\n  permission p = r\n}\n`;
  const problem = runThrough(schemaProblems(text)).find(({ message }) => message.includes("#s`"));
  assert.ok(problem !== undefined);
  const [silence] = runThrough(actionsFor(text, problem));
  assert.ok(
    applyEdits(text, silence?.edits ?? []).includes("allow unreachable-name, case-only -- why"),
  );
});

test("a code that is not needed leaves its comment, and the last one takes the comment along", () => {
  const body = "  permission p = r or s\n}\n";
  const cases: readonly (readonly [string, string])[] = [
    ["// pemba-lint: allow gathered\n  relation s", "relation s"],
    ["// pemba-lint: allow gathered -- reason\n\n  relation s", "relation s"],
    ["relation s @user // pemba-lint: allow gathered", "relation s @user"],
  ];
  for (const [before, expected] of cases) {
    const text =
      (before.includes("@user")
        ? head.replace("relation s @user", before)
        : head.replace("relation s", before)) + body;
    const mended = after(text, "needless-allow");
    assert.deepEqual(Object.values(mended), [
      head.replace(/relation s( @user)?/, expected.includes("@") ? expected : `${expected}$1`) +
        body,
    ]);
  }
  const two =
    head.replace("  relation s", "  // pemba-lint: allow gathered, unused-entity\n  relation s") +
    body;
  assert.deepEqual(Object.values(after(two, "needless-allow")), [two.replace("gathered, ", "")]);
});

test("a code that lint does not know is replaced by the one that is near", () => {
  const text =
    head.replace("relation s", "relation s @user // pemba-lint: allow gatherd\n  relation t") +
    "  permission p = r or s or t\n}\n";
  assert.deepEqual(after(text, "unknown-code"), {
    "Replace by `gathered`": text.replace("gatherd", "gathered"),
  });
});

/** A model test that holds its schema. */
function fileWith(schema: string): EditorFile {
  const text = `# top\nschema: |\n${schema.replaceAll(/^(?=.)/gm, "    ")}\nrelationships:\n  - a:1#r@user:1\n`;
  return runThrough(readEditorFile("a.yaml", "test", text));
}

test("the schema inside a model test is laid out in its indentation", () => {
  const file = fileWith("entity user {}\nentity a { relation r @user }\n");
  const layout = runThrough(formatFile(file));
  assert.ok(layout.kind === "edits");
  assert.equal(
    applyEdits(file.analysis.text, layout.edits),
    "# top\nschema: |\n    entity user {}\n\n    entity a {\n      relation r @user\n    }\n\nrelationships:\n  - a:1#r@user:1\n",
  );
});

test("a finding is silenced inside a model test in its indentation", () => {
  const file = fileWith(
    "entity user {}\nentity a {\n  relation r @user\n  relation s @user\n  permission p = r\n}\n",
  );
  const problems = runThrough(fileProblems(file, projectOf([file])));
  assert.deepEqual(
    problems.map(({ code }) => code),
    ["unreachable-name"],
  );
  const { inSchema, span } = problems[0] ?? {};
  assert.equal(file.analysis.text.slice(span?.start, span?.end), "s");
  assert.ok(
    inSchema !== undefined && file.kind === "test" && file.analysis.schema?.kind === "text",
  );
  const [action] = runThrough(actionsFor(file.analysis.schema.analysis.text, inSchema));
  const edits = (action?.edits ?? []).flatMap((edit) => editInFile(file, edit) ?? []);
  assert.equal(
    applyEdits(file.analysis.text, edits),
    file.analysis.text.replace(
      "      relation s",
      "      // pemba-lint: allow unreachable-name\n      relation s",
    ),
  );
});

test("a model test has the problems of its schema, of its names and of its keys, at their places", () => {
  const text = `schema: |
  entity user {}
  entity a {
    relation r @usr
  }
relationships:
  - a:1#r@user:1
  - a:1#rr@user:1
  - b:1#r@user:1
scenarios:
  - checks:
      - { entity: "a:1", subject: user:1, assertions: { q: true } }
    chekcs: []
`;
  const file = runThrough(readEditorFile("a.yaml", "test", text));
  const problems = runThrough(fileProblems(file, projectOf([file])));
  assert.deepEqual(
    problems.map(({ code, span }) => `${code} ${text.slice(span.start, span.end)}`),
    [
      "SCHEMA_COMPILE usr",
      "MODEL_TEST chekcs",
      "REFERENCE_NOT_FOUND rr",
      "ENTITY_TYPE_NOT_FOUND b",
      "PERMISSION_NOT_FOUND q",
    ],
  );
});

test("a model test that is no YAML has the problem of its text, and the names of its schema", () => {
  const text = "schema: |\n  entity user {}\n  entity a { relation r @user }\nrelationships: [\n";
  const file = runThrough(readEditorFile("a.yaml", "test", text));
  assert.ok(runThrough(fileProblems(file, undefined)).some(({ code }) => code === "MODEL_TEST"));
  assert.deepEqual(
    projectOf([file])?.schema.outline.declarations.map(({ key }) => key),
    ["user", "a"],
  );
});

test("a text that cannot be laid out is refused with the reason", () => {
  const broken = runThrough(readEditorFile("a.perm", "schema", "entity {"));
  assert.deepEqual(runThrough(formatFile(broken)), {
    kind: "refused",
    reason: "the schema has syntax errors",
  });
  const quoted = runThrough(readEditorFile("a.yaml", "test", 'schema: "entity user {}"\n'));
  assert.deepEqual(runThrough(formatFile(quoted)), {
    kind: "refused",
    reason: "the schema is not a block that begins with `|`",
  });
});

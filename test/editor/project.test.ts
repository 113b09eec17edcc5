import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { runThrough } from "../../src/base/steps.ts";
import { applyEdits } from "../../src/editor/edit.ts";
import { cardsOf } from "../../src/editor/hover.ts";
import {
  definitionsAt,
  type EditorFile,
  type EditorProject,
  nameAt,
  offsetInSchema,
  projectOf,
  readEditorFile,
  referencesAt,
  spanInFile,
} from "../../src/editor/project.ts";
import { renamableAt, renameAt } from "../../src/editor/rename.ts";

/** A project of these texts, by their names. The schema is the first. */
function open(texts: Readonly<Record<string, string>>): EditorProject {
  const files = Object.entries(texts).map(([uri, text]): EditorFile =>
    runThrough(readEditorFile(uri, uri.endsWith(".perm") ? "schema" : "test", text)),
  );
  const project = projectOf(files);
  assert.ok(project !== undefined);
  return project;
}

/** The texts after a rename of the name at the first place of `part` in `uri`, or why there is none. */
function renamed(
  texts: Readonly<Record<string, string>>,
  [uri, part, name]: readonly [uri: string, part: string, name: string],
): Readonly<Record<string, string>> | string {
  const offset = texts[uri]?.indexOf(part) ?? -1;
  assert.ok(offset >= 0, part);
  const outcome = runThrough(renameAt(open(texts), { uri, offset }, name));
  if (outcome.kind === "refused") return outcome.reason;
  return Object.fromEntries(
    Object.entries(texts).map(([file, text]) => {
      const places = outcome.places.filter((place) => place.uri === file);
      return [
        file,
        applyEdits(
          text,
          places.map(({ span }) => ({ span, text: name })),
        ),
      ];
    }),
  );
}

const schema = `entity user {}
entity team { relation member @user @team#member }
entity document {
  relation team @team
  relation member @user
  attribute limit integer
  permission view = member or team.member or small(limit)
}
rule small(limit integer) { limit < 10 && context.data.limit > 1 }
`;

const tests = `schema: model.perm
relationships:
  - team:member#member@user:member
  - "document:1#team@team:member"
  - 'document:1#member@user:ada'
attributes:
  - document:1$limit|integer:5
scenarios:
  - name: member
    checks:
      - entity: document:1
        subject: team:member#member
        context:
          tuples: ["document:1#member@user:bob"]
          data: { limit: 3 }
        assertions: { view: true, member: false }
    subject_filters:
      - { subject_reference: team#member, entity: "document:1", assertions: { member: [] } }
    entity_filters:
      - entity_type: document
        subject: user:ada
        assertions:
          view: ["1"]
`;

test("a rename of a relation goes through the schema and its model test", () => {
  assert.deepEqual(
    renamed({ "model.perm": schema, "a.yaml": tests }, ["a.yaml", "document:1#team", "paper"]),
    {
      "model.perm": schema.replace("entity document", "entity paper"),
      "a.yaml": tests.replaceAll("document", "paper"),
    },
  );
  const whole = { "model.perm": schema, "a.yaml": tests };
  assert.deepEqual(renamed(whole, ["model.perm", "team @team", "group"]), {
    "model.perm": schema
      .replace("relation team", "relation group")
      .replace("or team.", "or group."),
    "a.yaml": tests.replace("#team@", "#group@"),
  });
});

test("a rename changes what a walk asks, and not a name of another entity", () => {
  assert.deepEqual(
    renamed({ "model.perm": schema, "a.yaml": tests }, [
      "model.perm",
      "member @user @team",
      "part",
    ]),
    {
      "model.perm": schema
        .replace("relation member @user @team#member", "relation part @user @team#part")
        .replace("team.member", "team.part"),
      "a.yaml": tests
        .replace("team:member#member", "team:member#part")
        .replace("subject: team:member#member", "subject: team:member#part")
        .replace("team#member", "team#part"),
    },
  );
});

test("a rename of an attribute changes the parameter of the rule that is called with it", () => {
  const expected = {
    "model.perm": schema
      .replace("attribute limit", "attribute most")
      .replace("small(limit)", "small(most)")
      .replace("small(limit integer) { limit <", "small(most integer) { most <"),
    "a.yaml": tests.replace("$limit", "$most"),
  };
  const whole = { "model.perm": schema, "a.yaml": tests };
  assert.deepEqual(renamed(whole, ["a.yaml", "limit|", "most"]), expected);
  assert.deepEqual(renamed(whole, ["model.perm", "limit <", "most"]), expected);
});

test("a rename of a permission that a walk asks on two types changes both", () => {
  const text =
    "entity user {} entity a { relation x @user } entity b { relation x @user } entity c { relation r @a @b permission p = r.x }";
  assert.deepEqual(renamed({ "m.perm": text }, ["m.perm", "x @user } entity b", "y"]), {
    "m.perm": text.replaceAll(/\bx\b/g, "y"),
  });
});

test("a rename in a schema inside a model test keeps the indentation of the file", () => {
  const text = tests.replace(
    "schema: model.perm",
    `schema: |\n${schema.replaceAll(/^(?=.)/gm, "    ")}`,
  );
  assert.deepEqual(renamed({ "a.yaml": text }, ["a.yaml", "view = ", "see"]), {
    "a.yaml": text.replaceAll("view", "see"),
  });
});

test("a rename is refused with the reason", () => {
  const one = { "model.perm": schema, "a.yaml": tests };
  const cases: readonly (readonly [string, string, string])[] = [
    ["member or", "team", "entity `document` already has `team`"],
    ["user {}", "document", "the schema already declares `document`"],
    ["user {}", "small", "the schema already declares `small`"],
    ["user {}", "user2", "`user2` is not a name: a name has 1 to 64 letters and `_`"],
    ["user {}", "", "`` is not a name: a name has 1 to 64 letters and `_`"],
    ["user {}", "rule", "`rule` is a keyword"],
    ["limit <", "context", "`context` has a meaning in rules, a parameter needs another name"],
    ["limit <", "string", "`string` has a meaning in rules, a parameter needs another name"],
    ["integer\n", "text", "types of values are words of the language"],
    ["{}", "x", "there is no name here"],
  ];
  for (const [part, name, reason] of cases) {
    assert.equal(renamed(one, ["model.perm", part, name]), reason, part);
  }
  const wrong = { "model.perm": schema.replace("@user\n  attribute", "@usr\n  attribute") };
  assert.equal(renamed(wrong, ["model.perm", "usr", "user"]), "the schema does not declare `usr`");
});

test("a rename is refused if a macro of a rule would hide the new name", () => {
  const text = `entity user {}
entity a { attribute names string[] permission p = r(names) }
rule r(names string[]) { names.exists(x, x in names) }`;
  assert.equal(
    renamed({ "m.perm": text }, ["m.perm", "names string[] perm", "x"]),
    "with the name `x`, another name would have another meaning",
  );
});

test("a rename is refused where the name stands in a text with escapes", () => {
  const texts = {
    "m.perm": "entity user {} entity a { relation r @user }",
    "a.yaml": 'schema: m.perm\nrelationships: ["a:1#r\\u0040user:1"]\n',
  };
  assert.equal(
    renamed(texts, ["m.perm", "user", "person"]),
    "`user` stands in a text with escapes in a.yaml: write that text without escapes first",
  );
});

test("names in anchors and merged maps are renamed once", () => {
  const text = `schema: m.perm
x: &case { entity: "a:1", subject: user:1 }
scenarios:
  - checks:
      - { <<: *case, assertions: &all { r: true } }
      - { <<: *case, subject: user:2, assertions: *all }
`;
  const texts = { "m.perm": "entity user {} entity a { relation r @user }", "a.yaml": text };
  assert.deepEqual(renamed(texts, ["m.perm", "r @user", "s"]), {
    "m.perm": "entity user {} entity a { relation s @user }",
    "a.yaml": text.replace("{ r:", "{ s:"),
  });
});

test("the definition and the references of a name are found across files", () => {
  const project = open({ "model.perm": schema, "a.yaml": tests });
  const [definition, ...others] = definitionsAt(project, "a.yaml", tests.indexOf("view: true"));
  assert.deepEqual(others, []);
  assert.equal(definition?.uri, "model.perm");
  assert.equal(schema.slice(definition.span.start, definition.span.end), "view");
  const references = runThrough(referencesAt(project, "model.perm", schema.indexOf("view =")));
  assert.deepEqual(
    references.map(({ uri, span }) => `${uri} ${span.start}`),
    [
      `model.perm ${schema.indexOf("view")}`,
      `a.yaml ${tests.indexOf("view: true")}`,
      `a.yaml ${tests.indexOf('view: ["1"]')}`,
    ],
  );
});

test("a name in a model test is told of as in the schema", () => {
  const project = open({ "model.perm": schema, "a.yaml": tests });
  assert.equal(nameAt(project, "a.yaml", tests.indexOf("member#member@") + 2), undefined);
  const relation = nameAt(project, "a.yaml", tests.indexOf("#member@user") + 1);
  assert.ok(relation !== undefined);
  const hover = runThrough(cardsOf(project.schema, relation));
  assert.deepEqual(
    hover?.cards.map(({ title, uses }) => [title, uses]),
    [["team#member", ["team#member", "document#view"]]],
  );
});

test("a place in a model test is found in the schema that it holds, and back", () => {
  const text = `schema: |\n${schema.replaceAll(/^(?=.)/gm, "    ")}\nscenarios: []\n`;
  const file = runThrough(readEditorFile("a.yaml", "test", text));
  for (const part of ["entity team", "small(limit)\n", "context.data", "}\n\nscenarios"]) {
    const offset = text.indexOf(part);
    const inSchema = offsetInSchema(file, offset);
    assert.ok(inSchema !== undefined);
    assert.ok(schema.startsWith(part.split("\n")[0] ?? "", inSchema), part);
    assert.equal(spanInFile(file, { start: inSchema, end: inSchema + 1 }).start, offset);
  }
  assert.equal(offsetInSchema(file, text.indexOf("scenarios")), undefined);
});

test("every name of the examples has a meaning, and can be renamed there and back", () => {
  const folder = join(import.meta.dirname, "../../examples/models");
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".perm"))) {
    const yaml = name.replace(/perm$/, "yaml");
    const texts = {
      [name]: readFileSync(join(folder, name), "utf8"),
      [yaml]: readFileSync(join(folder, yaml), "utf8"),
    };
    const project = open(texts);
    for (const [uri, { mentions }] of project.names) {
      for (const { text, span, naming } of mentions) {
        if (naming.role === "value-type") continue;
        assert.equal(renamableAt(project, uri, span.start).kind, "renamable", `${uri} ${text}`);
      }
    }
    for (const { text, span, naming } of project.schema.outline.mentions) {
      if (naming.role !== "declaration") continue;
      const outcome = runThrough(renameAt(project, { uri: name, offset: span.start }, "zz_new"));
      assert.equal(outcome.kind, "renamed", `${name} ${text}`);
    }
  }
});

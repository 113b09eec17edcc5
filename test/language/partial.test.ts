import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { runThrough } from "../../src/base/steps.ts";
import { parseSchema } from "../../src/language/parse.ts";
import {
  applyPartials as applyInSteps,
  type EntityPartial,
  type SchemaPartials,
} from "../../src/language/partial.ts";
import { laidOut, type Spelled } from "./arbitrary-schema.ts";
import { problemsOf, refusalOf } from "./problems.ts";
import { type Shape, shapeOf } from "./shape.ts";

const nothing: EntityPartial = { write: [], writePermissions: [], update: [], delete: [] };

const base = `// the model
entity user {}

entity doc {
  relation owner @user // exactly one
  relation viewer @user

  /* who may see it */
  permission view = owner or viewer
}

rule always() { true }
`;

function applyPartials(text: string, partials: SchemaPartials): string {
  return runThrough(applyInSteps(text, partials));
}

function changed(partial: Partial<EntityPartial>, text = base): string {
  return applyPartials(text, new Map([["doc", { ...nothing, ...partial }]]));
}

test("no changes leave the text as it is", () => {
  assert.equal(applyPartials(base, new Map()), base);
  assert.equal(changed({}), base);
});

test("what is not touched keeps its text", () => {
  const result = changed({
    write: ["relation editor @user", "attribute public boolean"],
    writePermissions: ["open = public"],
    update: ["permission view = owner or editor"],
    delete: ["viewer"],
  });
  assert.equal(
    result,
    `// the model
entity user {}

entity doc {
  relation owner @user // exactly one

  /* who may see it */
  permission view = owner or editor
  relation editor @user
  attribute public boolean
  permission open = public
}

rule always() { true }
`,
  );
});

test("an entity on one line grows by lines", () => {
  assert.equal(
    changed({ write: ["relation a @doc"] }, "entity doc {}"),
    "entity doc {\n  relation a @doc\n}",
  );
  assert.equal(
    changed({ write: ["relation b @doc"] }, "entity doc { relation a @doc }"),
    "entity doc { relation a @doc \n  relation b @doc\n}",
  );
});

test("a permission of write_permissions is new or takes the place of one", () => {
  const result = changed({
    writePermissions: ["view = owner", "action edit = owner", "permission  share=view and edit"],
  });
  assert.match(result, /permission view = owner\n {2}action edit = owner\n {2}permission {2}share/);
});

test("changes are applied in the order write, write_permissions, update, delete", () => {
  const result = changed({
    write: ["permission a = viewer", "permission b = owner"],
    writePermissions: ["a = owner"],
    update: ["permission a = owner and viewer"],
    delete: ["b"],
  });
  assert.match(result, /permission a = owner and viewer\n\}/);
  assert.doesNotMatch(result, /permission b/);
});

test("several entities change at once", () => {
  const result = applyPartials(
    "entity a {} entity b { relation r @b }",
    new Map([
      ["b", { ...nothing, update: ["relation r @a#s"] }],
      ["a", { ...nothing, write: ["relation s @b"] }],
    ]),
  );
  assert.deepEqual(shapeOf(parseSchema(result)), [
    ["entity", "a", [["relation", "s", [["b"]]]]],
    ["entity", "b", [["relation", "r", [["a", "s"]]]]],
  ]);
});

test("a syntax error names the statement and its place in it", () => {
  const partials = new Map([
    [
      "doc",
      { ...nothing, write: ["relation a @user", "relation b\n  user"], update: ["view = owner"] },
    ],
    ["user", { ...nothing, writePermissions: ["p = not q", "relation a @user"] }],
  ]);
  const run = (): string => applyPartials(base, partials);
  assert.deepEqual(problemsOf(run), [
    "partials.doc.write[1]: 2:3: expected next token to be SIGN, got IDENT instead: expected `@`, found `user`",
    "partials.doc.update[0]: 1:1: expected token to be RELATION, PERMISSION, ATTRIBUTE, got IDENT instead: found `view`",
    "partials.user.write_permissions[0]: 1:5: no prefix parse function for NOT found: `not` stands between two operands, as in `a not b`",
    "partials.user.write_permissions[1]: 1:1: expected next token to be PERMISSION, got RELATION instead: expected `permission`, found `relation`",
  ]);
  assert.match(
    refusalOf(run).message,
    /^ERROR_CODE_SCHEMA_PARSE: partials\.doc\.write\[1\]: 2:3: /,
  );
});

test("a partial holds one statement", () => {
  for (const [statement, place] of [
    ["relation a @user relation b @user", "1:18"],
    ["relation a @user }", "1:18"],
    ["", "1:1"],
    ["relation a @user /* open", "1:18"],
  ] as const) {
    const [problem = "", ...others] = problemsOf(() => changed({ write: [statement] }));
    assert.ok(problem.startsWith(`partials.doc.write[0]: ${place}: `), problem);
    assert.deepEqual(others, []);
  }
});

test("a mistake in a partial names the statement and its place in it", () => {
  const run = (): string =>
    changed({ write: ["relation a @user @team"], writePermissions: ["edit = owner or\n  editor"] });
  assert.equal(refusalOf(run).code, "SCHEMA_COMPILE");
  assert.deepEqual(problemsOf(run), [
    "partials.doc.write[0]: 1:19: relation reference not found in entity references: type `team` is not an entity",
    "partials.doc.write_permissions[0]: 2:3: undefined relation reference: entity `doc` has no `editor` (did you mean `edit`?)",
  ]);
});

test("what is still in use cannot be deleted: the delete is named, and what it breaks", () => {
  const run = (): string =>
    changed({ delete: ["view", "viewer"], write: ["permission p = viewer"] });
  assert.deepEqual(problemsOf(run), [
    "partials.doc.write[0]: 1:16: undefined relation reference: entity `doc` has no `viewer`",
  ]);
  assert.deepEqual(
    problemsOf(() => changed({ delete: ["viewer"] })),
    [
      "partials.doc.delete[0]: 1:1: breaks 9:30 of the schema: undefined relation reference: entity `doc` has no `viewer` (did you mean `view`?)",
    ],
  );
});

test("a delete or an update that breaks another statement is named", () => {
  const text = `entity user {}
entity team { relation member @user relation boss @user @team#member permission run = boss }
entity doc {
  relation team @team
  relation set @team#boss
  attribute level integer
  attribute open boolean
  permission a = team.run
  permission b = set.run
  permission c = high(level)
  permission d = open
}
rule high(level integer) { level > 1 }`;
  const run = (type: string, partial: Partial<EntityPartial>): readonly string[] =>
    problemsOf(() => applyPartials(text, new Map([[type, { ...nothing, ...partial }]])));
  const cases: readonly (readonly [string, Partial<EntityPartial>, readonly string[]])[] = [
    ["team", { delete: ["member"] }, ["delete[0]: 1:1: breaks 2:63 of the schema"]],
    ["team", { delete: ["run"] }, ["delete[0]: 1:1: breaks 8:23", "delete[0]: 1:1: breaks 9:22"]],
    [
      "doc",
      { delete: ["open", "team"] },
      ["delete[1]: 1:1: breaks 8:18", "delete[0]: 1:1: breaks 11:18"],
    ],
    ["doc", { update: ["relation team\n@user"] }, ["update[0]: 1:10: breaks 8:23"]],
    ["doc", { update: ["attribute  open string"] }, ["update[0]: 1:12: breaks 11:18"]],
    ["doc", { update: ["attribute level string"] }, ["update[0]: 1:11: breaks 10:23"]],
    ["doc", { delete: ["level"] }, ["delete[0]: 1:1: breaks 10:23"]],
  ];
  for (const [type, partial, places] of cases) {
    const problems = run(type, partial);
    assert.equal(problems.length, places.length, problems.join("\n"));
    places.forEach((place, index) =>
      assert.ok(problems[index]?.startsWith(`partials.${type}.${place}`), problems[index]),
    );
  }
});

test("a change behind a userset that breaks a walk is named", () => {
  const text = `entity user {}
entity team { relation member @user @org#staff }
entity org { relation boss @user permission run = boss relation staff @team#member }
entity doc { relation set @team#member permission p = set.run }`;
  const [problem = "", ...others] = problemsOf(() =>
    applyPartials(text, new Map([["org", { ...nothing, delete: ["run"] }]])),
  );
  assert.ok(
    problem.startsWith("partials.org.delete[0]: 1:1: breaks 4:59 of the schema: "),
    problem,
  );
  assert.deepEqual(others, []);
});

test("an unknown entity is refused", () => {
  const refusal = (name: string): string => {
    const error = refusalOf(() => applyPartials(base, new Map([[name, nothing]])));
    assert.equal(error.code, "ENTITY_STATEMENT_NOT_FOUND");
    return error.message.replace("ERROR_CODE_ENTITY_STATEMENT_NOT_FOUND: ", "");
  };
  assert.equal(
    refusal("docs"),
    "partials.docs: the schema has no entity `docs` (did you mean `doc`?)",
  );
  assert.equal(
    refusal("always"),
    "partials.always: `always` is a rule, only entities can be changed in parts",
  );
});

test("a name that must be there or must not is refused otherwise", () => {
  const cases: readonly (readonly [Partial<EntityPartial>, string])[] = [
    [
      { write: ["attribute a boolean", "attribute viewer boolean"] },
      "ALREADY_EXIST: partials.doc.write[1]: entity `doc` already has `viewer`, `update` changes what exists",
    ],
    [
      { write: ["attribute a boolean", "relation a @user"] },
      "ALREADY_EXIST: partials.doc.write[1]: entity `doc` already has `a`, `update` changes what exists",
    ],
    [
      { writePermissions: ["viewer = owner"] },
      "ALREADY_EXIST: partials.doc.write_permissions[0]: entity `doc` already has the relation `viewer`",
    ],
    [
      { update: ["relation viewers @user"] },
      "REFERENCE_NOT_FOUND: partials.doc.update[0]: entity `doc` has no relation `viewers` (did you mean `viewer`?)",
    ],
    [
      { update: ["permission viewer = owner"] },
      "REFERENCE_NOT_FOUND: partials.doc.update[0]: entity `doc` has no permission `viewer`, `viewer` is of kind relation",
    ],
    [
      { delete: ["view", "view"] },
      "REFERENCE_NOT_FOUND: partials.doc.delete[1]: entity `doc` has no `view` (did you mean `viewer`?)",
    ],
  ];
  for (const [partial, expected] of cases) {
    const error = refusalOf(() => changed(partial));
    assert.equal(error.message, `ERROR_CODE_${expected}`);
    assert.equal(error.kind, "invalid_argument");
    assert.equal(error.details[0]?.field, expected.split(": ")[1]);
  }
});

const kinds = fc.constantFrom("relation", "attribute", "permission");

interface Member {
  readonly name: string;
  readonly kind: "relation" | "attribute" | "permission";
  /** Once updated, a member refers to `b` in place of `a`. */
  readonly to: "a" | "b";
}

/** What refers to `a` ends in a bracket, which needs no blank behind it; what refers to `b` does not. */
function tokensOf({ name, kind, to }: Member): readonly string[] {
  if (kind === "relation") return ["relation", name, "@", "doc", "#", to];
  if (kind === "attribute") {
    return ["attribute", name, ...(to === "a" ? ["boolean", "[", "]"] : ["string"])];
  }
  const expression = ["a", "not", to];
  return ["permission", name, "=", ...(to === "a" ? ["(", ...expression, ")"] : expression)];
}

function shapeOfMember({ name, kind, to }: Member): Shape {
  if (kind === "relation") return ["relation", name, [["doc", to]]];
  if (kind === "permission") return ["permission", name, ["not", "a", to]];
  return ["attribute", name, to === "a" ? "boolean[]" : "string"];
}

const docTokens = "entity doc { relation a @ doc relation b @ doc".split(" ");
const docShapes: readonly Shape[] = [
  ["relation", "a", [["doc"]]],
  ["relation", "b", [["doc"]]],
];

/** What becomes of each member: it stays, or is there before, after or differently. */
const edits = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom("c", "d", "e", "f", "g", "h"),
    kind: kinds,
    fate: fc.constantFrom("keep", "write", "update", "delete"),
  }),
  { selector: ({ name }) => name },
);

test("the text after any changes is that of the changed tree, in any layout", () => {
  const property = edits.chain((members) => {
    const before = members.filter(({ fate }) => fate !== "write");
    const spelled: Spelled = {
      shape: [],
      tokens: [
        ...docTokens,
        ...before.flatMap((member) => tokensOf({ ...member, to: "a" })),
        "}",
        ..."entity user { }".split(" "),
      ],
    };
    return fc.record({ members: fc.constant(members), base: laidOut(fc.constant(spelled)) });
  });
  fc.assert(
    fc.property(property, ({ members, base: { text } }) => {
      const statements = (wanted: string): readonly string[] =>
        members
          .filter(({ fate }) => fate === wanted)
          .map((member) => ` ${tokensOf({ ...member, to: "b" }).join("\n")} ;// so`);
      const result = changed(
        {
          write: statements("write"),
          update: statements("update"),
          delete: members.filter(({ fate }) => fate === "delete").map(({ name }) => name),
        },
        text,
      );
      const kept = members.filter(({ fate }) => fate === "keep" || fate === "update");
      const added = members.filter(({ fate }) => fate === "write");
      const expected = [...kept, ...added].map((member) =>
        shapeOfMember({ ...member, to: member.fate === "keep" ? "a" : "b" }),
      );
      assert.deepEqual(shapeOf(parseSchema(result)), [
        ["entity", "doc", [...docShapes, ...expected]],
        ["entity", "user", []],
      ]);
    }),
    { numRuns: 500 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { type Coverage, measureCoverage } from "../../src/model-test/coverage/measure.ts";
import { readModelFile } from "../../src/model-test/file/read-model-file.ts";
import { missingText } from "../../src/model-test/report/test-run.ts";

const schema = `entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation owner @user
  permission view = owner or parent.view
}
entity doc {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  attribute public boolean
  attribute level integer
  permission view = (viewer or parent.view or public or high(level)) not banned
}
rule high(level integer) { level > context.data.least }
`;

interface Given {
  readonly relationships: readonly string[];
  readonly attributes?: readonly string[];
  readonly scenario: object;
}

async function coverageOf({ relationships, attributes = [], scenario }: Given): Promise<Coverage> {
  const text = JSON.stringify({ schema, relationships, attributes, scenarios: [scenario] });
  const read = readModelFile(text, "f.yaml", { isStrict: true, minDepth: 1 });
  if (read.kind !== "file") return assert.fail(JSON.stringify(read.problems));
  const { text: written, placeIn } = read.file.schema;
  const loaded = { text: written, label: "f.yaml", placeIn };
  return await measureCoverage(loaded, [{ file: read.file, schema: loaded }]);
}

/** The names of covered parts, and of the others what they lack. */
async function partsOf(given: Given): Promise<Readonly<Record<string, string>>> {
  const { parts } = await coverageOf(given);
  return Object.fromEntries(
    parts.map(({ kind, name, operand, missing }) => [
      `${kind} ${name}${operand === "" ? "" : ` ${operand}`}`,
      missing.join(" "),
    ]),
  );
}

const data = { context: { data: { least: 3 } } };
const check = (subject: string, view: boolean, entity = "doc:1"): object => ({
  checks: [{ entity, subject, assertions: { view }, ...data }],
});

test("an operand that holds covers half of itself where no other one holds", async () => {
  const parts = await partsOf({
    relationships: ["doc:1#viewer@user:ann"],
    scenario: check("user:ann", true),
  });
  assert.equal(parts["operand doc#view viewer"], "denied");
  assert.equal(parts["operand doc#view banned"], "allowed");
  assert.equal(parts["operand doc#view public"], "allowed denied");
  assert.equal(parts["relation doc#viewer@user"], "");
  assert.equal(parts["relation doc#viewer@group#member"], "allowed");
  assert.equal(parts["permission doc#view"], "denied");
});

test("an operand covers nothing where another one holds as well", async () => {
  const parts = await partsOf({
    relationships: ["doc:1#viewer@user:ann"],
    attributes: ["doc:1$public|boolean:true"],
    scenario: check("user:ann", true),
  });
  assert.equal(parts["operand doc#view viewer"], "allowed denied");
  assert.equal(parts["operand doc#view public"], "allowed denied");
  assert.equal(parts["relation doc#viewer@user"], "allowed");
  assert.equal(parts["attribute doc$public"], "read");
});

test("what stands in the data but was not asked is not covered", async () => {
  const parts = await partsOf({
    relationships: ["doc:2#viewer@user:ann", "doc:1#banned@user:ann"],
    attributes: ["doc:2$public|boolean:true"],
    scenario: check("user:eve", false),
  });
  assert.equal(parts["relation doc#viewer@user"], "allowed");
  assert.equal(parts["attribute doc$public"], "read");
});

test("a decision behind walks and usersets covers what it came through", async () => {
  const parts = await partsOf({
    relationships: [
      "doc:1#parent@folder:a",
      "folder:a#parent@folder:b",
      "folder:b#owner@user:ann",
      "doc:2#viewer@group:all#member",
      "group:all#member@group:some#member",
      "group:some#member@user:bob",
    ],
    scenario: {
      checks: [
        { entity: "doc:1", subject: "user:ann", assertions: { view: true }, ...data },
        { entity: "doc:2", subject: "user:bob", assertions: { view: true }, ...data },
      ],
    },
  });
  for (const name of [
    "relation doc#parent@folder",
    "relation folder#parent@folder",
    "relation folder#owner@user",
    "relation doc#viewer@group#member",
    "relation group#member@group#member",
    "relation group#member@user",
    "operand folder#view parent.view",
  ]) {
    assert.equal(parts[name]?.includes("allowed"), false, name);
  }
});

test("a rule is covered with its attribute when it decided both ways", async () => {
  const parts = await partsOf({
    relationships: [],
    attributes: ["doc:1$level|integer:5", "doc:2$level|integer:1"],
    scenario: {
      checks: ["doc:1", "doc:2"].map((entity) => ({
        entity,
        subject: "user:ann",
        assertions: { view: entity === "doc:1" },
        ...data,
      })),
    },
  });
  assert.equal(parts["rule high"], "");
  assert.equal(parts["attribute doc$level"], "");
  assert.equal(parts["operand doc#view high(level)"], "");
  assert.equal(parts["operand doc#view public"], "allowed");
});

test("a list of ids says of each known id whether it is allowed", async () => {
  const given = {
    relationships: ["doc:1#viewer@user:ann", "doc:2#viewer@user:bob"],
    scenario: {
      entity_filters: [
        { entity_type: "doc", subject: "user:ann", assertions: { view: ["1"] }, ...data },
      ],
    },
  };
  const parts = await partsOf(given);
  assert.equal(parts["operand doc#view viewer"], "");
  assert.equal(parts["permission doc#view"], "");
});

test("an answer from tuples of a context covers what they lead through", async () => {
  const parts = await partsOf({
    relationships: [],
    scenario: {
      checks: [
        {
          entity: "doc:1",
          subject: "user:ann",
          context: { tuples: ["doc:1#viewer@user:ann"], data: { least: 3 } },
          assertions: { view: true },
        },
      ],
    },
  });
  assert.equal(parts["relation doc#viewer@user"], "");
});

test("an answer that fails covers nothing", async () => {
  const parts = await partsOf({
    relationships: [],
    scenario: { checks: [{ entity: "doc:1", subject: "user:ann", assertions: { view: false } }] },
  });
  assert.ok(Object.values(parts).every((missing) => missing !== ""));
});

test("what is not covered is told with its place and what is missing", async () => {
  const { parts } = await coverageOf({
    relationships: ["doc:1#viewer@user:ann"],
    scenario: check("user:ann", true),
  });
  const told = parts
    .filter(({ line }) => line === 14)
    .map((part) => `${part.line}:${part.column} ${missingText(part)}`);
  assert.deepEqual(told, [
    "14:14 permission `doc#view` never decides an answer by not holding",
    "14:22 operand `viewer` of `doc#view` never decides an answer by not holding",
    "14:32 operand `parent.view` of `doc#view` never decides an answer",
    "14:47 operand `public` of `doc#view` never decides an answer",
    "14:57 operand `high(level)` of `doc#view` never decides an answer",
    "14:74 operand `banned` of `doc#view` never decides an answer by holding",
  ]);
});

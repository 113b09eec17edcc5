import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";

import { runCommand } from "../support/commands-process.ts";
import { type Finished, runPemba } from "../support/pemba.ts";

const samples = join(import.meta.dirname, "samples");
const basics = readFileSync(join(samples, "basics.yaml"), "utf8");

function fileWith(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-validate-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "model.yaml");
  writeFileSync(path, text);
  return path;
}

async function validated(t: TestContext, text: string): Promise<Finished> {
  return await runCommand(["validate", fileWith(t, text)]);
}

test("validate prints each line of a file, and ends with 0 if all is well", async () => {
  const { status, stdout, stderr } = await runPemba(["validate", join(samples, "basics.yaml")]);
  assert.equal(status, 0, stderr);
  assert.equal(
    stdout,
    `schema is creating
success
relationships are creating
success: team:x#member@user:ann
success: file:1#reader@team:x#member
success: file:1#owner@user:bob
attributes are creating
success: file:2$open
scenarios are checking
1.scenario: basics - readers and owners
  checks:
    success: user:ann read file:1
    success: user:ann drop file:1
    success: user:eve read file:1
  entity_filters:
    success: user:ann read file
  subject_filters:
    success: file:1 read user
schema successfully validated
data successfully validated
scenarios successfully validated
SUCCESS
`,
  );
});

test("validate knows every feature of the format", async () => {
  const { status, stdout, stderr } = await runCommand([
    "validate",
    join(samples, "everything.yaml"),
  ]);
  assert.equal(status, 0, stdout + stderr);
  assert.equal(stderr, "");
});

test("validate lists all answers that differ, and ends with 1", async (t) => {
  const wrong = basics
    .replace("read: true, drop: false", "drop: true, read: true, fly: true")
    .replace('["1", "2"]', '["1", "Three"]')
    .replace('["ann", "bob"]', "[]");
  const { status, stdout } = await validated(t, wrong);
  assert.equal(status, 1);
  assert.ok(
    stdout.endsWith(`fails:
user:ann drop file:1 -> expected: ALLOWED actual: DENIED
user:ann fly file:1 -> permission: \`file\` has no permission, relation or attribute \`fly\`
user:ann read file -> expected: [1 Three] actual: [1 2]
file:1 read user -> expected: [] actual: [ann bob]
FAILED
`),
    stdout,
  );
});

test("validate lists all lines that cannot be written, and asks nothing", async (t) => {
  const wrong = basics
    .replace("team:x#member@user:ann", "teem:x#member@user:ann")
    .replace("file:1#owner@user:bob", "file:1#owner@team:x")
    .replace("boolean:true", "integer:1");
  const { status, stdout } = await validated(t, wrong);
  assert.equal(status, 1);
  assert.match(stdout, /model\.yaml:16:5: `teem` is not an entity type, expected/);
  assert.match(
    stdout,
    /model\.yaml:18:5: `team` is not a subject of `file#owner`, expected `user`/,
  );
  assert.match(stdout, /model\.yaml:20:5: `integer` is not the type of `file\$open`/);
  assert.doesNotMatch(stdout, /scenario/);
});

test("validate names the place of a mistake in the schema", async (t) => {
  const { status, stdout } = await validated(t, basics.replace("@team#member", "@team#membre"));
  assert.equal(status, 1);
  assert.match(stdout, /model\.yaml:10:33: .*entity `team` has no relation `membre`/);
});

test("validate warns of an unknown key, and runs the rest", async (t) => {
  const { status, stderr } = await validated(t, basics.replace("entity_filters", "entity_filter"));
  assert.equal(status, 0);
  assert.match(
    stderr,
    /warning: .*model\.yaml:36:5: `entity_filter` is not .*mean `entity_filters`/,
  );
});

test("validate refuses a depth below three", async (t) => {
  for (const depth of ["1", "2", "-1"]) {
    const { status, stdout } = await validated(t, basics.replace("depth: 20", `depth: ${depth}`));
    assert.equal(status, 1);
    assert.match(stdout, /depth must be greater than or equal to 3/);
  }
});

test("validate compares lists of more than a page of ids", async (t) => {
  const ids = Array.from({ length: 1_200 }, (_, index) => `d${index}`);
  const file = {
    schema: "entity user {} entity doc { relation owner @user }",
    relationships: ids.map((id) => `doc:${id}#owner@user:ann`),
    scenarios: [
      { entity_filters: [{ entity_type: "doc", subject: "user:ann", assertions: { owner: ids } }] },
    ],
  };
  const { status, stdout } = await validated(t, JSON.stringify(file));
  assert.equal(status, 0, stdout);
});

test("a file is named by a path or an address of the disk", async () => {
  const path = resolve(samples, "basics.yaml");
  assert.equal((await runCommand(["validate", pathToFileURL(path).href])).status, 0);
  const other = await runCommand(["validate", `ftp://example.org${path}`]);
  assert.equal(other.status, 1);
  assert.match(other.stdout, /expected a path or an address with file, http or https/);
  const two = await runCommand(["validate", path, path]);
  assert.equal(two.status, 1);
  assert.match(two.stderr, /expected one FILE/);
});

test("a schema may be a file below the folder, and no other", async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "pemba-validate-"));
  t.after(() => rmSync(cwd, { recursive: true }));
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  write("doc.perm", "entity user {}");
  const run = async (schema: string): Promise<Finished> => {
    write("model.yaml", `schema: ${schema}\n`);
    return await runCommand(["validate", "model.yaml"], { cwd });
  };
  assert.equal((await run("doc.perm")).status, 0);
  assert.equal((await run("./doc.perm")).status, 0);
  assert.match((await run(join(cwd, "doc.perm"))).stdout, /invalid file path/);
  assert.match((await run("../doc.perm")).stdout, /invalid file path/);
  assert.match((await run("ftp://host/doc.perm")).stdout, /invalid URL scheme/);
  assert.match((await run('""')).stdout, /schema is empty/);
});

test("coverage prints the shares of each entity type", async () => {
  const { status, stdout } = await runPemba(["coverage", join(samples, "basics.yaml")]);
  assert.equal(status, 0);
  assert.equal(
    stdout.slice(stdout.indexOf("entity: ")),
    `entity: user
  relationships: 100%
  attributes: 100%
  assertions of basics: 100%
entity: team
  uncovered relationships:
    team#lead@user
  relationships: 50%
  attributes: 100%
  assertions of basics: 100%
entity: file
  uncovered relationships:
    file#reader@user
  relationships: 66%
  attributes: 100%
  assertions of basics: 100%
`,
  );
});

test("coverage compares the totals with the least percentages, in a fixed order", async () => {
  const run = async (...flags: readonly string[]): Promise<Finished> =>
    await runCommand(["coverage", join(samples, "basics.yaml"), ...flags]);
  assert.equal((await run("--coverage-relationships=72")).status, 0);
  const low = await run("--coverage-relationships", "73", "--coverage-attributes=100");
  assert.equal(low.status, 1);
  assert.ok(low.stdout.endsWith("relationships coverage < 73%\nFAILED\n"));
  const wrong = await run("--coverage-assertions=many");
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /--coverage-assertions: expected/);
});

test("coverage counts the names of each scenario apart, and neither contexts nor lists of subjects", async (t) => {
  const text = `
schema: |-
  entity user {}
  entity doc {
    relation owner @user
    attribute open boolean
    permission view = owner or open
    permission edit = owner
  }
scenarios:
  - name: one
    checks:
      - entity: doc:1
        subject: user:ann
        context: { tuples: ["doc:1#owner@user:ann"], attributes: ["doc:1$open|boolean:true"] }
        assertions: { view: true, owner: true }
  - name: two
    subject_filters:
      - { subject_reference: user, entity: "doc:1", assertions: { edit: [] } }
`;
  const { status, stdout } = await runCommand(["coverage", fileWith(t, text)]);
  assert.equal(status, 0, stdout);
  assert.equal(
    stdout.slice(stdout.indexOf("entity: doc")),
    `entity: doc
  uncovered relationships:
    doc#owner@user
  uncovered attributes:
    doc#open
  uncovered assertions of one:
    doc#edit
  uncovered assertions of two:
    doc#view
    doc#edit
  relationships: 0%
  attributes: 0%
  assertions of one: 50%
  assertions of two: 0%
`,
  );
});

test("coverage shows no figures of a file that is not valid", async (t) => {
  const path = fileWith(t, basics.replace("drop: false", "drop: true"));
  const { status, stdout } = await runCommand(["coverage", path]);
  assert.equal(status, 1);
  assert.doesNotMatch(stdout, /entity: /);
});

test("ast prints the definition of the schema on one line, or indented", async (t) => {
  const path = fileWith(t, basics);
  const { status, stdout } = await runPemba(["ast", path]);
  assert.equal(status, 0);
  assert.match(stdout, /^[^\n]+\n$/);
  const definition: unknown = JSON.parse(stdout);
  assert.partialDeepStrictEqual(definition, {
    entityDefinitions: {
      user: { name: "user" },
      file: {
        relations: {
          reader: { relationReferences: [{ type: "user" }, { type: "team", relation: "member" }] },
        },
        permissions: {
          drop: {
            child: {
              rewrite: {
                rewriteOperation: "OPERATION_EXCLUSION",
                children: [
                  { leaf: { computedUserSet: { relation: "owner" } } },
                  { leaf: { computedUserSet: { relation: "reader" } } },
                ],
              },
            },
          },
        },
        references: { open: "REFERENCE_ATTRIBUTE", read: "REFERENCE_PERMISSION" },
      },
    },
    references: { team: "REFERENCE_ENTITY" },
  });
  const pretty = await runCommand(["ast", path, "--pretty"]);
  assert.equal(pretty.stdout, `${JSON.stringify(definition, undefined, 2)}\n`);
});

test("ast names the mistakes of a schema, and needs nothing else of the file", async (t) => {
  const wrong = await runCommand([
    "ast",
    fileWith(t, basics.replace("owner or reader", "owner or redaer")),
  ]);
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /model\.yaml:12:32: .*mean `reader`/);
  const rest = await runCommand([
    "ast",
    fileWith(t, "schema: entity user {}\nrelationships: [nothing]\n"),
  ]);
  assert.equal(rest.status, 0);
});

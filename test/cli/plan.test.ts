import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { Type } from "typebox";
import { Parse } from "typebox/schema";

import { runCommand } from "../support/commands-process.ts";
import { type Finished, runPemba } from "../support/pemba.ts";

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  relation parent @doc
  relation viewer @user @group#member
  relation banned @user
  attribute level integer
  attribute tags string[]
  permission view = (viewer or parent.view) not banned
  permission tagged = viewer and found(tags)
  permission odd = viewer not parent.odd
}
rule above(level integer) { level > context.data.limit }
rule found(tags string[]) { tags.exists(tag, tag == "a") }`;

/** All that is doubtful in the schema. */
const oddWarning = /^pemba: warning: [^\n]*schema\.perm:12:\d+: [^\n]*`doc#odd`[^\n]*\n$/;

const Printed = Type.Object({
  plan: Type.Object({ kind: Type.String() }),
  pushed_down: Type.Boolean(),
  obstacle: Type.Optional(Type.String()),
  statement: Type.Object({ text: Type.String(), parameters: Type.Array(Type.String()) }),
});

function schemaFile(t: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-plan-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "schema.perm");
  writeFileSync(path, text);
  return path;
}

async function printed(t: TestContext, ...words: readonly string[]): Promise<string> {
  return printedBy(await runCommand(["plan", schemaFile(t, schema), ...words]));
}

function printedBy({ status, stdout, stderr }: Finished): string {
  assert.equal(status, 0, stderr);
  assert.match(stderr, oddWarning);
  return stdout;
}

test("plan prints the plan, that it is pushed down, and its statement", async (t) => {
  const text = printedBy(await runPemba(["plan", schemaFile(t, schema), "doc", "view"]));
  assert.match(text, /^doc#view@user: one search of 3 states\nstate 0: doc#view /);
  assert.match(text, /\n {2}only if not state \d \(doc#banned\)\n/);
  assert.match(text, /\npushed down: the statement has the answer\n\$1: \w+\n/);
  assert.match(text, /\n\$\d: tenant\n\nselect t\.head_version/);
  assert.match(text, /\nwhere t\.id = \$\d::text\n$/);
});

test("plan says why a plan is gathered", async (t) => {
  const odd = await printed(t, "doc", "odd");
  assert.match(odd, /\nbecause: doc#odd: a negation leads back to it\n/);
  assert.match(odd, /\ngathered: the statement reads /);
  const tagged = await printed(t, "doc", "tagged");
  assert.match(tagged, /\ngathered, since there is no SQL for rule `found`: `exists`: /);
});

test("plan asks for another subject if one is given", async (t) => {
  const words = ["doc", "view", "--subject-type", "group", "--subject-relation=member"];
  const text = await printed(t, ...words);
  assert.match(text, /^doc#view@group#member: /);
});

test("plan takes a rule, with the attributes that it is about", async (t) => {
  assert.match(await printed(t, "doc", "above"), /\n {2}accepts: rule above\(level\)\n/);
});

test("plan as JSON is for programs", async (t) => {
  const view = Parse(Printed, JSON.parse(await printed(t, "doc", "view", "--json")));
  assert.equal(view.plan.kind, "search");
  assert.equal(view.pushed_down, true);
  const numbers = [...view.statement.text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]));
  assert.equal(view.statement.parameters.length, Math.max(...numbers));
  const tagged = Parse(Printed, JSON.parse(await printed(t, "doc", "tagged", "--json")));
  assert.deepEqual([tagged.pushed_down, tagged.obstacle], [false, "rule `found`: `exists`"]);
});

test("what plan does not understand is one line and status 1", async (t) => {
  const file = schemaFile(t, schema);
  const wrong = schemaFile(t, "entity doc { relation viewer @usr }");
  const mistakes = [
    [[file, "doc"], /expected SCHEMA_FILE ENTITY_TYPE PERMISSION$/],
    [[file, "doc", "view", "user"], /`user` is not understood$/],
    [[`${file}.txt`, "doc", "view"], /plan: `[^`]*\.txt` is not there$/],
    [[wrong, "doc", "viewer"], /schema\.perm:1:31: [^\n]*`usr`[^\n]*$/],
    [[file, "doc", "edit"], /PERMISSION: `doc` has no permission, relation or attribute `edit`$/],
    [[file, "doc", "view", "--subject-type", "usr"], /--subject-type: `usr` is not an entity/],
    [
      [file, "doc", "view", "--subject-type", "group", "--subject-relation", "owner"],
      /--subject-relation: `group` has no relation or permission `owner`$/,
    ],
  ] as const;
  await Promise.all(
    mistakes.map(async ([words, expected]) => {
      const { status, stdout, stderr } = await runCommand(["plan", ...words]);
      assert.deepEqual([status, stdout], [1, ""], stderr);
      assert.match(stderr, /^pemba: [^\n]+\n$/);
      assert.match(stderr.trimEnd(), expected);
    }),
  );
});

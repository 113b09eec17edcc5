import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { runThrough } from "../../src/base/steps.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { planOf } from "../../src/plan/build.ts";
import { checkStatement, type PlannedBody } from "../../src/sql/check.ts";
import type { Gather } from "../../src/sql/gather/gather.ts";
import { gatherFor, plainShape } from "../../src/sql/push-down.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { type Gathered, gatheredFacts } from "../../src/store/postgres/questions/gathered-facts.ts";
import { fact, type Fact } from "../data/dataset.ts";
import { loadFacts } from "../data/load.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { effortOf } from "../support/rows-read.ts";

const groups = 1_000;
const document = { type: "document", id: "plan" };
const group = (nth: number): { readonly type: string; readonly id: string } => ({
  type: "group",
  id: `g${nth}`,
});

const noted = 20;
const noteCharacters = 100_000;
const note = (nth: number): string => `${nth}`.padEnd(noteCharacters, "é");

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, must(tenant, "there is a first tenant").number, () => [
    ...Array.from({ length: groups }, (_, nth) => fact(document, "viewer", group(nth), "member")),
    fact(group(7), "member", { type: "user", id: "ann" }),
    fact(group(7), "member", group(0), "member"),
    ...Array.from({ length: noted }, (_, nth) => fact(document, "owner", group(nth))),
    ...Array.from({ length: noted }, (_, nth) => noteOf(group(nth), note(nth))),
  ]);
  await client`analyze relationships`;
});

after(async () => {
  await client.end();
  await database.drop();
});

const schema = compileSchemaText(`entity user {}
  entity group {
    relation member @user @group#member
    attribute note string
    permission noted = named(note)
  }
  entity document {
    relation viewer @user @group#member
    relation owner @group
    permission noted = owner.noted
  }
  rule named(note string) { note == "plan" }`);

function viewers(): ReturnType<typeof planOf> {
  const question = { entityType: "document", permission: "viewer", subjectType: "user" };
  return planOf(schema, { ...question, subjectRelation: "", arguments: [] }, (field) => field);
}

function notes(): Gather {
  const question = { entityType: "document", permission: "noted", subjectType: "user" };
  const asked = { ...question, subjectRelation: "", arguments: [] };
  return runThrough(gatherFor(planOf(schema, asked, (field) => field)));
}

function noteOf(entity: { readonly type: string; readonly id: string }, data: string): Fact {
  const value = { type: "string", data } as const;
  return { kind: "attribute", attribute: { entity, attribute: "note", value } };
}

/** What the statement reads for the document, and the pages that it looks at. */
async function read(
  body: PlannedBody,
  user: string,
): Promise<{
  readonly gathered: Gathered;
  readonly buffers: number;
  readonly pieces: readonly unknown[];
}> {
  const { text, params } = checkStatement([body], plainShape);
  const known = { item_0: 0, id_0: document.id, subject_0: user, tenant: "t1", depth: 100 };
  const values = params.map((name) =>
    must(new Map(Object.entries(known)).get(name), `${name} is known`),
  );
  const rows = await client.unsafe(text, values);
  const pieces = rows.map(({ facts }): unknown => facts);
  const subject = { type: "user", id: user, relation: "" };
  const gathered = runThrough(gatheredFacts(pieces, subject, 2 * groups));
  const { buffers } = await effortOf(client, text, values);
  return { gathered, buffers, pieces };
}

test("a gather reads the entities of a level together, not page by page for each of them", async () => {
  const gather = runThrough(gatherFor(viewers()));
  const { gathered, buffers } = await read({ kind: "gather", gather }, "ann");
  assert.equal(gathered.nodes, groups + 1);
  assert.equal(gathered.tuples, groups + 1);
  const ann = { type: "user", id: "ann", relation: "" };
  assert.ok(gathered.facts.hasTuple(group(7), ["member"], ann));
  assert.ok(buffers < groups / 2, `${buffers} pages were read`);
});

test("for a proof only the usersets are read that the subject is in, for a denial all", async () => {
  const plan = viewers();
  assert.ok(plan.kind === "search");
  const body = { kind: "gather", gather: runThrough(gatherFor(plan)), proof: plan } as const;
  const { gathered } = await read(body, "ann");
  assert.equal(gathered.tuples, 1);
  assert.deepEqual([...gathered.facts.subjectIds(document, ["viewer"], "group", "member")], ["g7"]);
  assert.equal((await read(body, "bob")).gathered.tuples, groups + 1);
});

test("the tuples of a hop to a type that leads no further are read once", () => {
  const { text } = checkStatement([{ kind: "gather", gather: notes() }], plainShape);
  assert.equal(text.split("'owner'").length - 1, 1);
  // A group may lead on to another one.
  const other = runThrough(gatherFor(viewers()));
  const recursive = checkStatement([{ kind: "gather", gather: other }], plainShape).text;
  assert.equal(recursive.split("r.subject_type = 'group'").length - 1, 4);
});

test("for the denial of a union no tuples to the subject are looked for", async () => {
  const plan = viewers();
  assert.ok(plan.kind === "search");
  const gather = runThrough(gatherFor(plan));
  assert.equal(gather.hasIntersection, false);
  const union = await read({ kind: "gather", gather, proof: plan }, "bob");
  const mixed = { ...gather, hasIntersection: true };
  const other = await read({ kind: "gather", gather: mixed, proof: plan }, "bob");
  assert.equal(union.gathered.tuples, other.gathered.tuples);
  assert.ok(union.buffers < other.buffers, `${union.buffers} and ${other.buffers} pages`);
});

test("facts come in rows that are taken apart one by one, and too many tuples do not come at all", async () => {
  const gather = runThrough(gatherFor(viewers()));
  const { gathered, pieces } = await read({ kind: "gather", gather }, "ann");
  // The counts, two pieces of tuples and one of the tuples to the subject.
  assert.equal(pieces.length, 4);
  assert.equal(
    [...gathered.facts.subjectIds(document, ["viewer"], "group", "member")].length,
    groups,
  );
  const less = await read({ kind: "gather", gather: { ...gather, tuplesMax: groups } }, "ann");
  assert.equal(less.gathered.tuples, groups + 1);
  assert.deepEqual(
    [...less.gathered.facts.subjectIds(document, ["viewer"], "group", "member")],
    [],
  );
});

test("attributes come in rows of about as many bytes each", async () => {
  const { gathered, pieces } = await read({ kind: "gather", gather: notes() }, "ann");
  const texts = pieces.map(String);
  assert.ok(texts.length > noted, `${texts.length} rows`);
  assert.ok(texts.every(({ length }) => length < 2 * noteCharacters));
  const bytes = Number(texts.find((text) => text.startsWith("n"))?.split(" ")[2]);
  assert.ok(bytes > noted * noteCharacters && bytes < 3 * noted * noteCharacters, `${bytes} bytes`);
  for (let nth = 0; nth < noted; nth += 1) {
    assert.equal(gathered.facts.attribute(group(nth), "note")?.data, note(nth));
  }
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import type { Attribute, Context, Tuple } from "../../src/base/tuple.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import {
  checkShape,
  checkValues,
  frameValues,
} from "../../src/store/postgres/questions/check-values.ts";
import type { CheckQuestion } from "../../src/store/store.ts";
import { factsOf } from "../differential/facts-text.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { plansOver } from "../support/plans.ts";
import { effortOf } from "../support/rows-read.ts";

/*
 * Of a context a statement looks at what it comes to, however much else the request gives: each probe
 * finds its own by a key.
 */

const plans = await plansOver(`
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  permission view = viewer or parent.view
}
entity document {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user @group#member
  attribute level integer
  permission view = (viewer or parent.view) not banned
  permission high = view and above(level)
}
rule above(level integer) { level > 3 }`);

/** What leads from the document to ann, all of it given by the request. */
const path = [
  "document:plan#parent@folder:below",
  "folder:below#parent@folder:above",
  "folder:above#viewer@group:all#member",
  "group:all#member@group:some#member",
  "group:some#member@user:ann",
];

const few = 20;
const many = 2_000;

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
});

after(async () => {
  await client.end();
  await database.drop();
});

/** The path, among so many tuples of the same relations that lead elsewhere. */
function contextOf(size: number): Context {
  const others = Array.from({ length: size / 4 }, (_, nth) => [
    `document:d${nth}#parent@folder:f${nth}`,
    `folder:f${nth}#viewer@group:g${nth}#member`,
    `group:g${nth}#member@user:u${nth}`,
    `document:d${nth}#banned@user:u${nth}`,
  ]).flat();
  const tuples: readonly Tuple[] = factsOf([...others, ...path]).tuples;
  const attributes = Array.from({ length: size }, (_, nth): Attribute => ({
    entity: { type: "document", id: nth === 0 ? "plan" : `d${nth}` },
    attribute: "level",
    value: { type: "integer", data: 5 },
  }));
  return { tuples, attributes, data: {} };
}

function questionOf(context: Context, permission: string): CheckQuestion {
  const item = {
    entity: { type: "document", id: "plan" },
    permission,
    subject: { type: "user", id: "ann", relation: "" },
    arguments: [],
  };
  return {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context,
    items: [item, item, { ...item, subject: { ...item.subject, id: "bob" } }],
    path: (_, field) => field,
  };
}

async function checkEffort(
  context: Context,
  permission: string,
  kind: "pushed_down" | "gathered" | "listed",
): Promise<number> {
  const question = questionOf(context, permission);
  const { compiled, checks } = plans;
  const { items, path } = question;
  const groups = await Promise.all(
    (await checks.groupsOf({ compiled, items, path })).map(async (group) => {
      if (kind === "pushed_down") return group;
      assert.ok(group.kind === "planned");
      if (kind === "gathered") return await checks.gathered(compiled, group.items);
      return await checks.listed(compiled, group);
    }),
  );
  const shape = checkShape(question, groups);
  const { text, params } = checks.statementOf(compiled.compiled, groups, shape);
  const values = checkValues({ tenant: "t1", question, state: undefined, groups, shape, params });
  return await handledBy(text, params, values);
}

async function lookupEffort(context: Context, end: "entities" | "subjects"): Promise<number> {
  const asked = {
    entityType: "document",
    permission: "high",
    subjectType: "user",
    subjectRelation: "",
    arguments: [],
  };
  const { compiled } = plans.compiled;
  const planning = { compiled, question: asked, path: (field: string) => field };
  const planned = await plans.lookups.planOf(end, planning);
  const { text, params } = plans.lookups.statementOf(planned, {
    pinned: false,
    pinnedVersion: false,
    contextTuples: true,
    contextAttributes: true,
    openRules: new Set(),
    scopedTypes: [],
    judgesTogether: false,
  });
  const { footprint } = planned;
  const frame = questionOf(context, "high");
  const values = frameValues("t1", frame, { state: undefined, params, footprint });
  values.set("id", end === "entities" ? "ann" : "plan");
  values.set("after", "").set("candidates", 100).set("answers", 100);
  return await handledBy(text, params, values);
}

async function handledBy(
  text: string,
  params: readonly string[],
  values: ReadonlyMap<string, unknown>,
): Promise<number> {
  const given = params.map((key) => {
    const value = must(values.get(key), `the parameter ${key} has a value`);
    return typeof value === "number" ? value : String(value);
  });
  return (await effortOf(client, text, given)).handled;
}

const efforts: ReadonlyMap<string, (context: Context) => Promise<number>> = new Map([
  ["a check", (context) => checkEffort(context, "view", "pushed_down")],
  ["a check with a rule", (context) => checkEffort(context, "high", "pushed_down")],
  ["a gathered check", (context) => checkEffort(context, "high", "gathered")],
  ["an expand", (context) => checkEffort(context, "high", "listed")],
  ["a lookup of entities", (context) => lookupEffort(context, "entities")],
  ["a lookup of subjects", (context) => lookupEffort(context, "subjects")],
]);

for (const [name, effort] of efforts) {
  test(`${name} handles no more of a large context than of a small one`, async () => {
    const small = await effort(contextOf(few));
    const large = await effort(contextOf(many));
    assert.ok(small > path.length, `${small} rows`);
    assert.equal(large, small);
  });
}

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { plainShape } from "../../src/sql/push-down.ts";
import { sessionSettings } from "../../src/store/postgres/connect/connection-route.ts";
import { type Fact, fact } from "../data/dataset.ts";
import { loadFacts } from "../data/load.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { plansOver } from "../support/plans.ts";
import { type Effort, effortOf } from "../support/rows-read.ts";

/*
 * A page of a lookup costs what is on it: each place that leads to ids gives as many as a page may
 * need, and the rest of what it leads to is left alone, on the first page as on any other.
 */

const plans = await plansOver(`
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation viewer @user @group#member
  relation banned @user
  permission view = viewer
  permission keep = viewer not banned
}
entity note {
  relation folder @folder
  permission view = folder.view
  permission keep = folder.keep
}
entity document {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  permission view = viewer or parent.view
  permission read = (viewer or parent.view) not banned
}
entity department {
  attribute open boolean
  permission active = open
}
entity report {
  relation reader @user
  relation department @department
  relation barred @user @group#member
  permission read = (reader and department.active) not barred
  permission scan = department.active not barred
  permission open = reader not barred
}`);

/** Folders that the user may view, and groups that may view the document. */
const places = 40;
/** Documents of each folder, and members of each group. */
const crowd = 1_000;
/** Ids that the statement may take into account for a page. */
const candidates = 60;

let database: TestDatabase;
let client: postgres.Sql;

before(async () => {
  database = await createMigratedDatabase();
  client = postgres(database.url, { max: 1, connection: sessionSettings, onnotice: () => {} });
  const [tenant] = await client<{ number: string }[]>`
    select number::text as number from tenants where id = 't1'`;
  await loadFacts(database.url, tenant?.number ?? "", facts);
});

after(async () => {
  await client.end();
  await database.drop();
});

function* facts(): Generator<Fact> {
  const ann = { type: "user", id: "ann" };
  const wide = { type: "document", id: "wide" };
  for (let place = 0; place < places; place++) {
    const folder = { type: "folder", id: `folder-${place}` };
    const group = { type: "group", id: `group-${place}` };
    yield fact(folder, "viewer", ann);
    yield fact(wide, "viewer", group, "member");
    for (let nth = 0; nth < crowd; nth++) {
      const number = String(nth * places + place).padStart(5, "0");
      yield fact({ type: "document", id: `document-${number}` }, "parent", folder);
      yield fact(group, "member", { type: "user", id: `user-${number}` });
    }
  }
  const sales = { type: "department", id: "sales" };
  const value = { type: "boolean", data: true } as const;
  yield { kind: "attribute", attribute: { entity: sales, attribute: "open", value } };
  for (let nth = 0; nth < crowd; nth++) {
    const report = { type: "report", id: `report-${nth}` };
    yield fact(report, "department", sales);
    if (nth % 100 === 0) yield fact(report, "reader", ann);
    if (nth % 10 === 0) yield fact(report, "barred", { type: "user", id: "bob" });
  }
  yield fact({ type: "note", id: "note" }, "folder", { type: "folder", id: "folder-0" });
  const shared = { type: "report", id: "shared" };
  const team = { type: "group", id: "team" };
  yield fact(shared, "barred", team, "member");
  for (let nth = 0; nth < candidates; nth++) {
    yield fact(shared, "reader", { type: "user", id: `reader-${nth}` });
    if (nth % 2 === 0) yield fact(team, "member", { type: "user", id: `reader-${nth}` });
  }
}

async function effort(
  end: "entities" | "subjects",
  permission: string,
  place: string,
  { entityType, id }: { readonly entityType: string; readonly id: string } = {
    entityType: "document",
    id: end === "entities" ? "ann" : "wide",
  },
): Promise<Effort> {
  const question = {
    entityType,
    permission,
    subjectType: "user",
    subjectRelation: "",
    arguments: [],
  };
  const { compiled } = plans.compiled;
  const planning = { compiled, question, path: (field: string) => field };
  const planned = await plans.lookups.planOf(end, planning);
  const shape = {
    ...plainShape,
    pinnedVersion: false,
    openRules: new Set<string>(),
    scopedTypes: [],
    judgesTogether: true,
  };
  const { text, params } = plans.lookups.statementOf(planned, shape);
  const values = new Map<string, string | number>([
    ["tenant", "t1"],
    ["depth", 100],
    ["data", "{}"],
    ["id", id],
    ["after", place],
    ["candidates", candidates],
    ["answers", candidates],
  ]);
  return await effortOf(
    client,
    text,
    params.map((key) => must(values.get(key), `the parameter ${key} has a value`)),
  );
}

for (const [end, prefix] of [
  ["entities", "document"],
  ["subjects", "user"],
] as const) {
  for (const permission of ["view", "read"]) {
    test(`any page of a lookup of ${end} by \`${permission}\` reads what may be on it`, async () => {
      for (const place of ["", `${prefix}-20000`, `${prefix}-38000`]) {
        const { rows, buffers } = await effort(end, permission, place);
        // One page from each place, and a few probes for each id that is judged.
        assert.ok(rows <= places * (candidates + 2) + 5 * candidates, `${rows} rows`);
        assert.ok(buffers <= 10 * places + 5 * candidates, `${buffers} buffers`);
        assert.ok(rows >= candidates && buffers > places, `${rows} rows, ${buffers} buffers`);
      }
    });
  }
}

test("a lookup by an `and` finds its candidates by tuples of the subject, not by an attribute", async () => {
  const entities = await effort("entities", "read", "", { entityType: "report", id: "ann" });
  assert.ok(entities.rows < 50, `${entities.rows} rows of a thousand reports`);
  const subjects = await effort("subjects", "read", "", { entityType: "report", id: "report-0" });
  assert.ok(subjects.rows < 20, `${subjects.rows} rows of thousands of users`);
});

test("a lookup reads once what a guard accepts, not for each candidate", async () => {
  for (const user of ["ann", "bob"]) {
    const { buffers } = await effort("entities", "scan", "", { entityType: "report", id: user });
    assert.ok(buffers < candidates, `${buffers} buffers`);
  }
});

test("a lookup of few candidates judges no guard at the many folders that could lead to others", async () => {
  const asked = { entityType: "note", id: "ann" };
  const open = await effort("entities", "view", "", asked);
  const guarded = await effort("entities", "keep", "", asked);
  assert.ok(
    guarded.buffers < open.buffers + places,
    `${guarded.buffers} buffers, ${open.buffers} without a guard`,
  );
});

test("a lookup of subjects follows what a guard accepts from the entity, not from each candidate", async () => {
  const report = { entityType: "report", id: "shared" };
  const { rows, buffers } = await effort("subjects", "open", "", report);
  assert.ok(buffers < candidates, `${buffers} buffers`);
  assert.ok(rows >= candidates * 1.5, `${rows} rows`);
});

import { after, before, test } from "node:test";

import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import { quotedName, quotedText } from "../../src/sql/text/quote.ts";
import { assertNoFaults, randomRuns } from "../differential/random-run.ts";
import { newTenant } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";
import { makeList, ways } from "./list-scene.ts";

/** A column of the order of a list. */
interface Column {
  readonly type: string;
  readonly isNullable: boolean;
  readonly isDescending: boolean;
  readonly hasNullsFirst: boolean;
  /** Of each row, the place of its value among those of the type. */
  readonly places: readonly number[];
}

/** A table of an application, and how a list of it is ordered. */
interface Table {
  readonly key: string;
  readonly isPartitioned: boolean;
  readonly columns: readonly Column[];
  readonly isKeyDescending: boolean;
  readonly hasCondition: boolean;
  readonly size: number;
  /** How the list finds its rows. */
  readonly way: string;
}

/** Types of columns, and some values of each. Collations with ICU are made by `prepare`. */
const types: Readonly<Record<string, readonly string[]>> = {
  integer: ["1", "2", "-3"],
  numeric: ["NaN", "-0.0", "0.00", "1.5"],
  "double precision": ["NaN", "-0", "0", "-Infinity", "1e-300"],
  "timestamp with time zone": [
    "2024-01-01 00:00:00.000001+00",
    "2024-01-01 00:00:00.000002+00",
    "infinity",
    "-infinity",
  ],
  interval: ["1 day", "24 hours", "1 month"],
  date: ["2024-01-01", "infinity"],
  boolean: ["true", "false"],
  uuid: ["0b3f6a0e-4d0e-4a44-9d6c-0f1f3a8f0a01", "0b3f6a0e-4d0e-4a44-9d6c-0f1f3a8f0a02"],
  bytea: ["\\x00", "\\xff", "\\x"],
  jsonb: ["{}", '{"a": 1}', "[1]"],
  "integer[]": ["{}", "{1,2}", "{null}"],
  text: ["a", "A", "B", "b", "", "é"],
  'text collate "POSIX"': ["a", "A", "B", "b", ""],
  "text collate app.natural": ["a", "A", "B", "b", "", "é"],
  "text collate app.alike": ["a", "A", "B", "b", "é"],
  "text[] collate app.natural": ["{a}", "{B}", "{a,B}", "{}"],
  "character(3)": ["a", "a ", "B", ""],
  name: ["a", "B", ""],
  "app.mood": ["good", "bad"],
  tone: ["loud", "soft"],
  "app.short": ["a", "B", "A"],
};

const names = ["a", "B c", 'after"x'];

/** Types of keys, and ids in no order of theirs. */
const keys: Readonly<Record<string, readonly string[]>> = {
  text: ["a", "A", "b", "B", "ab", "a-b", "a.b", "10", "9", "_"],
  "text collate app.natural": ["a", "A", "b", "B", "ab", "a-b", "a.b", "10", "9", "_"],
  "character varying(9)": ["a", "B", "b", "10", "9"],
  "app.short": ["a", "B", "b", "10", "9"],
  bigint: ["10", "9", "-3", "0", "9223372036854775807"],
};

const users = ["none", "some", "all", "member"];

const anyColumn: fc.Arbitrary<Column> = fc.record({
  type: fc.constantFrom(...Object.keys(types)),
  isNullable: fc.boolean(),
  isDescending: fc.boolean(),
  hasNullsFirst: fc.boolean(),
  places: fc.array(fc.nat({ max: 6 }), { minLength: 10, maxLength: 10 }),
});

const anyTable: fc.Arbitrary<Table> = fc.record({
  key: fc.constantFrom(...Object.keys(keys)),
  isPartitioned: fc.boolean(),
  columns: fc.array(anyColumn, { minLength: 0, maxLength: names.length }),
  isKeyDescending: fc.boolean(),
  hasCondition: fc.boolean(),
  size: fc.integer({ min: 1, max: 4 }),
  way: fc.constantFrom(...Object.keys(ways)),
});

/** Tests that pages of tables of any columns have the rows that pass a check, in order. */
export function testRandomTables(defaultCases: number): void {
  let scene: InterfaceScene;
  let tenant: TenantId;

  before(async () => {
    scene = await openInterface();
    tenant = await prepare(scene);
  });

  after(async () => {
    await scene.close();
  });

  for (const run of randomRuns(defaultCases)) {
    test(`pages have the rows that pass a check, in ${run.cases} random tables`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      const faults = async (table: Table): Promise<readonly string[]> =>
        await faultsOf(scene, tenant, table);
      const text = async (table: Table): Promise<string> =>
        [...(await faults(table)), statementsOf(table)].join("\n");
      await assertNoFaults(anyTable, run, { faults, text });
    });
  }
}

/** Makes the types, and documents that some of the users view. */
async function prepare({ store, owner }: InterfaceScene): Promise<TenantId> {
  const [icu] = await owner`select from pg_collation where collprovider = 'i' limit 1`;
  const collation = (rest: string): string =>
    icu === undefined ? `(locale = 'C')` : `(provider = icu, ${rest})`;
  await owner.unsafe(`
    create schema app;
    create collation app.natural ${collation("locale = 'en'")};
    create collation app.alike ${collation("locale = 'und-u-ks-level2', deterministic = false")};
    create type app.mood as enum ('good', 'bad');
    create type tone as enum ('soft', 'loud');
    create domain app.letters as text collate app.natural;
    create domain app.short as app.letters check (octet_length(value) < 3);
  `);
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, {
    text: `
      entity user {}
      entity group { relation member @user }
      entity doc { relation viewer @user @group#member  permission view = viewer }
    `,
  });
  const ids = [...new Set(Object.values(keys).flat())];
  const viewed = (id: string, type: string, subject: string, relation = "") => ({
    entity: { type: "doc", id },
    relation: "viewer",
    subject: { type, id: subject, relation },
  });
  await store.data.write(tenant, {
    schemaVersion: undefined,
    attributes: [],
    tuples: [
      ...ids.map((id) => viewed(id, "user", "all")),
      ...ids.filter((_, index) => index % 2 === 0).map((id) => viewed(id, "user", "some")),
      ...ids.filter((_, index) => index % 3 > 0).map((id) => viewed(id, "group", "g", "member")),
      ...["unheard", "1.5", "00", "A9"].map((id) => viewed(id, "user", "some")),
      {
        entity: { type: "group", id: "g" },
        relation: "member",
        subject: { type: "user", id: "member", relation: "" },
      },
    ],
  });
  return tenant;
}

/** What makes the table with its rows and the index of the order. */
function statementsOf(table: Table): string {
  const { key, isPartitioned, columns } = table;
  const ids = keys[key] ?? [];
  const definitions = columns.map(
    ({ type, isNullable }, index) => `${columnName(index)} ${type}${isNullable ? "" : " not null"}`,
  );
  const rows = ids.map((id, row) => {
    const values = columns.map(({ type, isNullable, places }) => {
      const value = (types[type] ?? [])[(places[row] ?? 0) % (types[type]?.length ?? 1)] ?? "";
      return isNullable && places[row] === 6 ? "null" : quotedText(value);
    });
    return `(${[quotedText(id), String(row % 3 > 0), ...values].join(", ")})`;
  });
  return `
    drop table if exists app."Odd things" cascade;
    create table app."Odd things" (
      dropped text, id ${key} not null, keep boolean not null, ${[...definitions, "note text"].join(", ")}
    ) ${isPartitioned ? "partition by hash (id)" : ""};
    ${
      isPartitioned
        ? [0, 1]
            .map(
              (part) => `create table app.part_${part} partition of app."Odd things"
                for values with (modulus 2, remainder ${part});`,
            )
            .join("\n")
        : ""
    }
    alter table app."Odd things" drop column dropped;
    alter table app."Odd things" add primary key (id);
    create index on app."Odd things" (${orderOf(table)});
    insert into app."Odd things" values ${rows.map((row) => row.replace(/\)$/, ", null)")).join(", ")};
  `;
}

function columnName(index: number): string {
  return quotedName(names[index] ?? "");
}

/** The order of a list, as `--order` has it. */
function orderOf({ columns, isKeyDescending }: Table): string {
  return [
    ...columns.map(
      ({ isDescending, hasNullsFirst }, index) =>
        `${columnName(index)}${isDescending ? " desc" : ""} nulls ${hasNullsFirst ? "first" : "last"}`,
    ),
    `id${isKeyDescending ? " desc" : ""}`,
  ].join(", ");
}

async function faultsOf(
  scene: InterfaceScene,
  tenant: TenantId,
  table: Table,
): Promise<readonly string[]> {
  const { owner } = scene;
  const { columns, hasCondition, size, way } = table;
  const bounds = must(ways[way], "the way has bounds");
  await owner.unsafe(statementsOf(table));
  const places = columns.map((_, index) => `last.${columnName(index)}`);
  const [first] = places;
  // The value of a row, with the collation of its column.
  const given = first ?? "last.id";
  const condition = (value: string): string =>
    hasCondition ? `keep or ${given.replace("last.", "")} is not distinct from ${value}` : "";
  const more = hasCondition
    ? `, (select ${given} from app."Odd things" as last order by last.id limit 1)`
    : "";
  const faults: string[] = [];
  await makeList(scene, {
    table: 'app."Odd things"',
    key: "id",
    name: "odd",
    order: orderOf(table),
    where: condition("$given"),
    question: { entityType: "doc", permission: "view", subjectType: "user" },
    bounds,
  });
  for (const user of users) {
    const expected = await idsOf(
      owner,
      `select t.id::text as id from app."Odd things" as t
      where pemba.may('${tenant}', 'doc', t.id::text, 'view', 'user', '${user}')
        and (${hasCondition ? condition(more.slice(2)) : "true"})
      order by ${orderOf(table).replaceAll(/(?<=^|, )(?=id|")/g, "t.")}`,
    );
    const nulls = [...places, "id"].map(() => "null").join(", ");
    const found: string[] = [];
    let page = await idsOf(
      owner,
      `select l.id::text as id from pemba.odd('${tenant}', '${user}', ${nulls}, ${size}${more}) as l`,
    );
    while (page.length > 0 && found.length <= expected.length) {
      found.push(...page);
      const [id = ""] = page.slice(-1);
      page = await idsOf(
        owner,
        `select l.id::text as id
        from app."Odd things" as last
        cross join pemba.odd(
          '${tenant}', '${user}', ${[...places, "last.id"].join(", ")}, ${size}${more}
        ) with ordinality as l
        where last.id::text collate "C" = ${quotedText(id)}
        order by l.ordinality`,
      );
    }
    if (found.join() !== expected.join())
      faults.push(`${way}: ${user} lists ${found.join()}, expected ${expected.join()}`);
  }
  return faults;
}

async function idsOf(owner: InterfaceScene["owner"], query: string): Promise<readonly string[]> {
  const rows = await owner.unsafe<{ id: string }[]>(query);
  return rows.map(({ id }) => id);
}

import { after, before, test } from "node:test";

import fc from "fast-check";

import { type Case, caseText } from "../differential/case.ts";
import { caseWithUsersets } from "../differential/generate-crowd.ts";
import { anyLookupCase } from "../differential/generate-lookup.ts";
import { idPool } from "../differential/name-pool.ts";
import { assertNoFaults, randomRuns } from "../differential/random-run.ts";
import { factsAfter, tell } from "../differential/story.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";
import { makeList, ways } from "./list-scene.ts";

interface ListCase {
  readonly one: Case;
  readonly size: number;
  readonly order: string;
}

const anyListCase: fc.Arbitrary<ListCase> = fc.record({
  one: fc.oneof(anyLookupCase, caseWithUsersets),
  size: fc.integer({ min: 1, max: 4 }),
  order: fc.constantFrom("at desc, id", "at desc nulls last, id", "at, id", "at nulls first, id"),
});

/** A question of a list. */
interface Asked {
  readonly entityType: string;
  readonly permission: string;
  readonly subjectType: string;
  readonly subject: string;
  /** What rules read. */
  readonly context: string;
}

/** Of each case, so that a case does not take long. */
const askedMax = 3;

/** Tests that a list has the rows that pass a check, in order, in whichever way it finds them. */
export function testRandomLists(defaultCases: number): void {
  let scene: InterfaceScene;

  before(async () => {
    scene = await openInterface();
    await scene.owner.unsafe(`
      create schema app;
      create table app.things (id text primary key, at integer);
      create index on app.things (at desc, id);
      create index on app.things (at desc nulls last, id);
      create index on app.things (at, id);
      create index on app.things (at nulls first, id);
    `);
  });

  after(async () => {
    await scene.close();
  });

  for (const run of randomRuns(defaultCases)) {
    test(`lists have the rows that pass a check, in ${run.cases} random cases`, async (t) => {
      t.diagnostic(`PEMBA_SEED=${run.seed}`);
      const faults = async (listed: ListCase): Promise<readonly string[]> =>
        await faultsOf(scene, listed);
      const text = async (listed: ListCase): Promise<string> =>
        [...(await faults(listed)), JSON.stringify(listed), caseText(listed.one)].join("\n");
      await assertNoFaults(anyListCase, run, { faults, text });
    });
  }
}

async function faultsOf(
  scene: InterfaceScene,
  { one, size, order }: ListCase,
): Promise<readonly string[]> {
  const { store, owner } = scene;
  const asked = questionsOf(one);
  if (asked.length === 0) return [];
  const { tenant } = await tell(store, one);
  const faults: string[] = [];
  for (const question of asked) {
    await fillTable(scene, one, question.entityType);
    const wanted = await expected(scene, tenant, question, order);
    if (wanted === undefined) continue;
    for (const [way, bounds] of Object.entries(ways)) {
      const { entityType, permission, subjectType } = question;
      const name = `things_${Object.keys(ways).indexOf(way)}`;
      await makeList(scene, {
        table: "app.things",
        key: "id",
        name,
        order,
        where: "",
        question: { entityType, permission, subjectType },
        bounds,
      });
      const found = await owner.begin("read only", async (sql) => {
        await sql`select set_config('pemba.undecided', 'deny', true), set_config('pemba.context', ${question.context}, true)`;
        const ids: string[] = [];
        let place: readonly [number | null, string | null] = [null, null];
        for (;;) {
          const rows: { id: string; at: number | null }[] = await sql.unsafe(
            `select * from pemba.${name}($1, $2, $3, $4, $5)`,
            [tenant, question.subject, ...place, size],
          );
          ids.push(...rows.map(({ id }) => id));
          const last = rows.at(-1);
          if (last === undefined) return ids;
          place = [last.at, last.id];
        }
      });
      if (JSON.stringify(found) !== JSON.stringify(wanted)) {
        faults.push(
          `${way}: ${JSON.stringify(question)} lists ${found.join()}, expected ${wanted.join()}`,
        );
      }
    }
  }
  return faults;
}

/** What the checks of a case ask of the head, for subjects that are no usersets. */
function questionsOf({ rounds }: Case): readonly Asked[] {
  const all = rounds.flatMap(({ items, context }) =>
    items.flatMap(({ entity, permission, subject, arguments: names }) =>
      subject.relation !== "" || names.length > 0
        ? []
        : [
            {
              entityType: entity.type,
              permission,
              subjectType: subject.type,
              subject: subject.id,
              context: JSON.stringify({ data: context.data }),
            },
          ],
    ),
  );
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()].slice(0, askedMax);
}

/** All ids of a type, and one that no tuple has, with values that repeat and are null. */
async function fillTable({ owner }: InterfaceScene, one: Case, type: string): Promise<void> {
  const { tuples, attributes } = factsAfter(one.writes, null);
  const known = [
    ...tuples.flatMap(({ entity, subject }) => [entity, subject]),
    ...attributes.map(({ entity }) => entity),
  ].filter((entity) => entity.type === type);
  const ids = [...new Set([...known.map(({ id }) => id), ...idPool, "unheard"])];
  const rows = ids.map((id, index) => ({ id, at: index % 3 === 0 ? null : index % 4 }));
  await owner`delete from app.things`;
  await owner`insert into app.things ${owner(rows)}`;
  await owner`analyze app.things`;
}

/** The rows that pass a check; undefined when the question cannot be asked in SQL. */
async function expected(
  { owner }: InterfaceScene,
  tenant: string,
  { entityType, permission, subjectType, subject, context }: Asked,
  order: string,
): Promise<readonly string[] | undefined> {
  try {
    return await owner.begin("read only", async (sql) => {
      await sql`select set_config('pemba.undecided', 'deny', true), set_config('pemba.context', ${context}, true)`;
      const rows = await sql.unsafe<{ id: string }[]>(
        `select t.id from app.things as t
        where pemba.may($1, $2, t.id, $3, $4, $5)
        order by ${order}`,
        [tenant, entityType, permission, subjectType, subject],
      );
      return rows.map(({ id }) => id);
    });
  } catch (error) {
    const code: unknown =
      typeof error === "object" && error !== null && "code" in error ? error.code : "";
    if (code === "PB001" || code === "PB002") return undefined;
    throw error;
  }
}

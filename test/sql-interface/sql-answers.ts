import type postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import { planOf } from "../../src/plan/build.ts";
import { questionKey, questionOf } from "../../src/plan/question-of.ts";
import type { Question } from "../../src/plan/question.ts";
import { askedAlone } from "../../src/sql/push-down.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import type { Database } from "../../src/store/postgres/connect/database.ts";
import { createPostgresSchemas, readSchema } from "../../src/store/postgres/schemas.ts";
import type { InterfaceNames } from "../../src/store/postgres/sql-interface/interface-names.ts";
import { SqlInterface } from "../../src/store/postgres/sql-interface/sql-interface.ts";
import type { CheckItem, Store } from "../../src/store/store.ts";
import { askedNames, askedSubjects } from "../differential/asked-names.ts";
import { itemText } from "../differential/case.ts";
import { type FormsCase, joinedFacts } from "../differential/forms-case.ts";
import { KnownAnswers } from "../differential/known-answers.ts";
import type { Outcome } from "../differential/oracle.ts";
import { evenShares } from "../differential/samples.ts";
import { tell } from "../differential/story.ts";
import { interfaceOptions } from "./interface-scene.ts";

/** Where cases are told and asked. */
export interface SqlPlace {
  readonly store: Store;
  /** Of the owner, to write schemas with functions of the case's own choice. */
  readonly database: Database;
  readonly names: InterfaceNames;
  /** Of a role that may ask and nothing else. */
  readonly app: postgres.Sql;
}

/** Of a case. */
const itemsAsked = 20;
const lookupsAsked = 5;
const depths = [100, 100, 100, 1, 2, 3, 4, 5, 8];

/** How often each kind of outcome came, by what was asked. */
export type Tally = Map<string, number>;

/** What the functions answer otherwise than the oracle. */
export async function sqlFaults(
  place: SqlPlace,
  one: FormsCase,
  tally: Tally,
): Promise<readonly string[]> {
  const schema = compileSchemaText(one.schema);
  const facts = joinedFacts(one.first, one.rest);
  const depth = must(depths[one.turn % depths.length], "a depth");
  const known = new KnownAnswers(schema, { facts, data: one.data, depth });
  const items = itemsOf(schema, facts, known);
  const tenant = await tellCase(place, one, { items, depth });
  const connection = await place.app.reserve();
  try {
    const context = JSON.stringify({ data: one.data });
    await connection`select set_config('pemba.context', ${context}, false)`;
    const asking: Asking = { connection, tenant, schema, known, tally };
    const faults: string[] = [];
    for (const item of items) faults.push(...(await mayFaults(asking, item)));
    for (const item of evenShares(items, lookupsAsked, (each) => known.of(each).because)) {
      faults.push(...(await lookupFaults(asking, item)));
    }
    return faults;
  } finally {
    connection.release();
  }
}

interface Asking {
  readonly connection: postgres.ReservedSql;
  readonly tenant: string;
  readonly schema: Schema;
  readonly known: KnownAnswers;
  readonly tally: Tally;
}

function itemsOf(
  schema: Schema,
  facts: FormsCase["first"],
  known: KnownAnswers,
): readonly CheckItem[] {
  const names = askedNames(schema, facts).filter(({ kind }) => kind !== "rule");
  const subjects = askedSubjects(schema, facts);
  const all = names.flatMap(({ entity, permission }) =>
    subjects.map((subject) => ({ entity, permission, subject, arguments: [] })),
  );
  return evenShares(all, itemsAsked, (item) => known.of(item).because);
}

/** In a tenant of its own, whose questions are those of the items. */
async function tellCase(
  { store, database, names }: SqlPlace,
  one: FormsCase,
  { items, depth }: { readonly items: readonly CheckItem[]; readonly depth: number },
): Promise<string> {
  const asked = [...new Map(items.map((item) => [questionKey(questionOf(item)), item])).values()];
  const compiled = new CompiledSchemas((id, version) => readSchema(database, id, version), {
    maxBytes: 10_000_000,
  });
  const sqlInterface = new SqlInterface({ database, schemas: compiled }, names, {
    ...interfaceOptions,
    depth,
    questions: asked.map((item) => questionOf(item)),
  });
  const schemas = createPostgresSchemas(database, compiled, sqlInterface);
  const writes = [one.first, one.rest].map((facts) => ({ schema: 0, ...facts }));
  const { tenant } = await tell({ ...store, schemas }, { schemas: [one.schema], writes });
  return tenant;
}

type Answer = boolean | "undecided" | "no SQL" | "failed";

async function mayFaults(asking: Asking, item: CheckItem): Promise<readonly string[]> {
  const { connection: sql, tenant, known } = asking;
  const { entity, permission, subject } = item;
  const answer = await answerOf(asking, "may", async () => {
    const [row] = await sql<{ may: boolean }[]>`
      select pemba.may(
        ${tenant}, ${entity.type}, ${entity.id}, ${permission},
        ${subject.type}, ${subject.id}, ${subject.relation}
      ) as may
    `;
    return row?.may ?? "failed";
  });
  const fault = faultIn(asking, item, answer, known.outcomes(item));
  return fault === undefined ? [] : [`may ${itemText(item)}: ${fault}`];
}

async function lookupFaults(asking: Asking, item: CheckItem): Promise<readonly string[]> {
  const { connection: sql, tenant, known } = asking;
  const { entity, permission, subject } = item;
  const entities = known.ofIds(entity.type, subject, (id) => ({
    ...item,
    entity: { ...entity, id },
  }));
  const subjects = known.ofIds(subject.type, entity, (id) => ({
    ...item,
    subject: { ...subject, id },
  }));
  const ids = entities.map(([id]) => id);
  const asked = {
    may_of: [
      entities,
      () => sql<{ id: string }[]>`
        select m.id
        from pemba.may_of(
          ${tenant}, ${entity.type}, ${ids}, ${permission},
          ${subject.type}, ${subject.id}, ${subject.relation}
        ) as m(id)
      `,
    ],
    visible: [
      entities,
      () => sql<{ id: string }[]>`
        select v.id
        from pemba.visible(
          ${tenant}, ${entity.type}, ${permission}, ${subject.type}, ${subject.id},
          ${subject.relation}
        ) as v(id)
      `,
    ],
    who: [
      subjects,
      () => sql<{ id: string }[]>`
        select w.id
        from pemba.who(
          ${tenant}, ${entity.type}, ${entity.id}, ${permission}, ${subject.type},
          ${subject.relation}
        ) as w(id)
      `,
    ],
  } as const;
  const faults: string[] = [];
  for (const [name, [expected, ask]] of Object.entries(asked)) {
    const found = await idsOf(asking, name, item, { expected, ask });
    faults.push(...found.map((fault) => `${name} ${itemText(item)}: ${fault}`));
  }
  if (subject.relation === "") {
    const found = await countFaults(asking, item, entities);
    faults.push(...found.map((fault) => `visible_count ${itemText(item)}: ${fault}`));
  }
  return faults;
}

/** With what it counts at most, from nothing to more than there is. */
async function countFaults(
  asking: Asking,
  item: CheckItem,
  expected: readonly (readonly [id: string, outcomes: readonly Outcome[]])[],
): Promise<readonly string[]> {
  const { connection: sql, tenant } = asking;
  const { entity, permission, subject } = item;
  const isOpen = expected.some(([, outcomes]) => outcomes.length > 1 || outcomes.some(isError));
  const allowed = expected.filter(([, outcomes]) => outcomes.includes("allowed")).length;
  const faults: string[] = [];
  for (const atMost of [0, 1, 2, 100]) {
    let counted = -1;
    const answer = await answerOf(asking, "visible_count", async () => {
      const [row] = await sql<{ count: number }[]>`
        select pemba.visible_count(
          ${tenant}, ${entity.type}, ${permission}, ${subject.type}, ${subject.id}, ${atMost}
        ) as count
      `;
      counted = row?.count ?? -1;
      return counted > 0;
    });
    if (answer === "undecided") {
      if (!isOpen) faults.push("it is undecided, but every answer is known");
    } else if (typeof answer !== "boolean") {
      const fault = faultIn(asking, item, answer, []);
      if (fault !== undefined) faults.push(fault);
    } else if (!isOpen && counted !== Math.min(allowed, atMost + 1)) {
      faults.push(`it counts ${counted} of ${allowed}, at most ${atMost}`);
    }
  }
  return faults;
}

async function idsOf(
  asking: Asking,
  name: string,
  item: CheckItem,
  {
    expected,
    ask,
  }: {
    readonly expected: readonly (readonly [id: string, outcomes: readonly Outcome[]])[];
    readonly ask: () => PromiseLike<readonly { readonly id: string }[]>;
  },
): Promise<readonly string[]> {
  let found: readonly string[] = [];
  const read = async (): Promise<Answer> => {
    found = (await ask()).map(({ id }) => id);
    return found.length > 0;
  };
  const answer = await answerOf(asking, name, read);
  if (answer === "undecided") {
    const isOpen = expected.some(([, outcomes]) => outcomes.some(isError));
    if (!isOpen) return ["it is undecided, but every answer is known"];
    const { connection } = asking;
    await connection`select set_config('pemba.undecided', 'deny', false)`;
    const denied = await answerOf(asking, `${name} with denials`, read);
    await connection`select set_config('pemba.undecided', '', false)`;
    if (typeof denied !== "boolean") return [`with denials it is ${denied}`];
  } else if (typeof answer !== "boolean") {
    const fault = faultIn(asking, item, answer, []);
    return fault === undefined ? [] : [fault];
  }
  const strange = found.filter((id) => !expected.some(([each]) => each === id));
  const wrong = expected.filter(
    ([id, outcomes]) =>
      !outcomes.some(isError) && !outcomes.includes(found.includes(id) ? "allowed" : "denied"),
  );
  if (strange.length + wrong.length === 0 && new Set(found).size === found.length) return [];
  return [`it finds ${found.join(" ")}, but ${JSON.stringify([strange, wrong])}`];
}

function isError(outcome: Outcome): boolean {
  return outcome !== "allowed" && outcome !== "denied";
}

async function answerOf(
  { tally }: Asking,
  name: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await ask().catch((error: unknown): Answer => {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
    if (code === "PB003") return "undecided";
    if (code === "PB002") return "no SQL";
    throw error;
  });
  const key = `${name}: ${answer}`;
  tally.set(key, (tally.get(key) ?? 0) + 1);
  return answer;
}

function faultIn(
  { schema }: Asking,
  item: CheckItem,
  answer: Answer,
  outcomes: readonly Outcome[],
): string | undefined {
  if (answer === "undecided") return outcomes.some(isError) ? undefined : `not ${outcomes.join()}`;
  if (answer === "no SQL") return hasSql(schema, questionOf(item)) ? "it has SQL" : undefined;
  if (answer === "failed") return "there is no answer";
  return outcomes.includes(answer ? "allowed" : "denied")
    ? undefined
    : `${answer}, not ${outcomes.join()}`;
}

/** Whether the service asks the database for the answer. */
function hasSql(schema: Schema, question: Question): boolean {
  const { body } = askedAlone(planOf(schema, question, (field) => field));
  return body.kind === "search";
}

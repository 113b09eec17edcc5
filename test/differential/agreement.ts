import { must } from "../../src/base/assert.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Schema } from "../../src/language/schema.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { type Case, caseText, itemText, type Round } from "./case.ts";
import { constructsOf } from "./constructs.ts";
import type { Engines } from "./engines.ts";
import { bulksAround, type ItemBulks } from "./item-groups.ts";
import { knownIds } from "./known-ids.ts";
import { expectation, type Expectation, type Outcome } from "./oracle.ts";
import { evenShares } from "./samples.ts";
import { ask, askSingly, factsAfter, type Story, tell } from "./story.ts";

/** A place where the engines differ from the oracle, from each other, or from themselves. */
export interface Disagreement {
  readonly what: string;
  /** The round with only the items that show it. */
  readonly round: Round;
}

/** The case with the first questions that show what was found. */
export function disagreementText(one: Case, found: readonly Disagreement[]): string {
  const rounds = found.slice(0, 1).map(({ round }) => round);
  return [...found.map(({ what }) => what), caseText({ ...one, rounds })].join("\n");
}

export interface Asked {
  readonly item: CheckItem;
  readonly expected: Expectation;
}

/** The items of a round, and those of them that are asked. */
interface AskedRound {
  readonly expected: readonly Asked[];
  readonly asked: readonly Asked[];
  readonly schema: Schema;
}

/**
 * Asks both engines the questions of a case, singly and in bulk. Of each round at most `most` items
 * are asked, such that every kind of answer gets its share of them.
 */
export async function disagreements(
  engines: Engines,
  one: Case,
  most: number,
): Promise<readonly Disagreement[]> {
  const schemas = one.schemas.map(compileSchemaText);
  const memory = await tell(engines.memory, one);
  const postgres = await tell(engines.postgres, one);
  const found: Disagreement[] = [];
  for (const round of one.rounds) {
    const schema = schemaOf(round, schemas);
    const expected = expectations(one, round, schema);
    const asked = evenShares(expected, most, kindOf);
    const items = asked.map(({ item }) => item);
    const byMemory = await askSingly(memory, { ...round, items });
    const byPostgres = await askSingly(postgres, { ...round, items });
    for (const [place, { item, expected }] of asked.entries()) {
      const pair = [byMemory[place], byPostgres[place]];
      if (pair[0] === pair[1] && pair.every((answer) => answer && expected.outcomes.has(answer)))
        continue;
      const what =
        `${itemText(item)}: the oracle says ${[...expected.outcomes].join(" or ")}, ` +
        `memory ${pair[0]}, postgres ${pair[1]}`;
      found.push({ what, round: { ...round, items: [item] } });
    }
    const whole = { ...round, items };
    const bulks = [
      ["memory", await bulkDisagreement(memory, whole, byMemory)],
      ["postgres", await bulkDisagreement(postgres, whole, byPostgres)],
    ] as const;
    for (const [engine, wrong] of bulks) {
      if (wrong !== undefined) found.push({ what: `${engine}: ${wrong}`, round: whole });
    }
    for (const grouped of roundsAround(one, round, { expected, asked, schema })) {
      for (const [engine, story] of [
        ["memory", memory],
        ["postgres", postgres],
      ] as const) {
        const wrong = await bulkDisagreement(story, grouped, await askSingly(story, grouped));
        if (wrong !== undefined) found.push({ what: `${engine}: ${wrong}`, round: grouped });
      }
    }
  }
  return found;
}

/**
 * The round with bulks around some of its items, which have a subject or an entity in common: around any item, and
 * around one that engines may answer by a search for all of them, with enough depth and with too little.
 */
function roundsAround(
  one: Case,
  round: Round,
  { expected, asked, schema }: AskedRound,
): readonly Round[] {
  const middle = asked[Math.floor(asked.length / 2)];
  const last = asked.at(-1);
  if (middle === undefined || last === undefined) return [];
  const facts = factsAfter(one.writes, round.after);
  const idsOf = (type: string): readonly string[] =>
    knownIds(type, facts, round.context, { type: "", id: "" }).slice(0, namedIdsMax);
  const around = (item: CheckItem): ItemBulks =>
    bulksAround(item, last.item, idsOf, round.items.length);
  const far = farthest(expected, schema) ?? { item: middle.item, hops: 0 };
  const { ofSubject, ofEntity, mixed } = around(middle.item);
  const shared = around(far.item);
  const enough = [ofSubject, ofEntity, mixed, shared.ofSome].map((items) => ({ ...round, items }));
  if (far.hops < 2) return enough;
  const cutOff = [shared.ofSubject, shared.ofEntity].map((items) => ({
    ...round,
    depth: far.hops - 1,
    items,
  }));
  return [...enough, ...cutOff];
}

/** Of the items that tuples alone lead from, the one that is allowed by the longest path. */
function farthest(
  expected: readonly Asked[],
  schema: Schema,
): { readonly item: CheckItem; readonly hops: number } | undefined {
  return expected
    .flatMap(({ item, expected: { hops } }) => (hops === undefined ? [] : [{ item, hops }]))
    .toSorted((one, other) => other.hops - one.hops)
    .find(({ item, hops }) => hops > 0 && isByTuplesAlone(schema, item));
}

/** Whether nothing but tuples leads on from the entity, and no guard stands on the way. */
function isByTuplesAlone(schema: Schema, item: CheckItem): boolean {
  return constructsOf(schema, item).every(
    ({ test, guard, hop }) =>
      hop === "none" || (guard === "none" && (test === "direct" || test === "self")),
  );
}

/** Of a type, besides those of the item. */
const namedIdsMax = 6;

/**
 * At most so many items of a round with what the oracle allows for each. Most random questions are
 * denied; without shares, few others would be asked.
 */
export function checksToAsk(
  one: Case,
  round: Round,
  schemas: readonly Schema[],
  most: number,
): readonly Asked[] {
  return evenShares(expectations(one, round, schemaOf(round, schemas)), most, kindOf);
}

function schemaOf(round: Round, schemas: readonly Schema[]): Schema {
  return must(schemas[round.schema ?? schemas.length - 1], "the round names a schema");
}

function expectations(one: Case, round: Round, schema: Schema): readonly Asked[] {
  const facts = factsAfter(one.writes, round.after);
  return round.items.map((item): Asked => ({
    item,
    expected: expectation({ schema, facts, context: round.context, ...item }, round.depth),
  }));
}

function kindOf({ expected }: Asked): string {
  return expected.because;
}

/** A bulk answers as its items do one by one, and fails as a whole when one of them fails. */
async function bulkDisagreement(
  story: Story,
  round: Round,
  singly: readonly Outcome[],
): Promise<string | undefined> {
  const failures = singly.filter((outcome) => !isAnswer(outcome));
  const good = round.items.filter((_, place) => isAnswer(singly[place]));
  const answers = good.length > 0 ? await ask(story, { ...round, items: good }) : [];
  const wanted = singly.filter(isAnswer);
  if (answers.some((outcome, place) => outcome !== wanted[place])) {
    return `the bulk answers ${answers.join(" ")}, but singly ${wanted.join(" ")}`;
  }
  if (failures.length === 0) return undefined;
  const [failure] = await ask(story, round);
  if (failures.some((one) => one === failure)) return undefined;
  return `the bulk answers ${failure}, but singly there are ${failures.join(" ")}`;
}

function isAnswer(outcome: Outcome | undefined): boolean {
  return outcome === "allowed" || outcome === "denied";
}

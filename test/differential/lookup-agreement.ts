import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import type { SchemaVersion, SnapToken } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { LookupFrame, LookupPage, Store } from "../../src/store/store.ts";
import type { Round, Write } from "./case.ts";
import { type LookupCase, lookupsOf, lookupText } from "./lookup-case.ts";
import { type Lookup, type LookupExpectation, lookupExpectation } from "./lookup-oracle.ts";
import { type PageAnswer, pageFault } from "./page-verdict.ts";
import { factsAfter, frameOf, outcomeOf, type Story, tell, tellWrite } from "./story.ts";

/** A lookup of a round, with what the oracle allows for it. */
export interface Asked {
  readonly round: Round;
  readonly lookup: Lookup;
  readonly expected: LookupExpectation;
}

/** Where one lookup of one engine stands. */
interface Reading {
  readonly asked: Asked;
  readonly items: string[];
  after: string | undefined;
  pins: { readonly snapToken: SnapToken; readonly schemaVersion: SchemaVersion } | undefined;
  done: boolean;
}

/** More than any lookup of a case finds. */
const all = 100_000;

/**
 * Asks the engines for all that the questions of a case could be answered by: at once, and page by
 * page with writes, deletes and a new schema between the pages. Gives what is not as the oracle
 * says, and where engines differ. Of each round at most `most` lookups are asked.
 */
export async function lookupDisagreements(
  engines: Readonly<Record<string, Store>>,
  one: LookupCase,
  most: number,
): Promise<readonly string[]> {
  const asked = lookupsToAsk(one, most);
  const names = Object.keys(engines);
  const told = await Promise.all(
    names.map(async (name) => {
      const story = await tell(must(engines[name], "the engine is named"), one);
      return { name, ...(await askAll(story, asked, one)) };
    }),
  );
  const found = told.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`));
  const [first, ...others] = told;
  for (const other of others) {
    for (const [place, answers] of must(first, "there is an engine").answers.entries()) {
      const theirs = other.answers[place] ?? [];
      if (JSON.stringify(answers) === JSON.stringify(theirs)) continue;
      const { lookup } = must(asked[place], "every answer has a question");
      found.push(
        `${lookupText(lookup)}: ${first?.name} answers ${JSON.stringify(answers)}, ` +
          `${other.name} ${JSON.stringify(theirs)}`,
      );
    }
  }
  return found;
}

/** Such that every kind of answer gets its share. */
export function lookupsToAsk(one: LookupCase, most: number): readonly Asked[] {
  const schemas = one.schemas.map(compileSchemaText);
  return one.rounds.flatMap((round) => {
    const schema = must(schemas[round.schema ?? schemas.length - 1], "the round names a schema");
    const facts = factsAfter(one.writes, round.after);
    const frame = { schema, facts, context: round.context, depth: round.depth };
    const candidates = lookupsOf(round.items, one.scopes).slice(0, most * 4);
    const expected = candidates.map((lookup): Asked => ({
      round,
      lookup,
      expected: lookupExpectation(lookup, frame),
    }));
    const kinds = Object.values(Object.groupBy(expected, kindOf));
    const inTurn = Array.from({ length: candidates.length }, (_, turn) =>
      kinds.flatMap((kind) => kind?.[turn] ?? []),
    );
    return inTurn.flat().slice(0, most);
  });
}

function kindOf({ lookup, expected }: Asked): string {
  if (expected.kind === "refused") return "refused";
  const outcomes = [...expected.outcomes.values()].map((one) => [...one].join(" or "));
  const kinds = new Set(outcomes.map((one) => (one.includes("_") ? "error" : one)));
  return `${lookup.kind} ${[...kinds].toSorted().join(", ")}`;
}

/** The answers of one engine: of each lookup the whole first, then its pages. */
async function askAll(
  story: Story,
  asked: readonly Asked[],
  { pageSizes, meanwhile }: LookupCase,
): Promise<{ readonly answers: readonly (readonly PageAnswer[])[]; readonly faults: string[] }> {
  const faults: string[] = [];
  const answers: PageAnswer[][] = asked.map(() => []);
  const read = async (readings: readonly Reading[], limit: number): Promise<void> => {
    await Promise.all(
      readings.map(async (reading, place) => {
        if (reading.done) return;
        const { lookup, expected } = reading.asked;
        const { after } = reading;
        const answer = await readPage(story, reading, limit);
        answers[place]?.push(answer);
        const fault = pageFault(expected, { after, limit }, answer);
        if (fault === undefined) return;
        const page = `after ${after ?? "nothing"}, at most ${limit}`;
        faults.push(`${lookupText(lookup)} (${page}): ${fault}, got ${JSON.stringify(answer)}`);
      }),
    );
  };
  const whole = asked.map(readingOf);
  await read(whole, all);
  const paged = asked.map(readingOf);
  for (let turn = 0; paged.some(({ done }) => !done); turn += 1) {
    await read(paged, pageSizes[turn % pageSizes.length] ?? 1);
    if (turn === 0) await story.store.schemas.write(story.tenant, { text: "entity stranger {}" });
    await change(story, meanwhile[turn]);
  }
  for (const [place, reading] of paged.entries()) {
    const unpaged = whole[place]?.items.join(" ");
    const isError = answers[place]?.some(({ kind }) => kind === "error") === true;
    if (isError || reading.items.join(" ") === unpaged) continue;
    const { lookup } = reading.asked;
    faults.push(`${lookupText(lookup)}: at once ${unpaged}, in pages ${reading.items.join(" ")}`);
  }
  return { answers, faults };
}

function readingOf(asked: Asked): Reading {
  return { asked, items: [], after: undefined, pins: undefined, done: false };
}

async function readPage(story: Story, reading: Reading, limit: number): Promise<PageAnswer> {
  try {
    const { items, next, snapToken, schemaVersion } = await lookUp(story, reading, limit);
    reading.items.push(...items);
    reading.after = next;
    reading.done = next === undefined;
    reading.pins = { snapToken, schemaVersion };
    return { kind: "page", items, next };
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    reading.done = true;
    return { kind: "error", outcome: outcomeOf(error.code) };
  }
}

async function lookUp(
  story: Story,
  { asked: { round, lookup }, after, pins }: Reading,
  limit: number,
): Promise<LookupPage> {
  const { store, tenant } = story;
  const frame: LookupFrame = { ...frameOf(story, round), after, limit, ...pins };
  if (lookup.kind === "subjects")
    return await store.lookups.subjects(tenant, { ...frame, ...lookup });
  const scope = new Map(Object.entries(lookup.scope));
  return await store.lookups.entities(tenant, { ...frame, ...lookup, scope });
}

/** A write, and then all that stands about some of the types that it wrote about goes. */
export async function change(story: Story, write: Write | undefined): Promise<void> {
  if (write === undefined) return;
  await tellWrite(story, write);
  for (const { entity } of write.tuples.slice(0, 2)) {
    const about = { type: entity.type, ids: [] };
    await story.store.data.delete(story.tenant, {
      tuples: { entity: about, relation: "", subject: { type: "", ids: [], relation: "" } },
      attributes: { entity: about, attributes: [] },
    });
  }
}

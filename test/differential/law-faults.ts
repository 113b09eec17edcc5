import { emptyContext } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { CheckItem, Store } from "../../src/store/store.ts";
import { askedNames, askedSubjects } from "./asked-names.ts";
import { itemText, type Round } from "./case.ts";
import type { Engines } from "./engines.ts";
import { type FormsCase, type FormsFacts, joinedFacts } from "./forms-case.ts";
import { KnownAnswers } from "./known-answers.ts";
import { type Change, type LawName, laws, type World } from "./laws.ts";
import type { Outcome } from "./oracle.ts";
import { evenShares } from "./samples.ts";
import { modelOf, modelText } from "./schema-model.ts";
import { ask, askSingly, tell } from "./story.ts";

/** A case with a law by which it is changed; `chances` decide what the law leaves open. */
export interface LawCase {
  readonly one: FormsCase;
  readonly law: LawName;
  readonly chances: readonly number[];
}

const depth = 100;
/** Of a case: those that are answered, together, and those that fail, one by one. */
const asked = { answered: 60, failing: 2 };

/** Where an engine, or the oracle, answers otherwise after a change that says the same. */
export async function lawFaults(
  { memory, postgres }: Engines,
  given: LawCase,
): Promise<readonly string[]> {
  const { before, after } = worldsOf(given);
  const known = knownAnswers(given.one, modelText(before.model), before.facts);
  const later = knownAnswers(given.one, modelText(after.model), after.facts);
  const all = itemsOf(known, before.facts);
  const answered = shares(
    known,
    all.filter((item) => known.isAnswered(item)),
    asked.answered,
  );
  const failing = shares(
    known,
    all.filter((item) => isFailing(known, item)),
    asked.failing,
  );
  const byOracle = answered
    .filter((item) => known.outcomes(item).join(" ") !== later.outcomes(after.item(item)).join(" "))
    .map(
      (item) =>
        `oracle: ${itemText(item)} is ${known.outcomes(item).join(" or ")}, then ${later.outcomes(after.item(item)).join(" or ")}`,
    );
  const ofStores = await Promise.all(
    Object.entries({ memory, postgres }).map(async ([name, store]) => {
      const pair = [
        await answersOf(store, before, { answered, failing, data: given.one.data }),
        await answersOf(store, after, {
          answered: answered.map(after.item),
          failing: failing.map(after.item),
          data: given.one.data,
        }),
      ];
      return [...answered, ...failing].flatMap((item, place) => {
        const [first, second] = pair.map((answers) => sameErrors(answers[place]));
        return first === second ? [] : [`${name}: ${itemText(item)} is ${first}, then ${second}`];
      });
    }),
  );
  return [...byOracle, ...ofStores.flat()];
}

/** The case and what the law makes of it, as text. */
export function lawCaseText(given: LawCase): string {
  const { before, after } = worldsOf(given);
  const facts = (one: World): string => JSON.stringify(one.facts);
  return [
    given.law,
    modelText(before.model),
    facts(before),
    "becomes",
    modelText(after.model),
    facts(after),
    `as JSON: ${JSON.stringify(given)}`,
  ].join("\n");
}

function worldsOf({ one, law, chances }: LawCase): {
  readonly before: World;
  readonly after: Change;
} {
  const before = { model: modelOf(one.schema), facts: joinedFacts(one.first, one.rest) };
  let place = 0;
  const chance = (below: number): number => {
    const next = chances[place % chances.length] ?? 0;
    place += 1;
    return next % below;
  };
  return { before, after: laws[law](before, { one: chance }) };
}

function knownAnswers({ data }: FormsCase, text: string, facts: FormsFacts): KnownAnswers {
  return new KnownAnswers(compileSchemaText(text), { facts, data, depth });
}

function itemsOf({ schema }: KnownAnswers, facts: FormsFacts): readonly CheckItem[] {
  const subjects = askedSubjects(schema, facts);
  return askedNames(schema, facts).flatMap(({ entity, permission, arguments: names }) =>
    subjects
      // A userset is told by its name, which a law may split or change.
      .filter(({ relation }) => relation === "")
      .map((subject) => ({ entity, permission, subject, arguments: names })),
  );
}

function shares(
  known: KnownAnswers,
  items: readonly CheckItem[],
  most: number,
): readonly CheckItem[] {
  return evenShares(items, most, (item) => known.of(item).because);
}

function isFailing(known: KnownAnswers, item: CheckItem): boolean {
  return known.outcomes(item).every((one) => one !== "allowed" && one !== "denied");
}

/** Which of several errors is told may differ. */
function sameErrors(outcome: Outcome | undefined): string {
  return outcome === "allowed" || outcome === "denied" ? outcome : "an error";
}

async function answersOf(
  store: Store,
  { model, facts }: World,
  questions: {
    readonly answered: readonly CheckItem[];
    readonly failing: readonly CheckItem[];
    readonly data: FormsCase["data"];
  },
): Promise<readonly Outcome[]> {
  const story = await tell(store, {
    schemas: [modelText(model)],
    writes: [{ schema: 0, ...facts }],
  });
  const context = { ...emptyContext, data: questions.data };
  const round = (items: readonly CheckItem[]): Round => ({
    schema: null,
    after: null,
    depth,
    context,
    items,
  });
  const { answered, failing } = questions;
  const together = answered.length === 0 ? [] : await ask(story, round(answered));
  return [...together, ...(await askSingly(story, round(failing)))];
}

import { must } from "../../src/base/assert.ts";
import { PembaError } from "../../src/base/error.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import { type Asked, checksToAsk } from "../differential/agreement.ts";
import { itemText, type Round } from "../differential/case.ts";
import type { LookupCase } from "../differential/lookup-case.ts";
import { expectation, type Outcome } from "../differential/oracle.ts";
import {
  ask,
  askSingly,
  factsAfter,
  frameOf,
  outcomeOf,
  type Story,
} from "../differential/story.ts";
import { type AskStory, firstFault } from "./trial.ts";

/** Of each round. */
const itemsAsked = 10;
/** Of those, alone: statements for one item look alike. */
const singlesAsked = 4;
const subjectsAsked = 3;

/** The checks of the rounds of a case, together and one by one. */
export function checksOf(one: LookupCase): AskStory {
  const schemas = one.schemas.map(compileSchemaText);
  const asked = one.rounds.map((round) => ({
    round,
    asked: checksToAsk(one, round, schemas, itemsAsked),
  }));
  return async (story) =>
    (await firstFault(asked, (part) => bulkFault(story, part.round, part.asked))) ??
    (await firstFault(asked, (part) => singleFault(story, part.round, part.asked)));
}

/** A bulk of those that can't fail: one statement, and the cheapest question. */
async function bulkFault(
  story: Story,
  round: Round,
  all: readonly Asked[],
): Promise<string | undefined> {
  const asked = all.filter(cannotFail);
  if (asked.length === 0) return undefined;
  const items = asked.map(({ item }) => item);
  return faultOf(asked, await ask(story, { ...round, items }));
}

/** Those that can fail, which no bulk has, and some of the others. */
async function singleFault(
  story: Story,
  round: Round,
  all: readonly Asked[],
): Promise<string | undefined> {
  const asked = all
    .toSorted((a, b) => Number(cannotFail(a)) - Number(cannotFail(b)))
    .slice(0, singlesAsked);
  const items = asked.map(({ item }) => item);
  return faultOf(asked, await askSingly(story, { ...round, items }));
}

function faultOf(asked: readonly Asked[], outcomes: readonly Outcome[]): string | undefined {
  for (const [place, { item, expected }] of asked.entries()) {
    const outcome = outcomes[place];
    if (outcome !== undefined && expected.outcomes.has(outcome)) continue;
    return `${itemText(item)}: ${outcome}, not ${[...expected.outcomes].join(" or ")}`;
  }
  return undefined;
}

function cannotFail({ expected }: Asked): boolean {
  return [...expected.outcomes].every(isAnswer);
}

function isAnswer(outcome: Outcome): boolean {
  return outcome === "allowed" || outcome === "denied";
}

/** All permissions and relations that a subject has on an entity. */
export function subjectPermissionsOf(one: LookupCase): AskStory {
  const schemas = one.schemas.map(compileSchemaText);
  const asked = one.rounds.flatMap((round) => {
    const schema = must(schemas[round.schema ?? schemas.length - 1], "the round names a schema");
    const facts = factsAfter(one.writes, round.after);
    return round.items.slice(0, subjectsAsked).map(({ entity, subject }) => {
      const definition = schema.entities.get(entity.type);
      const names = [
        ...(definition?.permissions.keys() ?? []),
        ...(definition?.relations.keys() ?? []),
      ];
      const expected = new Map(
        names.map((permission) => {
          const question = { schema, facts, context: round.context, entity, permission, subject };
          return [permission, expectation(question, round.depth).outcomes] as const;
        }),
      );
      return { round, entity, subject, expected };
    });
  });
  return async (story) =>
    await firstFault(asked, async ({ round, entity, subject, expected }) => {
      const question = { ...frameOf(story, round), entity, subject, onlyPermission: false };
      try {
        const { store, tenant } = story;
        const answers = await store.permissions.subjectPermissions(tenant, question);
        if (answers.size !== expected.size) return `${answers.size} names of ${expected.size}`;
        for (const [name, outcomes] of expected) {
          const outcome = answers.get(name)?.allowed === true ? "allowed" : "denied";
          if (!outcomes.has(outcome)) return `${name}: ${outcome}`;
        }
        return undefined;
      } catch (error) {
        if (!(error instanceof PembaError)) throw error;
        const outcome = outcomeOf(error.code);
        const isAllowed = [...expected.values()].some((outcomes) => outcomes.has(outcome));
        return isAllowed || (expected.size === 0 && outcome === "refused") ? undefined : outcome;
      }
    });
}

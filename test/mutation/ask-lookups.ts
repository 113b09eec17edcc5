import { PembaError } from "../../src/base/error.ts";
import type { LookupPage } from "../../src/store/store.ts";
import { type Asked, lookupsToAsk } from "../differential/lookup-agreement.ts";
import { type LookupCase, lookupText } from "../differential/lookup-case.ts";
import { pageFault } from "../differential/page-verdict.ts";
import { frameOf, outcomeOf, type Story } from "../differential/story.ts";
import { type AskStory, firstFault } from "./trial.ts";

/** Of each round. */
const lookupsAsked = 4;

/** More than any lookup of a case finds. */
const all = 100_000;

/** The lookups of a case, at once and page by page. */
export function lookupsOf(one: LookupCase): AskStory {
  const asked = lookupsToAsk(one, lookupsAsked);
  return async (story) =>
    (await firstFault(asked, (each) => readingFault(story, each, [all]))) ??
    (await firstFault(asked, (each) => readingFault(story, each, one.pageSizes)));
}

/** Reads a lookup to its end, or to its first error. */
async function readingFault(
  story: Story,
  { round, lookup, expected }: Asked,
  pageSizes: readonly number[],
): Promise<string | undefined> {
  let after: string | undefined;
  for (let turn = 0; turn === 0 || after !== undefined; turn += 1) {
    const limit = pageSizes[turn % pageSizes.length] ?? 1;
    const page = { ...frameOf(story, round), after, limit };
    const look = async (): Promise<LookupPage> => {
      const { lookups } = story.store;
      return lookup.kind === "entities"
        ? await lookups.entities(story.tenant, { ...lookup, scope: scopeOf(lookup.scope), ...page })
        : await lookups.subjects(story.tenant, { ...lookup, ...page });
    };
    try {
      const { items, next } = await look();
      const fault = pageFault(expected, page, { kind: "page", items, next });
      if (fault !== undefined) return `${lookupText(lookup)}: ${fault}`;
      after = next;
    } catch (error) {
      if (!(error instanceof PembaError)) throw error;
      const outcome = outcomeOf(error.code);
      const fault = pageFault(expected, page, { kind: "error", outcome });
      return fault === undefined ? undefined : `${lookupText(lookup)}: ${fault}`;
    }
  }
  return undefined;
}

function scopeOf(
  scope: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(scope));
}

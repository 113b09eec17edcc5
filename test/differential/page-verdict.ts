import type { LookupExpectation } from "./lookup-oracle.ts";
import type { Outcome } from "./oracle.ts";

/** What an engine gave for a page of a lookup. */
export type PageAnswer =
  | { readonly kind: "page"; readonly items: readonly string[]; readonly next: string | undefined }
  | { readonly kind: "error"; readonly outcome: Outcome };

export interface PageAsked {
  readonly after: string | undefined;
  readonly limit: number;
}

/** What is wrong with a page, or undefined when the contract allows it. */
export function pageFault(
  expected: LookupExpectation,
  asked: PageAsked,
  answer: PageAnswer,
): string | undefined {
  if (expected.kind === "refused") {
    const isRefused = answer.kind === "error" && expected.outcomes.has(answer.outcome);
    return isRefused ? undefined : `it should be ${[...expected.outcomes].join(" or ")}`;
  }
  const ahead = [...expected.outcomes]
    .filter(([id]) => asked.after === undefined || isBefore(asked.after, id))
    .map(([id, outcomes]): Ahead => ({ id, outcomes }));
  return answer.kind === "error"
    ? errorFault(ahead, asked.limit, answer.outcome)
    : itemsFault(ahead, asked.limit, answer);
}

interface Ahead {
  readonly id: string;
  readonly outcomes: ReadonlySet<Outcome>;
}

/** An id may fail the page when the page, or the look for what follows it, comes as far. */
function errorFault(ahead: readonly Ahead[], limit: number, outcome: Outcome): string | undefined {
  let certain = 0;
  for (const { outcomes } of ahead) {
    if (outcomes.has(outcome)) return undefined;
    if (outcomes.size === 1 && outcomes.has("allowed")) certain += 1;
    if (certain > limit) break;
  }
  return `no id of the page may fail with ${outcome}`;
}

function itemsFault(
  ahead: readonly Ahead[],
  limit: number,
  { items, next }: Extract<PageAnswer, { kind: "page" }>,
): string | undefined {
  if (items.length > limit) return `there are ${items.length} items of at most ${limit}`;
  if (next !== undefined && items.length === 0)
    return "a page without items says that more follows";
  if (items.some((id, place) => place > 0 && !isBefore(items[place - 1] ?? "", id))) {
    return "the items are not in ascending order";
  }
  const known = new Set(ahead.map(({ id }) => id));
  const strange = items.find((id) => !known.has(id));
  if (strange !== undefined) return `\`${strange}\` is not known, or not behind the page before`;
  const last = items.at(-1);
  if (next !== undefined && last !== undefined && isBefore(next, last)) {
    return "the next page would repeat an item";
  }
  const given = new Set(items);
  for (const { id, outcomes } of ahead) {
    if (next !== undefined && isBefore(next, id)) break;
    const wanted = given.has(id) ? "allowed" : "denied";
    if (!outcomes.has(wanted)) return `\`${id}\` should be ${[...outcomes].join(" or ")}`;
  }
  const canFollow = ahead.some(
    ({ id, outcomes }) =>
      next !== undefined && isBefore(next, id) && !(outcomes.size === 1 && outcomes.has("denied")),
  );
  return next === undefined || canFollow ? undefined : "nothing follows, but the page says so";
}

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

import { assert } from "../../base/assert.ts";
import type { SchemaVersion, SnapToken } from "../../base/tuple.ts";
import { questionKey, questionOf } from "../../plan/question-of.ts";
import { lookupEntityCheck, lookupSubjectCheck, type LookupCheck } from "../question-checks.ts";
import { bringsContext, itemKey, type SingleCheck } from "../single-check.ts";
import type {
  CheckAnswer,
  CheckItem,
  LookupEntityQuestion,
  LookupFrame,
  LookupPage,
  LookupSubjectQuestion,
} from "../store.ts";

/** A question of the present state whose answer may be kept. */
export interface PresentQuestion {
  readonly kind: "check" | "entities" | "subjects";
  /** What is checked. The id that a lookup looks for is empty. */
  readonly item: CheckItem;
  /** How the request spells the fields of the item. */
  readonly path: (field: string) => string;
  readonly schemaVersion: SchemaVersion | undefined;
  readonly signal: AbortSignal | undefined;
  /** Equal for questions of one tenant that have the same plan. */
  readonly plan: string;
  /** Of those with the same plan, version and depth: equal for equal questions. */
  readonly key: string;
}

/** What is kept of an answer. */
export type KeptValue =
  | ({ readonly kind: "check" } & Pick<CheckAnswer, "allowed" | "nodes">)
  /** A whole lookup, as one text: an array of ids would take three times the memory. */
  | { readonly kind: "lookup"; readonly ids: string; readonly snapToken: SnapToken };

/** The answer of a question of the present state. */
export type PresentAnswer = KeptValue & {
  readonly schemaVersion: SchemaVersion;
  /** Of the tail of the tenant, where it is known to hold. */
  position: number;
};

/** An answer that was found and may be kept. */
export interface KeepableAnswer {
  readonly value: KeptValue;
  readonly schemaVersion: SchemaVersion;
  /** See `CheckAnswer`. */
  readonly shown: string | undefined;
}

/** How the answers of a kind of question are kept and given. */
export interface Keeping<Answer> {
  /** Undefined if this one is not to be kept. */
  readonly keepable: (answer: Answer) => KeepableAnswer | undefined;
  readonly given: (kept: PresentAnswer) => Answer;
}

export const checkKeeping: Keeping<readonly CheckAnswer[]> = {
  keepable: ([answer]) => {
    if (answer?.schemaVersion === undefined) return undefined;
    const { allowed, nodes, schemaVersion, shown } = answer;
    return { value: { kind: "check", allowed, nodes }, schemaVersion, shown };
  },
  given: (kept) => {
    assert(kept.kind === "check", "keys tell checks from lookups");
    return [kept];
  },
};

/** Ends each id of a list. No id has it. */
const idEnd = " ";

/**
 * Of a page behind which there are more, the token is needed: a page that is read with it must be of the same state.
 * So only whole lookups are kept.
 */
export const lookupKeeping: Keeping<LookupPage> = {
  keepable: ({ items, next, snapToken, schemaVersion, shown }) => {
    if (next !== undefined) return undefined;
    // The text of a list of one id is its own as well: the id itself may be a part of a far longer text.
    const ids = [...items, ""].join(idEnd);
    return { value: { kind: "lookup", ids, snapToken }, schemaVersion, shown };
  },
  given: (kept) => {
    assert(kept.kind === "lookup", "keys tell lookups from checks");
    const { ids, snapToken, schemaVersion } = kept;
    const items = ids.split(idEnd).slice(0, -1);
    return { items, next: undefined, snapToken, schemaVersion };
  },
};

/** With more, a question is not kept. What is no rule takes any arguments, and they are part of its key. */
const argumentsMax = 100;

/** Undefined for a check whose answer is not kept. */
export function presentCheck({ item, question }: SingleCheck): PresentQuestion | undefined {
  const { schemaVersion, depth, signal } = question;
  if (item.arguments.length > argumentsMax) return undefined;
  return {
    kind: "check",
    item,
    path: (field) => question.path(0, field),
    schemaVersion,
    signal,
    plan: questionKey(questionOf(item)),
    key: `${schemaVersion ?? ""}|${depth}|${itemKey(item)}`,
  };
}

/** Undefined for a lookup whose answer is not kept. */
export function presentEntityLookup(question: LookupEntityQuestion): PresentQuestion | undefined {
  const isLimited = question.scope.size > 0;
  return isLimited ? undefined : presentLookup("entities", question, lookupEntityCheck(question));
}

/** Undefined for a lookup whose answer is not kept. */
export function presentSubjectLookup(question: LookupSubjectQuestion): PresentQuestion | undefined {
  return presentLookup("subjects", question, lookupSubjectCheck(question));
}

function presentLookup(
  kind: "entities" | "subjects",
  frame: LookupFrame,
  { itemOf, path }: LookupCheck,
): PresentQuestion | undefined {
  const { snapToken, after, resumable = false, schemaVersion, depth, limit, signal } = frame;
  if (snapToken !== undefined || after !== undefined || resumable || bringsContext(frame)) {
    return undefined;
  }
  const item = itemOf("");
  if (item.arguments.length > argumentsMax) return undefined;
  return {
    kind,
    item,
    path,
    schemaVersion,
    signal,
    plan: `${kind} ${questionKey(questionOf(item))}`,
    key: `${schemaVersion ?? ""}|${depth}|${limit}|${itemKey(item)}`,
  };
}

import type { Attribute, Context, Subject, Tuple } from "../../src/base/tuple.ts";
import type { CheckItem } from "../../src/store/store.ts";

/**
 * One tenant's story: schemas, then writes, then questions. Plain JSON, so that a counterexample
 * can be kept in test/regressions and replayed.
 */
export interface Case {
  /** What the case is about, for those that are kept. */
  readonly about?: string;
  /** Texts in the order of their versions; the last one is the head. */
  readonly schemas: readonly string[];
  readonly writes: readonly Write[];
  readonly rounds: readonly Round[];
}

export interface Write {
  /** Index of the schema that the write is checked against. */
  readonly schema: number;
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
}

/** Questions that share everything that a bulk-check shares. */
export interface Round {
  /** Index of the schema that is pinned, or null for the head. */
  readonly schema: number | null;
  /** Index of the write whose snapshot is pinned, or null for the head. */
  readonly after: number | null;
  readonly depth: number;
  readonly context: Context;
  readonly items: readonly CheckItem[];
}

/** The case as one would tell it: schemas, data and questions as text. */
export function caseText(one: Case): string {
  return [
    ...one.schemas.map((text, index) => `schema ${index}:\n${text}`),
    ...one.writes.map((write, index) =>
      [`write ${index} (schema ${write.schema}):`, ...factLines(write)].join("\n  "),
    ),
    ...one.rounds.map((round, index) =>
      [
        `round ${index} (schema ${round.schema ?? "head"}, after ${round.after ?? "all writes"}, ` +
          `depth ${round.depth}, data ${JSON.stringify(round.context.data)}):`,
        ...factLines(round.context).map((line) => `with ${line}`),
        ...round.items.map((item) => `${itemText(item)} ?`),
      ].join("\n  "),
    ),
    `as JSON: ${JSON.stringify(one)}`,
  ].join("\n");
}

export function itemText(item: CheckItem): string {
  const names = item.arguments.length > 0 ? `(${item.arguments.join(", ")})` : "";
  return `${item.entity.type}:${item.entity.id} ${item.permission}${names} ${subjectText(item.subject)}`;
}

function factLines(facts: {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
}): readonly string[] {
  return [...facts.tuples.map(tupleText), ...facts.attributes.map(attributeText)];
}

export function tupleText({ entity, relation, subject }: Tuple): string {
  return `${entity.type}:${entity.id}#${relation}@${subjectText(subject)}`;
}

export function attributeText({ entity, attribute, value }: Attribute): string {
  return `${entity.type}:${entity.id}$${attribute}|${value.type}:${JSON.stringify(value.data)}`;
}

export function subjectText(subject: Subject): string {
  return `${subject.type}:${subject.id}${subject.relation && `#${subject.relation}`}`;
}

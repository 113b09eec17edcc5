import type { Attribute, Tuple } from "../../src/base/tuple.ts";
import type { TailChange } from "../../src/store/layer/tail.ts";
import type { CheckItem } from "../../src/store/store.ts";
import { attributeText, itemText, tupleText } from "./case.ts";
import type { Facts } from "./ground.ts";

/** Schemas with data, and questions with changes that come after their answers. Plain JSON. */
export interface FootprintCase {
  /** Texts in the order of their versions. The data may be of any of them. */
  readonly schemas: readonly string[];
  /** No tuple stands twice. */
  readonly facts: Facts;
  readonly questions: readonly ChangedQuestion[];
}

/** What is asked, as a check and as both lookups, before and after each of the changes alone. */
export interface ChangedQuestion {
  /** Index of the schema that it is asked under. */
  readonly schema: number;
  readonly depth: number;
  readonly item: CheckItem;
  readonly changes: readonly FactChange[];
}

type Fact =
  | { readonly kind: "tuple"; readonly tuple: Tuple }
  | { readonly kind: "attribute"; readonly attribute: Attribute };

/** What is written is new, or another value of an attribute, or there already. */
export type FactChange = Fact & { readonly written: boolean };

/** The facts after the change. */
export function changed({ tuples, attributes }: Facts, change: FactChange): Facts {
  const key = factKey(change);
  const others: Facts = {
    tuples: tuples.filter((tuple) => factKey({ kind: "tuple", tuple }) !== key),
    attributes: attributes.filter((attribute) => factKey({ kind: "attribute", attribute }) !== key),
  };
  if (!change.written) return others;
  return change.kind === "tuple"
    ? { ...others, tuples: [...others.tuples, change.tuple] }
    : { ...others, attributes: [...others.attributes, change.attribute] };
}

/** Equal for tuples that are equal, and for values of one attribute. */
export function factKey(fact: Fact): string {
  const { entityType, entityId, name, subject } = tailChange(fact);
  const { type, id, relation } = subject ?? { type: "", id: "", relation: "" };
  return JSON.stringify([entityType, entityId, name, type, id, relation]);
}

/** A change of the fact as the tail of a tenant tells it. */
export function tailChange(fact: Fact): TailChange {
  if (fact.kind === "tuple") {
    const { entity, relation, subject } = fact.tuple;
    return { entityType: entity.type, name: relation, entityId: entity.id, subject };
  }
  const { entity, attribute } = fact.attribute;
  return { entityType: entity.type, name: attribute, entityId: entity.id, subject: undefined };
}

export function changeText(change: FactChange): string {
  const fact = change.kind === "tuple" ? tupleText(change.tuple) : attributeText(change.attribute);
  return `${fact} is ${change.written ? "written" : "removed"}`;
}

/** The case as one would tell it. */
export function footprintCaseText(one: FootprintCase): string {
  const { schemas, facts, questions } = one;
  return [
    ...schemas.map((text, index) => `schema ${index}:\n${text}`),
    ...facts.tuples.map(tupleText),
    ...facts.attributes.map(attributeText),
    ...questions.map(({ schema, depth, item, changes }) =>
      [
        `${itemText(item)} ? (schema ${schema}, depth ${depth}), and after`,
        ...changes.map(changeText),
      ].join("\n  "),
    ),
    `as JSON: ${JSON.stringify(one)}`,
  ].join("\n");
}

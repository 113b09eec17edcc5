import type { Attribute, Entity, Tuple } from "../../src/base/tuple.ts";

/** Data made by arithmetic, and questions whose answers are known without evaluating anything. */
export interface Dataset {
  /** Names its database; letters and underscores. */
  readonly name: string;
  readonly schema: string;
  /** What the facts follow from: the same key, the same facts. */
  readonly key: string;
  readonly facts: () => Iterable<Fact>;
  readonly classes: readonly QuestionClass[];
}

export type Fact =
  | { readonly kind: "tuple"; readonly tuple: Tuple }
  | { readonly kind: "attribute"; readonly attribute: Attribute };

export interface Question {
  readonly entity: Entity;
  readonly permission: string;
  /** Id of a subject of the type `user`. */
  readonly user: string;
  readonly allowed: boolean;
}

/** Which entities of a type may the user access, or which users may access the entity? */
export type Lookup = { readonly permission: string } & (
  | { readonly kind: "entities"; readonly entityType: string; readonly user: string }
  | { readonly kind: "subjects"; readonly entity: Entity }
);

/** Questions that cost about the same. */
export interface QuestionClass {
  readonly name: string;
  readonly questions: readonly Question[];
}

/** `type:id#relation@type:id`, or `@type:id#relation` for a userset. */
export function fact(entity: Entity, relation: string, subject: Entity, userset = ""): Fact {
  return { kind: "tuple", tuple: { entity, relation, subject: { ...subject, relation: userset } } };
}

/** `count` whole numbers below `size`, far apart, so that neighbours lie on different pages. */
export function spread(size: number, count: number): readonly number[] {
  const step = 0.618_033_988_749_894_9;
  return Array.from({ length: count }, (_, nth) => Math.floor(((nth + 1) * step * size) % size));
}

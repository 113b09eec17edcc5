import type { Attribute, Context, Entity, Subject, Tuple } from "../../base/tuple.ts";
import type { TextPlace } from "./text-place.ts";

/** A value of the file, with the place at which it stands. */
export interface Placed<T> {
  readonly value: T;
  readonly place: TextPlace;
}

/** A model test as it was read: its texts are parsed, nothing is held against the schema yet. */
export interface ModelFile {
  readonly path: string;
  readonly schema: WrittenSchema;
  readonly tuples: readonly Placed<Tuple>[];
  readonly attributes: readonly Placed<Attribute>[];
  readonly scenarios: readonly Scenario[];
}

/** The value of `schema`: a text, or the location of one. */
export interface WrittenSchema {
  readonly text: string;
  readonly place: TextPlace;
  /** The place in the file of a line and a column of the text. */
  readonly placeIn: (line: number, column: number) => TextPlace;
}

export interface Scenario {
  readonly name: string;
  readonly description: string;
  readonly cases: readonly ModelCase[];
}

/** What all asked questions have in common. */
interface CaseFrame {
  readonly depth: number;
  readonly context: Context;
}

export type ModelCase = CheckCase | EntityFilterCase | SubjectFilterCase;

export interface CheckCase extends CaseFrame {
  readonly kind: "check";
  readonly entity: Entity;
  readonly subject: Subject;
  readonly assertions: readonly Assertion<boolean>[];
}

export interface EntityFilterCase extends CaseFrame {
  readonly kind: "entity_filter";
  readonly entityType: string;
  readonly subject: Subject;
  /** Ids of entities. */
  readonly assertions: readonly Assertion<readonly string[]>[];
}

export interface SubjectFilterCase extends CaseFrame {
  readonly kind: "subject_filter";
  readonly entity: Entity;
  readonly subjectType: string;
  readonly subjectRelation: string;
  /** Ids of subjects. */
  readonly assertions: readonly Assertion<readonly string[]>[];
}

/** What a test says about one name: a permission, a relation, a boolean attribute or a rule. */
export interface Assertion<Expected> {
  readonly name: string;
  readonly expected: Expected;
  readonly place: TextPlace;
}

/** The texts of the file's format. */
export function subjectText({ type, id, relation }: Subject): string {
  return relation === "" ? `${type}:${id}` : `${type}:${id}#${relation}`;
}

export function entityText({ type, id }: Entity): string {
  return `${type}:${id}`;
}

import type { Attribute, Tuple } from "../base/tuple.ts";

/**
 * Which tuples a read or a delete is about: those that fit every part. An empty text or list lets
 * everything through, a list any of its ids. Names need not be in the schema.
 */
export interface TupleFilter {
  readonly entity: { readonly type: string; readonly ids: readonly string[] };
  readonly relation: string;
  readonly subject: {
    readonly type: string;
    readonly ids: readonly string[];
    readonly relation: string;
  };
}

/** The same for attributes: `attributes` are names. */
export interface AttributeFilter {
  readonly entity: { readonly type: string; readonly ids: readonly string[] };
  readonly attributes: readonly string[];
}

/** The key of an attribute, without its value. */
export type AttributeName = Pick<Attribute, "entity" | "attribute">;

export function isEmptyTupleFilter({ entity, relation, subject }: TupleFilter): boolean {
  const texts = [entity.type, relation, subject.type, subject.relation];
  return texts.every((text) => text === "") && entity.ids.length + subject.ids.length === 0;
}

export function isEmptyAttributeFilter({ entity, attributes }: AttributeFilter): boolean {
  return entity.type === "" && entity.ids.length + attributes.length === 0;
}

/**
 * The end of tuples by which a read goes through them: the subject when only its ids are known, so
 * that there is an index that gives the order of the pages.
 */
export function leadingEnd(filter: TupleFilter): "entity" | "subject" {
  return filter.entity.ids.length === 0 && filter.subject.ids.length > 0 ? "subject" : "entity";
}

/** Where a tuple stands in a read that goes by that end: the parts in order of their weight. */
export function tuplePlace(tuple: Tuple, end: "entity" | "subject"): readonly string[] {
  const { entity, relation, subject } = tuple;
  return end === "entity"
    ? [entity.id, relation, entity.type, subject.type, subject.relation, subject.id]
    : [subject.id, subject.type, subject.relation, entity.type, relation, entity.id];
}

/** The tuple that stands at a place, its parts not looked at; undefined when that is no place. */
export function tupleAt(place: readonly string[], end: "entity" | "subject"): Tuple | undefined {
  if (place.length !== 6) return undefined;
  const [first = "", second = "", third = "", fourth = "", fifth = "", sixth = ""] = place;
  return end === "entity"
    ? {
        entity: { type: third, id: first },
        relation: second,
        subject: { type: fourth, id: sixth, relation: fifth },
      }
    : {
        entity: { type: fourth, id: sixth },
        relation: fifth,
        subject: { type: second, id: first, relation: third },
      };
}

/** Where an attribute stands in a read. */
export function attributePlace({ entity, attribute }: AttributeName): readonly string[] {
  return [entity.id, attribute, entity.type];
}

/** The attribute that stands at a place, its parts not looked at; undefined when that is no place. */
export function attributeAt(place: readonly string[]): AttributeName | undefined {
  if (place.length !== 3) return undefined;
  const [id = "", attribute = "", type = ""] = place;
  return { entity: { type, id }, attribute };
}

/** Says which tuples a filter selects. */
export function tupleMatcher({
  entity,
  relation,
  subject,
}: TupleFilter): (tuple: Tuple) => boolean {
  const entityIds = new Set(entity.ids);
  const subjectIds = new Set(subject.ids);
  return (tuple) =>
    is(entity.type, tuple.entity.type) &&
    isOneOf(entityIds, tuple.entity.id) &&
    is(relation, tuple.relation) &&
    is(subject.type, tuple.subject.type) &&
    isOneOf(subjectIds, tuple.subject.id) &&
    is(subject.relation, tuple.subject.relation);
}

/** The same for attributes. */
export function attributeMatcher({
  entity,
  attributes,
}: AttributeFilter): (name: AttributeName) => boolean {
  const ids = new Set(entity.ids);
  const names = new Set(attributes);
  return (name) =>
    is(entity.type, name.entity.type) &&
    isOneOf(ids, name.entity.id) &&
    isOneOf(names, name.attribute);
}

function is(wanted: string, name: string): boolean {
  return wanted === "" || wanted === name;
}

function isOneOf(wanted: ReadonlySet<string>, name: string): boolean {
  return wanted.size === 0 || wanted.has(name);
}

/** Negative when `a` stands before `b`. Names and ids are ASCII, so this is the order of bytes. */
export function comparePlaces(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

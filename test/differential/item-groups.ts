import type { CheckItem } from "../../src/store/store.ts";

/** The ids that data name, by type. */
export type NamedIds = (type: string) => readonly string[];

/** Bulks around an item. */
export interface ItemBulks {
  readonly ofSubject: readonly CheckItem[];
  readonly ofEntity: readonly CheckItem[];
  readonly ofSome: readonly CheckItem[];
  readonly mixed: readonly CheckItem[];
}

/**
 * Bulks around an item: of its subject with many entities, of its entity with many subjects, of some
 * subjects with many entities each, and all in turn with repeats. Besides the ids that data name there are some that no data name, so that a bulk has
 * as many of each as an engine wants to answer them together.
 *
 * @param turn chooses how many there are
 */
export function bulksAround(
  item: CheckItem,
  other: CheckItem,
  idsOf: NamedIds,
  turn: number,
): ItemBulks {
  const size = groupMin + (turn % sizes);
  const ofSubject = manyEntities(item, idsOf, size);
  const ofEntity = manySubjects(item, idsOf, size);
  const ofSome = ofEntity.slice(0, 3).flatMap((each) => manyEntities(each, idsOf, size));
  const mixed = inTurn([
    ofSubject,
    manyEntities(other, idsOf, size),
    ofEntity,
    [item, other, item],
  ]);
  return { ofSubject, ofEntity, ofSome, mixed };
}

/** Less than an engine answers together, and more. */
const groupMin = 14;
const sizes = 10;

function manyEntities(item: CheckItem, idsOf: NamedIds, size: number): readonly CheckItem[] {
  const { type } = item.entity;
  return enough(item.entity.id, idsOf(type), size).map((id) => ({ ...item, entity: { type, id } }));
}

function manySubjects(item: CheckItem, idsOf: NamedIds, size: number): readonly CheckItem[] {
  const { subject } = item;
  return enough(subject.id, idsOf(subject.type), size).map((id) => ({
    ...item,
    subject: { ...subject, id },
  }));
}

/** The first one and known ones, and ids that no data name up to that size. */
function enough(first: string, known: readonly string[], size: number): readonly string[] {
  const named = [...new Set([first, ...known])];
  const strange = Array.from({ length: Math.max(1, size - named.length) }, (_, nth) => `x${nth}`);
  return [...named, ...strange];
}

function inTurn<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const most = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: most }, (_, nth) =>
    lists.flatMap((list) => list.slice(nth, nth + 1)),
  ).flat();
}

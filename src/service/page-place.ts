import type { Tuple } from "../base/tuple.ts";
import {
  type AttributeFilter,
  attributeAt,
  attributeMatcher,
  leadingEnd,
  type TupleFilter,
  tupleAt,
  tupleMatcher,
} from "../store/filter.ts";
import { idPattern, namePattern } from "./field.ts";

/** Whether a page of the tuples that a filter lets through can end at the place. */
export function isTuplePlace(filter: TupleFilter, place: readonly string[]): boolean {
  const tuple = tupleAt(place, leadingEnd(filter));
  return tuple !== undefined && isTuple(tuple) && tupleMatcher(filter)(tuple);
}

/** The same for attributes. */
export function isAttributePlace(filter: AttributeFilter, place: readonly string[]): boolean {
  const name = attributeAt(place);
  return (
    name !== undefined &&
    idPattern.test(name.entity.id) &&
    namePattern.test(name.entity.type) &&
    namePattern.test(name.attribute) &&
    attributeMatcher(filter)(name)
  );
}

function isTuple({ entity, relation, subject }: Tuple): boolean {
  return (
    [entity.id, subject.id].every((id) => idPattern.test(id)) &&
    [entity.type, relation, subject.type].every((name) => namePattern.test(name)) &&
    (subject.relation === "" || namePattern.test(subject.relation))
  );
}

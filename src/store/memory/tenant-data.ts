import type { Attribute, Tuple } from "../../base/tuple.ts";
import type { DataOperation } from "../bundle.ts";
import type { Change } from "../change.ts";
import type { AttributeFilter, AttributeName, TupleFilter } from "../filter.ts";
import { AttributeIndex } from "./attribute-index.ts";
import { ChangeLog } from "./change-log.ts";
import type { Revision } from "./revision.ts";
import { TupleIndex } from "./tuple-index.ts";

/** What a tenant holds, in every state it has had. */
export interface TenantData {
  /** The first state in which there is the tenant. */
  readonly created: Revision;
  /** The first state with all that it holds: no later write changed anything. */
  changed: Revision;
  readonly tuples: TupleIndex;
  readonly attributes: AttributeIndex;
  readonly log: ChangeLog;
}

export function emptyTenantData(created: Revision): TenantData {
  return {
    created,
    changed: created,
    tuples: new TupleIndex(),
    attributes: new AttributeIndex(),
    log: new ChangeLog(),
  };
}

/** Applies operations in their order, as the write that makes a state. Returns what changed. */
export function applyOperations(
  data: TenantData,
  operations: readonly DataOperation[],
  revision: Revision,
): readonly Change[] {
  return operations.flatMap((step) => [
    ...step.tuples.flatMap((tuple) => createTuple(data, tuple, revision)),
    ...step.attributes.flatMap((attribute) => setAttribute(data, attribute, revision)),
    ...step.deletedTuples.flatMap((tuple) => deleteTuple(data, tuple, revision)),
    ...step.deletedAttributes.flatMap((name) => deleteAttribute(data, name, revision)),
  ]);
}

/** What one of the filters lets through. */
export interface FoundBy {
  readonly tuples: readonly TupleFilter[];
  readonly attributes: readonly AttributeFilter[];
}

/** Deletes what one of the filters lets through of the state before. Returns what changed. */
export function deleteFound(data: TenantData, by: FoundBy, revision: Revision): readonly Change[] {
  const before = revision - 1;
  const tuples = by.tuples.flatMap((filter) => [...data.tuples.find(filter, before)]);
  const attributes = by.attributes.flatMap((filter) => [...data.attributes.find(filter, before)]);
  return [
    ...tuples.flatMap((tuple) => deleteTuple(data, tuple, revision)),
    ...attributes.flatMap((attribute) => deleteAttribute(data, attribute, revision)),
  ];
}

function createTuple({ tuples }: TenantData, tuple: Tuple, revision: Revision): readonly Change[] {
  return tuples.create(tuple, revision) ? [{ operation: "create", kind: "tuple", tuple }] : [];
}

function deleteTuple({ tuples }: TenantData, tuple: Tuple, revision: Revision): readonly Change[] {
  return tuples.delete(tuple, revision) ? [{ operation: "delete", kind: "tuple", tuple }] : [];
}

function setAttribute(
  { attributes }: TenantData,
  attribute: Attribute,
  revision: Revision,
): readonly Change[] {
  const former = attributes.get(attribute.entity, attribute.attribute, revision);
  if (!attributes.set(attribute, revision)) return [];
  const created: Change = { operation: "create", kind: "attribute", attribute };
  if (former === undefined) return [created];
  const deleted = { ...attribute, value: former };
  return [{ operation: "delete", kind: "attribute", attribute: deleted }, created];
}

function deleteAttribute(
  { attributes }: TenantData,
  { entity, attribute }: AttributeName,
  revision: Revision,
): readonly Change[] {
  const value = attributes.get(entity, attribute, revision);
  if (value === undefined) return [];
  attributes.delete({ entity, attribute }, revision);
  return [{ operation: "delete", kind: "attribute", attribute: { entity, attribute, value } }];
}

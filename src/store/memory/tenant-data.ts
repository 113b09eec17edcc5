import { Pace, type Steps } from "../../base/steps.ts";
import type { Attribute, Tuple } from "../../base/tuple.ts";
import type { DataOperation } from "../bundle.ts";
import type { Change } from "../change.ts";
import type { AttributeFilter, TupleFilter } from "../filter.ts";
import { AttributeIndex } from "./attribute-index.ts";
import { ChangeLog } from "./change-log.ts";
import type { Revision, Write } from "./revision.ts";
import { TupleIndex } from "./tuple-index.ts";
import { WriteQueue } from "./write-queue.ts";

/** What a tenant holds, in every state it has had. */
export interface TenantData {
  /** The first state in which there is the tenant. */
  readonly created: Revision;
  /** The first state with all that it holds: no later write changed anything. */
  changed: Revision;
  readonly tuples: TupleIndex;
  readonly attributes: AttributeIndex;
  readonly log: ChangeLog;
  /** Writers follow one another: a change may take several time slices. */
  readonly writes: WriteQueue;
}

export function emptyTenantData(created: Revision): TenantData {
  return {
    created,
    changed: created,
    tuples: new TupleIndex(),
    attributes: new AttributeIndex(),
    log: new ChangeLog(),
    writes: new WriteQueue(),
  };
}

/**
 * Applies operations in their order, as parts of a write, and adds to `changes` what changed. One write
 * of a tenant is under way at a time.
 */
export function* applyOperations(
  data: TenantData,
  operations: readonly DataOperation[],
  write: Write,
  changes: Change[],
): Steps<void> {
  const pace = new Pace();
  for (const step of operations) {
    for (const tuple of step.tuples) {
      createTuple(data, tuple, write, changes);
      if (pace.step()) yield;
    }
    for (const attribute of step.attributes) {
      setAttribute(data, attribute, write, changes);
      if (pace.step()) yield;
    }
    for (const tuple of step.deletedTuples) {
      if (data.tuples.delete(tuple, write)) changes.push(deletedTuple(tuple));
      if (pace.step()) yield;
    }
    for (const name of step.deletedAttributes) {
      const value = data.attributes.delete(name, write);
      if (value !== undefined) changes.push(deletedAttribute({ ...name, value }));
      if (pace.step()) yield;
    }
  }
}

/** What one of the filters lets through. */
export interface FoundBy {
  readonly tuples: readonly TupleFilter[];
  readonly attributes: readonly AttributeFilter[];
}

/** Deletes what one of the filters lets through, and adds it to `changes`. */
export function* deleteFound(
  data: TenantData,
  by: FoundBy,
  write: Write,
  changes: Change[],
): Steps<void> {
  yield* data.tuples.deleteFound(by.tuples, write, (tuple) => changes.push(deletedTuple(tuple)));
  yield* data.attributes.deleteFound(by.attributes, write, (attribute) =>
    changes.push(deletedAttribute(attribute)),
  );
}

function createTuple({ tuples }: TenantData, tuple: Tuple, write: Write, changes: Change[]): void {
  if (tuples.create(tuple, write)) changes.push({ operation: "create", kind: "tuple", tuple });
}

function setAttribute(
  { attributes }: TenantData,
  attribute: Attribute,
  write: Write,
  changes: Change[],
): void {
  const former = attributes.set(attribute, write);
  if (former === undefined) return;
  if (former.value !== undefined) {
    changes.push(deletedAttribute({ ...attribute, value: former.value }));
  }
  changes.push({ operation: "create", kind: "attribute", attribute });
}

function deletedTuple(tuple: Tuple): Change {
  return { operation: "delete", kind: "tuple", tuple };
}

function deletedAttribute(attribute: Attribute): Change {
  return { operation: "delete", kind: "attribute", attribute };
}

import { type ErrorDetail, PembaError } from "../base/error.ts";
import type { Steps } from "../base/steps.ts";
import { tupleText } from "../base/text-notation.ts";
import type { Attribute, SchemaVersion, SnapToken, TenantId, Tuple } from "../base/tuple.ts";
import type { Schema } from "../language/schema.ts";
import type { AttributeFilter, TupleFilter } from "./filter.ts";
import { validateAttributes, validateTuples } from "./validate-data.ts";

/** What must be so before a change is made: a tuple exists or not, or nothing changed since a state. */
export type Precondition =
  | { readonly kind: "tuple"; readonly tuple: Tuple; readonly exists: boolean }
  | { readonly kind: "unchanged"; readonly since: SnapToken };

/** Deletes and writes of one transaction. The deletes come first. */
export interface DataChange {
  /** The schema to validate against; the head when undefined. */
  readonly schemaVersion: SchemaVersion | undefined;
  /** At most one of them is about a state. */
  readonly preconditions: readonly Precondition[];
  /** Each deletes what it lets through. */
  readonly tupleFilters: readonly TupleFilter[];
  readonly attributeFilters: readonly AttributeFilter[];
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
}

export interface DataChangeStore {
  /**
   * Validates against the schema what is written and the tuples of preconditions (errors name the
   * element, such as `write.tuples[3].relation`). Then deletes and writes all or nothing, in one
   * transaction. Fails with PRECONDITION_FAILED when a precondition does not hold. Those that hold are
   * still true when the change is committed. The token names the state right after it.
   */
  change(tenant: TenantId, change: DataChange): Promise<SnapToken>;
}

/** Whether a schema must agree: a delete goes with any, and with none. */
export function needsSchema({ preconditions, tuples, attributes }: DataChange): boolean {
  const isAboutTuples = preconditions.some(({ kind }) => kind === "tuple");
  return isAboutTuples || tuples.length + attributes.length > 0;
}

/**
 * Fails when what is written, or a tuple of a precondition, does not fit the schema: a wrong name in a
 * precondition would make it always true, or never.
 */
export function* validateChange(schema: Schema, change: DataChange): Steps<void> {
  const { tuples, places } = statedTuples(change);
  yield* validateTuples(schema, tuples, (index) => `preconditions[${places[index]}].tuple`);
  yield* validateTuples(schema, change.tuples, (index) => `write.tuples[${index}]`);
  yield* validateAttributes(schema, change.attributes, (index) => `write.attributes[${index}]`);
}

/** The tuples of the preconditions that state the same, with the places of these preconditions. */
export interface StatedTuples {
  readonly tuples: readonly Tuple[];
  readonly places: readonly number[];
}

/** The tuples that must exist, or those that must not; without `exists` all. */
export function statedTuples(change: DataChange, exists?: boolean): StatedTuples {
  const stated = change.preconditions.flatMap((precondition, place) =>
    precondition.kind === "tuple" && (exists === undefined || precondition.exists === exists)
      ? [{ tuple: precondition.tuple, place }]
      : [],
  );
  return { tuples: stated.map(({ tuple }) => tuple), places: stated.map(({ place }) => place) };
}

/** The precondition about a state, and its place; undefined if there is none. */
export function statedState({
  preconditions,
}: DataChange): { readonly since: SnapToken; readonly place: number } | undefined {
  for (const [place, precondition] of preconditions.entries()) {
    if (precondition.kind === "unchanged") return { since: precondition.since, place };
  }
  return undefined;
}

/** How a request names the token of a precondition. */
export function tokenField(place: number): string {
  return `preconditions[${place}].snap_token`;
}

/** Enough for a client to see what it knew wrongly. */
const failuresMax = 100;

/** The error for preconditions that do not hold, by their places, ascending. */
export function preconditionFailed(
  { preconditions }: DataChange,
  places: readonly number[],
): PembaError {
  const details = places.slice(0, failuresMax).flatMap((place): ErrorDetail[] => {
    const failed = preconditions[place];
    if (failed === undefined) return [];
    return failed.kind === "unchanged"
      ? [{ field: tokenField(place), message: "something was changed since this state" }]
      : [{ field: `preconditions[${place}].tuple`, message: found(failed) }];
  });
  const text = details.map(({ field, message }) => `${field}: ${message}`)[0] ?? "";
  return new PembaError("PRECONDITION_FAILED", text, { details });
}

function found({ tuple, exists }: { readonly tuple: Tuple; readonly exists: boolean }): string {
  const text = tupleText(tuple);
  return exists ? `\`${text}\` does not exist` : `\`${text}\` exists, expected that it does not`;
}

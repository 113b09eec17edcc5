import { PembaError } from "../base/error.ts";
import type { Steps } from "../base/steps.ts";
import type { Attribute, Tuple } from "../base/tuple.ts";
import type { Schema } from "../language/schema.ts";
import type { AttributeName } from "./filter.ts";
import { validateAttributes, validateTuples } from "./validate-data.ts";

/** Named operations on data, whose texts have places for arguments. */
export interface Bundle {
  readonly name: string;
  /** The names of the arguments that a run must give. */
  readonly arguments: readonly string[];
  readonly operations: readonly BundleOperation[];
}

/** Templates of tuples and attributes in text notation. */
export interface BundleOperation {
  readonly relationshipsWrite: readonly string[];
  readonly relationshipsDelete: readonly string[];
  readonly attributesWrite: readonly string[];
  readonly attributesDelete: readonly string[];
}

/** What an operation comes to with its arguments; it writes before it deletes. */
export interface DataOperation {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
  readonly deletedTuples: readonly Tuple[];
  readonly deletedAttributes: readonly AttributeName[];
}

export function bundleNotFound(name: string): PembaError {
  return new PembaError("BUNDLE_NOT_FOUND", `no bundle \`${name}\``);
}

/** Whether a schema must agree: a delete goes with any, and with none. */
export function writesAnything(operations: readonly DataOperation[]): boolean {
  return operations.some(({ tuples, attributes }) => tuples.length + attributes.length > 0);
}

/**
 * Fails when what a run would write does not fit the schema, or gives an attribute two values in one
 * operation.
 */
export function* validateOperations(
  schema: Schema,
  bundle: string,
  operations: readonly DataOperation[],
): Steps<void> {
  try {
    for (const [index, { tuples, attributes }] of operations.entries()) {
      const place = (list: string) => (item: number) => `operations[${index}].${list}[${item}]`;
      yield* validateTuples(schema, tuples, place("relationships_write"));
      yield* validateAttributes(schema, attributes, place("attributes_write"));
    }
  } catch (error) {
    throw named(bundle, error);
  }
}

/** What was thrown, with the name of the bundle before what a client did wrong in it. */
export function named(bundle: string, error: unknown): unknown {
  if (!(error instanceof PembaError)) return error;
  const { code, plainMessage, details } = error;
  return new PembaError(code, `bundle \`${bundle}\`: ${plainMessage}`, { details, cause: error });
}

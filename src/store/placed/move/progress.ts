import { assert } from "../../../base/assert.ts";
import type { SourceState } from "./source.ts";

/** What the target has of a tenant, as it is noted there. A copy that broke off goes on from here. */
export interface CopyProgress extends Pick<
  SourceState,
  "files" | "tupleBlocks" | "attributeBlocks"
> {
  /** Every change that this snapshot of the source does not show is still to be followed. */
  readonly shown: string;
  /** The blocks whose tuples and attributes were copied. */
  readonly tupleBlock: number;
  readonly attributeBlock: number;
  /** The last schema version that was copied, or empty. */
  readonly version: string;
}

/** What is noted before anything was copied. */
export function startOf({
  snapshot,
  files,
  tupleBlocks,
  attributeBlocks,
}: SourceState): CopyProgress {
  const blocks = { tupleBlocks, attributeBlocks };
  return { shown: snapshot, files, ...blocks, tupleBlock: 0, attributeBlock: 0, version: "" };
}

/**
 * What is left of a progress when the source is looked at again. If rows have got other places since, for example by
 * a `vacuum full`, all pages are copied again. Rows that are at the target stay.
 */
export function stillTrue(progress: CopyProgress, state: SourceState): CopyProgress {
  if (progress.files === state.files) return progress;
  const { shown, version } = progress;
  return { ...startOf(state), shown, version };
}

/** Whether all pages were copied. */
export function isCopied(progress: CopyProgress): boolean {
  const { tupleBlock, tupleBlocks, attributeBlock, attributeBlocks } = progress;
  return tupleBlock >= tupleBlocks && attributeBlock >= attributeBlocks;
}

/** Reads what `JSON.stringify` has made of a progress. */
export function parseProgress(text: string): CopyProgress {
  const value: unknown = JSON.parse(text);
  assert(typeof value === "object" && value !== null, "a progress is an object");
  const fields = new Map<string, unknown>(Object.entries(value));
  const string = (name: string): string => {
    const field = fields.get(name);
    assert(typeof field === "string", `${name} is text`);
    return field;
  };
  const number = (name: string): number => {
    const field = fields.get(name);
    assert(typeof field === "number", `${name} is a number`);
    return field;
  };
  return {
    shown: string("shown"),
    files: string("files"),
    tupleBlocks: number("tupleBlocks"),
    attributeBlocks: number("attributeBlocks"),
    tupleBlock: number("tupleBlock"),
    attributeBlock: number("attributeBlock"),
    version: string("version"),
  };
}

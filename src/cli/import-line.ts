import { isUtf8 } from "node:buffer";

import { parseTextNotation } from "../base/text-notation.ts";
import { encodeAny } from "../http/shapes/any.ts";

/** The position of a line, for the report. */
export interface LinePosition {
  readonly file: string;
  readonly line: number;
}

/** A line to be written: an element of data/write, as JSON. */
export interface Element {
  readonly kind: "tuple" | "attribute";
  readonly place: LinePosition;
  readonly json: string;
  /** The key of the element. A later line with the same key repeats or replaces it. */
  readonly key: string;
}

export type ImportLine =
  | { readonly kind: "element"; readonly element: Element }
  | { readonly kind: "skipped" }
  | { readonly kind: "refused"; readonly place: LinePosition; readonly reason: string };

/**
 * Parses one line: JSON if it starts with a brace, else text notation. Blank and comment lines are
 * skipped.
 */
export function readLine(bytes: Buffer, place: LinePosition): ImportLine {
  if (!isUtf8(bytes)) return { kind: "refused", place, reason: "is not UTF-8" };
  const text = bytes
    .toString()
    .replace(/^\uFEFF/, "")
    .trim();
  if (text === "" || text.startsWith("#") || text.startsWith("//")) return { kind: "skipped" };
  try {
    return {
      kind: "element",
      element: text.startsWith("{") ? fromJson(text, place) : fromText(text, place),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "refused", place, reason: reason.replace(/^ERROR_CODE_\w+: /, "") };
  }
}

/** Only distinguishes tuples from attributes. The server checks the rest. */
function fromJson(text: string, place: LinePosition): Element {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("is not a JSON object");
  if ("attribute" in value) {
    const entity = "entity" in value ? value.entity : undefined;
    return element("attribute", place, text, [entity, value.attribute]);
  }
  if ("relation" in value) {
    const { relation } = value;
    const entity = "entity" in value ? value.entity : undefined;
    const subject = "subject" in value ? value.subject : undefined;
    return element("tuple", place, text, [entity, relation, subject]);
  }
  throw new Error("has neither `relation` nor `attribute`, expected a tuple or an attribute");
}

function fromText(text: string, place: LinePosition): Element {
  const parsed = parseTextNotation(text);
  if (parsed.kind === "tuple") {
    const { entity, relation, subject } = parsed.tuple;
    const json = JSON.stringify({ entity, relation, subject });
    return element("tuple", place, json, [entity, relation, subject]);
  }
  const { entity, attribute, value } = parsed.attribute;
  const json = JSON.stringify({ entity, attribute, value: encodeAny(value) });
  return element("attribute", place, json, [entity, attribute]);
}

function element(
  kind: Element["kind"],
  place: LinePosition,
  json: string,
  key: readonly unknown[],
): Element {
  return { kind, place, json, key: JSON.stringify([kind, ...key.map(inOrder)]) };
}

/** Entities and subjects with their fields in a fixed order, so that equal ones have equal keys. */
function inOrder(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const at = (field: string): unknown => Reflect.get(value, field) ?? "";
  const relation = at("relation");
  return [at("type"), at("id"), relation === "..." ? "" : relation];
}

/** No element is nearly as long. The limit keeps a file without line ends out of memory. */
export const maxLineBytes = 1024 * 1024;

const newline = 0x0a;

/** A line without its end, or the length of one that is too long. */
export type RawLine =
  | { readonly kind: "line"; readonly bytes: Buffer; readonly length: number }
  | { readonly kind: "overlong"; readonly length: number };

/**
 * Splits a stream into lines. `length` includes the line end, so that the lengths add up to the
 * size.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<RawLine, void, void> {
  let held: Buffer[] = [];
  let length = 0;
  const take = (): RawLine => {
    const line: RawLine =
      length > maxLineBytes
        ? { kind: "overlong", length }
        : { kind: "line", bytes: Buffer.concat(held), length };
    held = [];
    length = 0;
    return line;
  };
  const hold = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxLineBytes) held = [];
    else held.push(piece);
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      hold(chunk.subarray(start, end));
      length += 1;
      yield take();
      start = end + 1;
    }
    hold(chunk.subarray(start));
  }
  if (length > 0) yield take();
}

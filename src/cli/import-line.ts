import { isUtf8 } from "node:buffer";

import { parseTextNotation } from "../base/text-notation.ts";
import { encodeAny } from "../http/shapes/any.ts";
import { fieldOf } from "./client/fields.ts";
import { messageOf, withoutCode } from "./output.ts";

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

/** A line with what is no fact: the body of a request that writes it. */
export interface ImportedPart {
  readonly kind: "schema" | "bundle";
  readonly place: LinePosition;
  readonly body: string;
}

export type ImportLine =
  | { readonly kind: "element"; readonly element: Element }
  | { readonly kind: "part"; readonly part: ImportedPart }
  /** Blank, or a comment. */
  | { readonly kind: "skipped" }
  /** The line that an export begins with, which says what was exported. */
  | { readonly kind: "heading" }
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
    if (text.startsWith("{")) return fromJson(text, place);
    return { kind: "element", element: fromText(text, place) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "refused", place, reason: withoutCode(reason) };
  }
}

/** Only distinguishes what a line has. The server checks the rest. */
function fromJson(text: string, place: LinePosition): ImportLine {
  const value = parsedJson(text);
  const at = (field: string): unknown => fieldOf(value, field);
  const has = (field: string): boolean => at(field) !== undefined;
  if (has("attribute")) {
    const key = [at("entity"), at("attribute")];
    return { kind: "element", element: element("attribute", place, text, key) };
  }
  if (has("relation")) {
    const key = [at("entity"), at("relation"), at("subject")];
    return { kind: "element", element: element("tuple", place, text, key) };
  }
  if (has("schema")) {
    const body = JSON.stringify({ schema: at("schema") });
    return { kind: "part", part: { kind: "schema", place, body } };
  }
  if (has("bundle")) {
    const body = JSON.stringify({ bundles: [at("bundle")] });
    return { kind: "part", part: { kind: "bundle", place, body } };
  }
  if (has("state")) return { kind: "heading" };
  throw new Error(
    "has neither `relation` nor `attribute`, `schema` or `bundle`, expected a tuple or an attribute",
  );
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`is not JSON: ${messageOf(error)}`, { cause: error });
  }
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

/**
 * The server takes no larger request, and what fits into one is not longer in an export. The limit keeps
 * a file without line ends out of memory.
 */
export const maxLineBytes = 4 * 1024 * 1024;

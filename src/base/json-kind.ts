import { quote } from "./quote.ts";
import { parseTextNotation } from "./text-notation.ts";

/** What a value of JSON is, for a message: a list or an object by its kind, another one as it is written. */
export function describeJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  // It was written with an exponent, and is infinite now.
  if (typeof value === "number" && !Number.isFinite(value))
    return "a number that is too large to read";
  return quote(typeof value === "string" ? value : JSON.stringify(value));
}

/** `type:id` or `type:id#relation`. */
const entityText = /^(?<type>[a-zA-Z_]+):(?<id>[^#$]+)(?:#(?<relation>[a-zA-Z_]+))?$/;

/** Of a longer text the object would fill the message. */
const shownLength = 150;

/**
 * `, expected {...}` for text notation such as `document:1` in the place of an object with such fields, with
 * the object that it stands for. "" for anything else.
 */
export function objectForText(value: unknown, fields: readonly string[]): string {
  if (typeof value !== "string" || value.length > shownLength) return "";
  const object = entityText.exec(value)?.groups ?? tupleIn(value) ?? {};
  const json: unknown = JSON.parse(JSON.stringify(object));
  const names = Object.keys(Object(json));
  const fits = names.length > 0 && names.every((name) => fields.includes(name));
  return fits ? `, expected ${JSON.stringify(json)}` : "";
}

function tupleIn(text: string): object | undefined {
  try {
    const element = parseTextNotation(text);
    return element.kind === "tuple" ? element.tuple : undefined;
  } catch {
    return undefined;
  }
}

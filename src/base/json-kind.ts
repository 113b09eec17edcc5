import { quote } from "./quote.ts";

/** What a value of JSON is, for a message: a list or an object by its kind, another one as it is written. */
export function describeJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return quote(typeof value === "string" ? value : JSON.stringify(value));
}

import { shorten } from "../base/quote.ts";
import type { Context, JsonValue } from "../base/tuple.ts";
import { emptyContext } from "../base/tuple.ts";
import { type Absent, invalidField, parseText } from "./field.ts";
import { parseAttribute, parseTuple, type RawAttribute, type RawTuple } from "./request-data.ts";

export interface RawContext {
  readonly tuples?: readonly RawTuple[] | Absent;
  readonly attributes?: readonly RawAttribute[] | Absent;
  readonly data?: { readonly [key: string]: JsonValue } | Absent;
}

/**
 * Deeper data could overflow the stack of code that processes it later, such as the storage driver.
 */
const maxNesting = 64;

/** Parses what a request adds for its own evaluation. Absent means nothing. */
export function parseContext(raw: RawContext | Absent): Context {
  if (raw === undefined || raw === null) return emptyContext;
  const data = raw.data ?? {};
  checkData(data);
  const attributes = (raw.attributes ?? []).map((attribute, index) =>
    parseAttribute(attribute, `context.attributes[${index}]`),
  );
  return {
    tuples: (raw.tuples ?? []).map((tuple, index) => parseTuple(tuple, `context.tuples[${index}]`)),
    attributes,
    data,
  };
}

/** Walks without recursion, because the client chooses the depth of the data. */
function checkData(data: JsonValue): void {
  const open: { readonly value: JsonValue; readonly path: string; readonly level: number }[] = [
    { value: data, path: "context.data", level: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path, level } = next;
    if (typeof value === "string") parseText(value, path);
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw invalidField(path, `\`${value}\` is not a number of JSON`);
    }
    if (typeof value !== "object" || value === null) continue;
    if (level > maxNesting) {
      throw invalidField("context.data", `is nested deeper than ${maxNesting} levels`);
    }
    if (Array.isArray(value)) {
      value.forEach((item: JsonValue, index) =>
        open.push({ value: item, path: `${path}[${index}]`, level: level + 1 }),
      );
      continue;
    }
    for (const [key, item] of Object.entries(value)) {
      parseText(key, path);
      open.push({ value: item, path: `${path}.${shorten(key)}`, level: level + 1 });
    }
  }
}

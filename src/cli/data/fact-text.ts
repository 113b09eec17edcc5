import { isDeepStrictEqual } from "node:util";

import { PembaError } from "../../base/error.ts";
import { parseTextNotation } from "../../base/text-notation.ts";
import type { Attribute, Tuple } from "../../base/tuple.ts";
import { encodeAttribute } from "../../http/shapes/data.ts";

/** Reads a tuple in text notation. Fails with INVALID_ARGUMENT. */
export function parseTuple(text: string): Tuple {
  const element = parseTextNotation(text);
  if (element.kind === "tuple") return element.tuple;
  throw new PembaError("INVALID_ARGUMENT", `\`${text}\` is an attribute, expected a tuple`);
}

/** Reads an attribute in text notation. Fails with INVALID_ARGUMENT. */
export function parseAttribute(text: string): Attribute {
  if (!/[#$]/.test(text)) {
    // A shell takes `$public` for a variable.
    const problem = `\`${text}\` is no attribute, expected \`type:id$attribute|value_type:value\``;
    throw new PembaError("INVALID_ARGUMENT", `${problem}, in single quotes in a shell`);
  }
  const element = parseTextNotation(text);
  if (element.kind === "attribute") return element.attribute;
  throw new PembaError("INVALID_ARGUMENT", `\`${text}\` is a tuple, expected an attribute`);
}

/** Reads an attribute in text notation, with a value or without one. Fails with INVALID_ARGUMENT. */
export function parseAttributeName(text: string): Pick<Attribute, "entity" | "attribute"> {
  const [, type, id, attribute] = /^\s*([^:]*):([^#$]*)\$([^|]*?)\s*$/.exec(text) ?? [];
  return type === undefined || id === undefined || attribute === undefined
    ? parseAttribute(text)
    : { entity: { type, id }, attribute };
}

/** The text notation of a tuple. */
export function tupleText({ entity, relation, subject }: Tuple): string {
  const on = subject.relation === "" ? "" : `#${subject.relation}`;
  return `${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}${on}`;
}

/** The text notation of an attribute, or its JSON if text would be read as another one. */
export function attributeText(attribute: Attribute): string {
  const { entity, attribute: name, value } = attribute;
  const data = Array.isArray(value.data) ? value.data.join(",") : String(value.data);
  const text = `${entity.type}:${entity.id}$${name}|${value.type}:${data}`;
  return isSame(text, attribute) ? text : JSON.stringify(encodeAttribute(attribute));
}

function isSame(text: string, attribute: Attribute): boolean {
  // One line is one fact, blanks at its ends do not count where lines are read, and a terminal may obey
  // control characters.
  if (/\p{Cc}/u.test(text) || text !== text.trim()) return false;
  const element = parseTextNotation(text);
  return element.kind === "attribute" && isDeepStrictEqual(element.attribute, attribute);
}

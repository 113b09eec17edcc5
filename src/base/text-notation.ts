import { PembaError } from "./error.ts";
import { shorten } from "./quote.ts";
import {
  type Attribute,
  type AttributeType,
  type AttributeValue,
  type Entity,
  type Tuple,
  attributeTypes,
} from "./tuple.ts";

/** What one line of text notation says. */
export type TextElement =
  | { readonly kind: "tuple"; readonly tuple: Tuple }
  | { readonly kind: "attribute"; readonly attribute: Attribute };

const shapes =
  "expected `type:id#relation@type:id`, `type:id#relation@type:id#relation` or `type:id$attribute|value_type:value`";

/** Of a text that can be as long as a request. */
const shownLength = 200;

const trueWords = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const falseWords = new Set(["0", "f", "F", "FALSE", "false", "False"]);
const integerText = /^[+-]?\d+$/;
const doubleText = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const infinityText = /^[+-]?inf(inity)?$/i;
const nanText = /^nan$/i;

/**
 * Reads `doc:1#viewer@user:2#rel` or `doc:1$public|boolean:true`. The text is read from the left by
 * its fixed separators, so ids may hold `:` and `@`, and a value may hold anything. Names and ids
 * are taken as they stand: their patterns are checked where requests are. Blanks around the text do not
 * count, but those behind a value of strings are a part of it. Fails with INVALID_ARGUMENT, and with
 * MAX_DATA_PER_WRITE_EXCEEDED if a list has more than `elementsMax` elements.
 */
export function parseTextNotation(text: string, elementsMax?: number): TextElement {
  const trimmed = text.trimStart();
  const colon = trimmed.indexOf(":");
  if (colon < 0) throw malformed(text, "it has no `:`");
  const afterId = trimmed.slice(colon + 1).search(/[#$]/);
  if (afterId < 0) throw malformed(text, "it has neither `#` nor `$` after the id");
  const end = colon + 1 + afterId;
  const entity = { type: trimmed.slice(0, colon), id: trimmed.slice(colon + 1, end) };
  const rest = trimmed.slice(end + 1);
  return trimmed[end] === "#"
    ? { kind: "tuple", tuple: tupleOf(text, entity, rest.trimEnd()) }
    : { kind: "attribute", attribute: attributeOf(text, entity, { rest, elementsMax }) };
}

/** Writes a tuple as `parseTextNotation` reads it. */
export function tupleText({ entity, relation, subject }: Tuple): string {
  const userset = subject.relation === "" ? "" : `#${subject.relation}`;
  return `${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}${userset}`;
}

/** Reads `value` as a value of the given type. Fails as `parseTextNotation`. */
export function parseAttributeText(
  type: AttributeType,
  value: string,
  elementsMax?: number,
): AttributeValue {
  const elements = (): readonly string[] => elementsOf(value, elementsMax);
  switch (type) {
    case "boolean":
      return { type, data: booleanOf(value) };
    case "boolean[]":
      return { type, data: elements().map(booleanOf) };
    case "string":
      return { type, data: value };
    case "string[]":
      return { type, data: elements() };
    case "integer":
      return { type, data: integerOf(value) };
    case "integer[]":
      return { type, data: elements().map(integerOf) };
    case "double":
      return { type, data: doubleOf(value) };
    case "double[]":
      return { type, data: elements().map(doubleOf) };
  }
}

function tupleOf(text: string, entity: Entity, rest: string): Tuple {
  const at = rest.indexOf("@");
  if (at < 0) throw malformed(text, "it has no `@` after the relation");
  const subject = rest.slice(at + 1);
  const colon = subject.indexOf(":");
  if (colon < 0) throw malformed(text, "the subject has no `:`");
  const hash = subject.indexOf("#", colon + 1);
  const relation = hash < 0 ? "" : subject.slice(hash + 1);
  return {
    entity,
    relation: rest.slice(0, at),
    subject: {
      type: subject.slice(0, colon),
      id: subject.slice(colon + 1, hash < 0 ? undefined : hash),
      relation: relation === "..." ? "" : relation,
    },
  };
}

function attributeOf(
  text: string,
  entity: Entity,
  { rest, elementsMax }: { readonly rest: string; readonly elementsMax: number | undefined },
): Attribute {
  const bar = rest.indexOf("|");
  if (bar < 0) throw malformed(text, "it has no `|` after the attribute");
  const typed = rest.slice(bar + 1);
  const colon = typed.indexOf(":");
  if (colon < 0) throw malformed(text, "the value has no `:` after its type");
  const name = typed.slice(0, colon);
  const type = attributeTypes.find((known) => known === name);
  if (type === undefined) {
    throw malformed(
      text,
      `\`${shorten(name, shownLength)}\` is none of the types ${attributeTypes.join(", ")}`,
    );
  }
  return {
    entity,
    attribute: rest.slice(0, bar),
    value: parseAttributeText(type, valueOf(type, typed.slice(colon + 1)), elementsMax),
  };
}

function valueOf(type: AttributeType, text: string): string {
  return type === "string" || type === "string[]" ? text : text.trimEnd();
}

function elementsOf(value: string, max: number | undefined): readonly string[] {
  if (value === "") return [];
  if (max === undefined) return value.split(",");
  const elements = value.split(",", max + 1);
  if (elements.length <= max) return elements;
  throw new PembaError("MAX_DATA_PER_WRITE_EXCEEDED", `the list has more than ${max} elements`);
}

function booleanOf(value: string): boolean {
  if (trueWords.has(value)) return true;
  if (falseWords.has(value)) return false;
  throw badValue(value, "true or false");
}

function integerOf(value: string): number {
  const number = Number(value);
  if (!integerText.test(value) || number !== (number | 0)) {
    throw badValue(value, "an integer of 32 bits");
  }
  // A sum, since "-0" would stay a negative zero, which no integer is.
  return number + 0;
}

function doubleOf(value: string): number {
  if (nanText.test(value)) return Number.NaN;
  if (infinityText.test(value)) return value.startsWith("-") ? -Infinity : Infinity;
  const number = Number(value);
  if (!doubleText.test(value) || !Number.isFinite(number)) throw badValue(value, "a number");
  return number;
}

function malformed(text: string, why: string): PembaError {
  return new PembaError(
    "INVALID_ARGUMENT",
    `\`${shorten(text, shownLength)}\` cannot be read, ${why}: ${shapes}`,
  );
}

function badValue(value: string, expected: string): PembaError {
  return new PembaError(
    "INVALID_ARGUMENT",
    `the value \`${shorten(value, shownLength)}\` is not ${expected}`,
  );
}

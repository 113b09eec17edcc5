import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import { parseTextNotation, type TextElement } from "../../base/text-notation.ts";
import type { Entity, Subject } from "../../base/tuple.ts";

/** A parsed text, or what is wrong with it. */
export type ReadText<T> = { readonly value: T } | { readonly fault: string };

/** Reads a tuple, such as `document:1#viewer@user:ada`, or an attribute. */
export function readFact<Kind extends TextElement["kind"]>(
  text: string,
  kind: Kind,
): ReadText<Extract<TextElement, { readonly kind: Kind }>> {
  try {
    const element = parseTextNotation(text);
    if (isOfKind(element, kind)) return { value: element };
    const other = element.kind === "tuple" ? "a tuple" : "an attribute";
    const own = kind === "tuple" ? "`relationships` or `tuples`" : "`attributes`";
    return { fault: `${quote(text)} is ${other}, which does not stand in ${own}` };
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    return { fault: error.plainMessage };
  }
}

function isOfKind<Kind extends TextElement["kind"]>(
  element: TextElement,
  kind: Kind,
): element is Extract<TextElement, { readonly kind: Kind }> {
  return element.kind === kind;
}

/** Reads `type:id`. The id may have colons. */
export function readEntity(text: string): ReadText<Entity> {
  const colon = text.indexOf(":");
  return colon > 0 && colon < text.length - 1 && !text.includes("#")
    ? { value: { type: text.slice(0, colon), id: text.slice(colon + 1) } }
    : { fault: `${quote(text)} is not an entity, expected \`type:id\`` };
}

/** Reads `type:id` or `type:id#relation`. */
export function readSubject(text: string): ReadText<Subject> {
  const { before, relation } = splitRelation(text);
  const entity = readEntity(before);
  return "fault" in entity || relation === undefined
    ? { fault: `${quote(text)} is not a subject, expected \`type:id\` or \`type:id#relation\`` }
    : { value: { ...entity.value, relation } };
}

/** Reads `type` or `type#relation`. */
export function readSubjectType(text: string): ReadText<Omit<Subject, "id">> {
  const { before, relation } = splitRelation(text);
  return before === "" || before.includes(":") || relation === undefined
    ? { fault: `${quote(text)} is not a type of subjects, expected \`type\` or \`type#relation\`` }
    : { value: { type: before, relation } };
}

/** The relation is "" for the subject itself, and undefined if it is missing behind its `#`. */
function splitRelation(text: string): {
  readonly before: string;
  readonly relation: string | undefined;
} {
  const hash = text.indexOf("#");
  if (hash < 0) return { before: text, relation: "" };
  const relation = text.slice(hash + 1);
  const named = relation === "..." ? "" : relation;
  return { before: text.slice(0, hash), relation: relation === "" ? undefined : named };
}

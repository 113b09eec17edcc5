import { must } from "../base/assert.ts";
import { quote } from "../base/quote.ts";
import type { Pace, Steps } from "../base/steps.ts";
import { invalidField } from "./field.ts";

/** `{{.name}}`, with optional blanks around `.name`. */
const variable = /\{\{\s*\.([a-zA-Z0-9_]+)\s*\}\}/g;

/** Fails if a template contains anything but text and the variables of the declared arguments. */
export function* checkTemplate(
  template: string,
  declared: ReadonlySet<string>,
  { field, pace }: { readonly field: string; readonly pace: Pace },
): Steps<void> {
  const checkText = (start: number, end: number): void => {
    const open = template.slice(start, end).indexOf("{{");
    if (open < 0) return;
    throw invalidField(
      field,
      `${quote(template.slice(start + open))} is not a variable, expected ${expectedOf(declared)}`,
    );
  };
  let end = 0;
  for (const { 0: place, 1: name = "", index } of template.matchAll(variable)) {
    checkText(end, index);
    end = index + place.length;
    if (!declared.has(name)) {
      throw invalidField(
        field,
        `${quote(place)} is not an argument of the bundle, expected ${expectedOf(declared)}`,
      );
    }
    if (pace.step()) yield;
  }
  checkText(end, template.length);
}

/**
 * How long `renderTemplate` makes the text of a checked template, as JSON writes it, without making it.
 * `lengths` are those of the arguments.
 */
export function* renderedLength(
  template: string,
  lengths: ReadonlyMap<string, number>,
  pace: Pace,
): Steps<number> {
  let length = 0;
  let end = 0;
  for (const { 0: place, 1: name = "", index } of template.matchAll(variable)) {
    length += lengthInJson(template.slice(end, index)) + valueOf(lengths, name);
    end = index + place.length;
    if (pace.step()) yield;
  }
  return length + lengthInJson(template.slice(end));
}

/** How many characters JSON writes for a text, without its quotes. */
export function lengthInJson(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20) length += 5;
    else if (unit === 0x22 || unit === 0x5c) length += 1;
  }
  return length;
}

/** The text of a checked template with the values of its arguments inserted verbatim. */
export function* renderTemplate(
  template: string,
  values: ReadonlyMap<string, string>,
  pace: Pace,
): Steps<string> {
  let text = "";
  // Joined now and then: one text of very many pieces would be put together at once when it is read.
  let pieces: string[] = [];
  let end = 0;
  for (const { 0: place, 1: name = "", index } of template.matchAll(variable)) {
    pieces.push(template.slice(end, index), valueOf(values, name));
    end = index + place.length;
    if (!pace.step()) continue;
    text += pieces.join("");
    pieces = [];
    yield;
  }
  return text + pieces.join("") + template.slice(end);
}

function valueOf<T>(values: ReadonlyMap<string, T>, name: string): T {
  return must(values.get(name), "a stored template has only declared variables");
}

function expectedOf(declared: ReadonlySet<string>): string {
  if (declared.size === 0) return "none, since the bundle declares no arguments";
  return [...declared].map((name) => `\`{{.${name}}}\``).join(" or ");
}

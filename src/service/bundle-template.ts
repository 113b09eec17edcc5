import { must } from "../base/assert.ts";
import { quote } from "../base/quote.ts";
import { invalidField } from "./field.ts";

/** `{{.name}}`, with optional blanks around `.name`. */
const variable = /\{\{\s*\.([a-zA-Z0-9_]+)\s*\}\}/g;

/** Fails if a template contains anything but text and the variables of the declared arguments. */
export function checkTemplate(
  template: string,
  declared: ReadonlySet<string>,
  field: string,
): void {
  for (const [place, name = ""] of template.matchAll(variable)) {
    if (declared.has(name)) continue;
    throw invalidField(
      field,
      `${quote(place)} is not an argument of the bundle, expected ${expectedOf(declared)}`,
    );
  }
  const rest = template.replaceAll(variable, " ");
  const open = rest.indexOf("{{");
  if (open >= 0) {
    throw invalidField(
      field,
      `${quote(rest.slice(open))} is not a variable, expected ${expectedOf(declared)}`,
    );
  }
}

/** The text of a checked template with the values of its arguments inserted verbatim. */
export function renderTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replaceAll(variable, (_place, name: string) =>
    must(values.get(name), "a stored template has only declared variables"),
  );
}

function expectedOf(declared: ReadonlySet<string>): string {
  if (declared.size === 0) return "none, since the bundle declares no arguments";
  return [...declared].map((name) => `\`{{.${name}}}\``).join(" or ");
}

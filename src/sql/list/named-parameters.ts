/** A condition with parameters that have names. */
export interface NamedCondition {
  readonly kind: "condition";
  /** The names, in the order of their first use. */
  readonly names: readonly string[];
  /** Texts, and between them the places of names in `names`. */
  readonly parts: readonly (string | number)[];
}

/** What may stand around a name: strings, quoted names, comments and dollar quotes are left alone. */
const token =
  /[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\$(?:[A-Za-z_]\w*)?\$|\$(?<name>[A-Za-z_]\w*)|\$(?<number>\d+)|\/\*|[\w$\u0080-\uffff]+|[^]/g;

/**
 * Finds the parameters `$name` of a condition. Strings, quoted names and comments have none. Returns a
 * problem for what would be something else in the text of a query: a bracket that closes what stands
 * around the condition, or the number of a parameter.
 */
export function readCondition(
  condition: string,
): NamedCondition | { readonly kind: "problem"; readonly problem: string } {
  const names: string[] = [];
  const parts: (string | number)[] = [];
  let depth = 0;
  let place = 0;
  while (place < condition.length) {
    token.lastIndex = place;
    const match = token.exec(condition);
    if (match === null) break;
    const [found] = match;
    const { name, number } = match.groups ?? {};
    if (number !== undefined)
      return { kind: "problem", problem: `\`${found}\` has no name, expected such as $status` };
    if (found === "(") depth += 1;
    if (found === ")") depth -= 1;
    if (depth < 0) return { kind: "problem", problem: "a bracket closes that was not opened" };
    const end =
      found === "/*"
        ? endOfComment(condition, place)
        : isDollarQuote(found)
          ? endOfQuote(condition, place, found)
          : token.lastIndex;
    if (name === undefined) {
      parts.push(condition.slice(place, end));
    } else {
      if (!names.includes(name)) names.push(name);
      parts.push(names.indexOf(name));
    }
    place = end;
  }
  return { kind: "condition", names, parts };
}

/** The text of a condition, with `value` for the place of a name. */
export function conditionWith(
  { parts }: Pick<NamedCondition, "parts">,
  value: (place: number) => string,
): string {
  return parts.map((part) => (typeof part === "string" ? part : value(part))).join("");
}

function isDollarQuote(found: string): boolean {
  return found.length > 1 && found.startsWith("$") && found.endsWith("$");
}

function endOfQuote(text: string, start: number, tag: string): number {
  const end = text.indexOf(tag, start + tag.length);
  return end < 0 ? text.length : end + tag.length;
}

/** Comments of this form nest. */
function endOfComment(text: string, start: number): number {
  let depth = 0;
  let place = start;
  while (place < text.length) {
    const pair = text.slice(place, place + 2);
    if (pair === "/*") depth += 1;
    else if (pair === "*/") depth -= 1;
    place += pair === "/*" || pair === "*/" ? 2 : 1;
    if (depth === 0) return place;
  }
  return text.length;
}

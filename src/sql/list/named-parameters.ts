/** A condition with numbers in the place of names. */
export interface NumberedCondition {
  readonly text: string;
  /** The names, in the order of their first use. */
  readonly names: readonly string[];
}

/** What may stand around a name: strings, quoted names, comments and dollar quotes are left alone. */
const token =
  /[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\$(?:[A-Za-z_]\w*)?\$|\$(?<name>[A-Za-z_]\w*)|\/\*|[\w$]+|[^]/g;

/**
 * Replaces each parameter `$name` of a condition by `$n`. The first name gets the number `first`. It
 * leaves the text of strings, quoted names and comments as it is.
 */
export function numberParameters(condition: string, first: number): NumberedCondition {
  const names: string[] = [];
  let text = "";
  let place = 0;
  while (place < condition.length) {
    token.lastIndex = place;
    const match = token.exec(condition);
    if (match === null) break;
    const [found] = match;
    const name = match.groups?.["name"];
    const end =
      found === "/*"
        ? endOfComment(condition, place)
        : isDollarQuote(found)
          ? endOfQuote(condition, place, found)
          : token.lastIndex;
    if (name === undefined) {
      text += condition.slice(place, end);
    } else {
      if (!names.includes(name)) names.push(name);
      text += `$${first + names.indexOf(name)}`;
    }
    place = end;
  }
  return { text, names };
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

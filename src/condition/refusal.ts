import type { ParseError, TypeError as CheckError } from "@marcbachmann/cel-js";

import { ruleLimits } from "./environment.ts";
import { adviceFor } from "./standard-library.ts";

/** The reason why a rule does not compile. The compiler throws and catches it. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** The offset in UTF-16 units from the start of the rule's text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const end = "the end of the rule";

const tokens: ReadonlyMap<string, string> = new Map([
  ["EOF", end],
  ["NUMBER", "a number"],
  ["STRING", "a string"],
  ["BOOLEAN", "a boolean"],
  ["NULL", "`null`"],
  ["IDENTIFIER", "a name"],
  ["PLUS", "`+`"],
  ["MINUS", "`-`"],
  ["MULTIPLY", "`*`"],
  ["DIVIDE", "`/`"],
  ["MODULO", "`%`"],
  ["EQ", "`==`"],
  ["NE", "`!=`"],
  ["LT", "`<`"],
  ["LE", "`<=`"],
  ["GT", "`>`"],
  ["GE", "`>=`"],
  ["AND", "`&&`"],
  ["OR", "`||`"],
  ["NOT", "`!`"],
  ["IN", "`in`"],
  ["LPAREN", "`(`"],
  ["RPAREN", "`)`"],
  ["LBRACKET", "`[`"],
  ["RBRACKET", "`]`"],
  ["LBRACE", "`{`"],
  ["RBRACE", "`}`"],
  ["DOT", "`.`"],
  ["COMMA", "`,`"],
  ["COLON", "`:`"],
  ["QUESTION", "`?`"],
  ["BYTES", "bytes"],
]);

/** What other languages write, and permissions, by what a rule has in its place. */
const spellings: ReadonlyMap<string, string> = new Map([
  ["=", "=="],
  ["&", "&&"],
  ["|", "||"],
  ["and", "&&"],
  ["or", "||"],
  ["not", "!"],
]);

/** The message for a text that does not parse, without its position. */
export function parseMessage(error: ParseError, text: string): string {
  const found = snippet(error.range, text);
  const start = error.range?.start ?? text.length;
  const before = text.slice(0, start);
  const gap = gapMessage(before, found) ?? spellingMessage(before, found);
  if (gap !== undefined) return gap;
  switch (error.code) {
    case "unexpected_character":
      return `unexpected ${quoted(found)}`;
    case "unexpected_token": {
      const token = tokenName(error.summary.split(": ").at(-1));
      return token === end ? `found ${end}, expected a value` : `unexpected ${token}`;
    }
    case "expected_token": {
      const [, expected, got] = /^Expected (\w+), got (\w+)$/.exec(error.summary) ?? [];
      return `expected ${tokenName(expected)}, found ${tokenName(got)}`;
    }
    case "invalid_macro_argument":
      return `${quoted(found)} cannot name a variable`;
    case "reserved_identifier":
      return `${quoted(found)} is a reserved word`;
    case "newline_in_string":
      return "a string in single quotation marks must end on its line";
    case "unterminated_string":
    case "unterminated_triple_quoted_string":
      return "the string is not closed";
    case "limit_exceeded":
      return `more than a rule may hold: at most ${ruleLimits.maxAstNodes} parts, nested ${ruleLimits.maxDepth} deep, ${ruleLimits.maxListElements} elements in a list`;
    default:
      return plain(error.summary);
  }
}

/**
 * The message for a part of the language that the parser does not know, found by where it stops.
 */
function gapMessage(before: string, found: string): string | undefined {
  if (found === "`") return "names in backticks are not supported: write `map['name']`";
  if (found.startsWith("{") && /[\w.]\s*$/.test(before)) {
    return "messages such as `Name{...}` are not supported";
  }
  if (/^['"]/.test(found) && /\b(?:br|rb)$/i.test(before)) {
    return "raw bytes are not supported: write b'...' with `\\\\` for each backslash";
  }
  return undefined;
}

/** The message for an operator of another language, which a word may be that stands before `found`. */
function spellingMessage(before: string, found: string): string | undefined {
  const word = /\bnot\s*$/.exec(before) === null ? found : "not";
  const meant = spellings.get(word);
  return meant === undefined
    ? undefined
    : `\`${word}\` is no operator of rules: write \`${meant}\``;
}

/** The message for a text whose types do not fit, without its position. */
export function checkMessage(error: CheckError, text: string): string {
  const found = snippet(error.range, text);
  const [, called] = /^found no matching overload for '(\w+)\(/i.exec(error.summary) ?? [];
  const advice = called === undefined ? undefined : adviceFor(called);
  if (advice !== undefined) return advice;
  switch (error.code) {
    case "unknown_variable":
      return (
        adviceFor(found) ??
        `unknown name ${quoted(found)}: a rule sees its parameters and \`context.data\``
      );
    case "no_such_key":
      return `unknown field ${quoted(found)}: only \`context.data\` can be read`;
    case "invalid_macro_argument":
      return "`has` takes a path of fields such as `context.data.name`: of other maps, ask `'name' in map`";
    default:
      return plain(error.summary);
  }
}

function tokenName(token: string | undefined): string {
  return tokens.get(token ?? "") ?? "text";
}

function snippet(
  range: { readonly start: number; readonly end: number } | undefined,
  text: string,
): string {
  return range === undefined ? "" : text.slice(range.start, range.end);
}

function quoted(found: string): string {
  // Invisible characters are written as escapes.
  const shown = found.replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
  return shown === "" ? "text" : `\`${shown}\``;
}

/** Rewrites a message of the library in our style: lower case, and types under our names. */
function plain(summary: string): string {
  const message = summary
    .replace(/^found no matching overload for '(.*)'$/i, "no such overload: $1")
    .replace(
      /^(\w+)\(.*\) predicate must return bool, got '(.*)'$/,
      "the condition of `$1` must be a boolean, this is $2",
    )
    .replaceAll("google.protobuf.Timestamp", "timestamp")
    .replaceAll("google.protobuf.Duration", "duration")
    .replaceAll("'", "`");
  return message.charAt(0).toLowerCase() + message.slice(1);
}

import { Pace, type Steps } from "../base/steps.ts";
import { commentsIn, type OpaqueSpan, opaqueSpansIn } from "../language/comment.ts";
import { scanToken } from "../language/lexer.ts";
import { OpenStrings } from "../language/skip.ts";
import type { Token } from "../language/token.ts";
import type { SourceSpan } from "../language/tree.ts";
import type { SchemaAnalysis } from "./analysis.ts";
import type { Declaration } from "./naming.ts";

/** What can be written at an offset. */
export type CompletionPlace =
  | { readonly kind: "statement" }
  | { readonly kind: "member" }
  /** Behind a relation or one of its types: another type, or the next member. */
  | { readonly kind: "next-type"; readonly isFirst: boolean }
  | { readonly kind: "type" }
  | { readonly kind: "userset"; readonly type: string }
  | { readonly kind: "value-type" }
  /** In the expression of that permission. */
  | { readonly kind: "operand"; readonly entity: string; readonly permission: string }
  /** Behind an operand: an operator, or the next member. */
  | { readonly kind: "operator" }
  | { readonly kind: "walk"; readonly entity: string; readonly relation: string }
  | {
      readonly kind: "argument";
      readonly entity: string;
      readonly rule: string;
      readonly given: readonly string[];
    }
  | { readonly kind: "rule-body"; readonly rule: string }
  /** Behind `context.` in the body of a rule. */
  | { readonly kind: "context" }
  /** Behind another value in the body of a rule. */
  | { readonly kind: "method" }
  | { readonly kind: "lint-code" }
  /** A new name, a comment, or what is written by hand. */
  | { readonly kind: "none" };

/** Where an offset stands, and the beginning of the word that ends there. */
export interface CompletionSpot {
  readonly place: CompletionPlace;
  readonly word: SourceSpan;
}

const none: CompletionPlace = { kind: "none" };

/** A call of a rule with more arguments than fit here gets no suggestions. */
const tokensMax = 400;

/** Says what can be written at an offset. The text behind it does not count. */
export function* completionSpot(analysis: SchemaAnalysis, offset: number): Steps<CompletionSpot> {
  const { text } = analysis.source;
  const [typed = ""] = /[A-Za-z_]*$/.exec(text.slice(Math.max(0, offset - 200), offset)) ?? [];
  const word = { start: offset - typed.length, end: offset };
  const around = declarationsAround(analysis, word.start);
  const from = (around.member ?? around.statement)?.whole.start ?? around.before;
  const { tokens, end } = yield* tokensBetween(text, from, word.start);
  const comment = commentAt(text.slice(end, offset));
  if (comment !== undefined) return { place: inComment(comment), word };
  return { place: placeOf(text, around, { tokens, offset: word.start }), word };
}

/** The declarations that an offset is in, or behind if they are not complete. */
interface Surroundings {
  readonly statement: Declaration | undefined;
  /** Of an entity. */
  readonly member: Declaration | undefined;
  /** The end of what is complete before the offset. */
  readonly before: number;
}

function declarationsAround({ source, outline }: SchemaAnalysis, offset: number): Surroundings {
  const last = lastBefore(outline.declarations, offset);
  if (last === undefined) return { statement: undefined, member: undefined, before: 0 };
  const { start, end } = last.whole;
  if (end <= offset && source.text.slice(start, end).endsWith("}")) {
    return { statement: undefined, member: undefined, before: end };
  }
  const member = last.kind === "entity" ? lastBefore(last.children, offset) : undefined;
  return { statement: last, member, before: start };
}

function lastBefore(declarations: readonly Declaration[], offset: number): Declaration | undefined {
  let low = 0;
  let high = declarations.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((declarations[middle]?.whole.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return declarations[low - 1];
}

/** The last tokens from `from` to `to`, and where they end. */
function* tokensBetween(
  text: string,
  from: number,
  to: number,
): Steps<{ readonly tokens: readonly Token[]; readonly end: number }> {
  const pace = new Pace();
  const open = new OpenStrings();
  let tokens: Token[] = [];
  let end = from;
  for (;;) {
    const token = scanToken(text, end, open);
    if (token.kind === "EOF" || token.end > to) return { tokens, end };
    tokens.push(token);
    // The first two say what is written.
    if (tokens.length > 2 * tokensMax)
      tokens = [...tokens.slice(0, 2), ...tokens.slice(-tokensMax)];
    end = token.end;
    if (pace.step()) yield;
  }
}

/** The comment that a text ends in. Undefined if it ends outside of one. */
function commentAt(gap: string): string | undefined {
  for (const { start, end } of commentsIn(gap)) {
    const comment = gap.slice(start, end);
    const isClosed = comment.startsWith("/*") && comment.length > 3 && comment.endsWith("*/");
    if (end === gap.length && !isClosed) return comment;
  }
  return undefined;
}

function inComment(comment: string): CompletionPlace {
  const isAllow = /^\/\/\s*pemba-lint\b:?\s*allow\b[^-]/.test(comment) && !/\s--/.test(comment);
  return isAllow ? { kind: "lint-code" } : none;
}

function placeOf(
  text: string,
  { statement, member }: Surroundings,
  before: { readonly tokens: readonly Token[]; readonly offset: number },
): CompletionPlace {
  const { tokens, offset } = before;
  const words = tokens.map(({ start, end }) => text.slice(start, end));
  if (statement === undefined) return { kind: "statement" };
  if (statement.kind === "rule") return placeInRule(text, statement, { tokens, offset });
  if (member === undefined) return words.includes("{") ? { kind: "member" } : none;
  switch (member.kind) {
    case "relation":
      return placeInRelation(words);
    case "attribute":
      if (words.length === 2) return { kind: "value-type" };
      return words.length > 2 ? { kind: "member" } : none;
    default:
      return words[2] === "=" ? placeInExpression(words, statement.key, member.key) : none;
  }
}

function placeInRelation(words: readonly string[]): CompletionPlace {
  if (words.length < 2) return none;
  const last = words.at(-1);
  if (last === "@") return { kind: "type" };
  if (last === "#") return { kind: "userset", type: words.at(-2) ?? "" };
  return { kind: "next-type", isFirst: words.length === 2 };
}

function placeInExpression(
  words: readonly string[],
  entity: string,
  permission: string,
): CompletionPlace {
  const call = openCall(words);
  if (call !== undefined) {
    const last = words.at(-1);
    const given = words.slice(call + 2).filter((word) => word !== ",");
    const rule = words[call] ?? "";
    return last === "(" || last === "," ? { kind: "argument", entity, rule, given } : none;
  }
  const last = words.at(-1) ?? "";
  if (["=", "(", "and", "or", "not"].includes(last)) return { kind: "operand", entity, permission };
  if (last !== ".") return { kind: "operator" };
  const isSecondStep = words.at(-3) === ".";
  return isSecondStep ? none : { kind: "walk", entity, relation: words.at(-2) ?? "" };
}

/** The index of the rule whose arguments are being written. */
function openCall(words: readonly string[]): number | undefined {
  const opening = words.lastIndexOf("(");
  const isOpen = opening > words.lastIndexOf(")");
  return isOpen && /^[A-Za-z_]+$/.test(words[opening - 1] ?? "") && !isOperator(words[opening - 1])
    ? opening - 1
    : undefined;
}

function isOperator(word: string | undefined): boolean {
  return word === "and" || word === "or" || word === "not";
}

function placeInRule(
  text: string,
  rule: Declaration,
  { tokens, offset }: { readonly tokens: readonly Token[]; readonly offset: number },
): CompletionPlace {
  const brace = tokens.find(({ kind }) => kind === "LCB");
  if (brace === undefined) {
    const [last, previous] = tokens.toReversed();
    const isTyped =
      last?.kind === "IDENT" && (previous?.kind === "LP" || previous?.kind === "COMMA");
    return isTyped ? { kind: "value-type" } : none;
  }
  return placeInBody(text.slice(brace.end, offset), rule.key);
}

function placeInBody(body: string, rule: string): CompletionPlace {
  for (const span of opaqueSpansIn(body)) if (isOpenAtEnd(body, span)) return none;
  const [, root, field] = /(?:^|[^\s.])\s*\b(context)\.(data\.)?$/.exec(body) ?? [];
  if (field !== undefined) return none;
  if (root !== undefined) return { kind: "context" };
  return /\.\s*$/.test(body) ? { kind: "method" } : { kind: "rule-body", rule };
}

/** Whether a text ends inside of a comment or a string that begins in it. */
function isOpenAtEnd(text: string, { kind, start, end }: OpaqueSpan): boolean {
  switch (kind) {
    case "comment":
      return end === text.length && !text.endsWith("*/");
    case "string":
      // Of a string that is not closed, the span is the quote.
      return end === start + 1 && !/[\r\n]/.test(text.slice(end));
  }
}

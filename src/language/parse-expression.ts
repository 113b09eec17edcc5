import type { Cursor } from "./cursor.ts";
import type { TokenKind } from "./token.ts";
import type {
  ExpressionNode,
  InvocationNode,
  Name,
  OperationNode,
  ReferenceNode,
  SourceSpan,
} from "./tree.ts";

/** The deepest nesting of parentheses: enough for people, and safe for the stack. */
export const nestingMax = 1_000;

/**
 * Reads `operand { ("and" | "or" | "not") operand }`. The operators share one precedence and
 * associate to the left. `not` has a left side like the others. `nesting` counts the open
 * parentheses.
 */
export function parseExpression(cursor: Cursor, nesting = 0): ExpressionNode {
  const { start } = cursor.token;
  let left = parseOperand(cursor, nesting);
  for (;;) {
    const kind = operatorOf(cursor.token.kind);
    if (kind === undefined) return left;
    const position = cursor.position;
    cursor.count();
    cursor.advance();
    cursor.passSemicolons();
    const right = parseOperand(cursor, nesting);
    left = { kind, left, right, position, grouped: false, span: spanFrom(cursor, start) };
  }
}

function operatorOf(kind: TokenKind): OperationNode["kind"] | undefined {
  if (kind === "OR") return "or";
  if (kind === "AND") return "and";
  return kind === "NOT" ? "not" : undefined;
}

function parseOperand(cursor: Cursor, nesting: number): ExpressionNode {
  if (cursor.at("LP")) return parseGroup(cursor, nesting);
  if (!cursor.at("IDENT")) failWithoutOperand(cursor);
  const { start } = cursor.token;
  const first = cursor.name();
  return cursor.at("LP")
    ? parseInvocation(cursor, first, start)
    : parseReference(cursor, first, start);
}

function parseGroup(cursor: Cursor, nesting: number): ExpressionNode {
  if (nesting === nestingMax) {
    cursor.fail(`expression is nested too deeply: at most ${nestingMax} parentheses may be open`);
  }
  cursor.countPart();
  cursor.expect("LP");
  cursor.passSemicolons();
  const expression = parseExpression(cursor, nesting + 1);
  cursor.passSemicolons();
  cursor.expect("RP");
  return "grouped" in expression ? { ...expression, grouped: true } : expression;
}

/** `start` is the offset of the name. */
function parseReference(cursor: Cursor, first: Name, start: number): ReferenceNode {
  const rest: Name[] = [];
  while (cursor.accept("DOT")) {
    cursor.countPart();
    rest.push(cursor.name());
  }
  return { kind: "reference", first, rest, span: spanFrom(cursor, start) };
}

function parseInvocation(cursor: Cursor, rule: Name, start: number): InvocationNode {
  cursor.expect("LP");
  cursor.passSemicolons();
  const values: ReferenceNode[] = [];
  if (!cursor.at("RP")) {
    do {
      cursor.countPart();
      cursor.passSemicolons();
      const argument = cursor.token.start;
      values.push(parseReference(cursor, cursor.name(), argument));
      cursor.passSemicolons();
    } while (cursor.accept("COMMA"));
  }
  cursor.expect("RP");
  return { kind: "invocation", rule, arguments: values, span: spanFrom(cursor, start) };
}

/** From an offset to the last token that was read. */
function spanFrom({ previousEnd }: Cursor, start: number): SourceSpan {
  return { start, end: previousEnd };
}

function failWithoutOperand(cursor: Cursor): never {
  const hint = cursor.at("NOT")
    ? "`not` stands between two operands, as in `a not b`"
    : `expected an operand, found ${cursor.describe()}`;
  cursor.fail(`no prefix parse function for ${cursor.token.kind} found: ${hint}`);
}

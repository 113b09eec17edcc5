import { printable } from "../../base/printable.ts";
import { wrap } from "../../base/text-width.ts";
import { ALLOWED, DENIED, type Verdict } from "../../base/verdict.ts";
import type { Explanation, ProofNode, RuleValues, SchemaPlace } from "../../store/explanation.ts";
import { reasonText } from "./proof-text.ts";

/** How a proof is shown. */
export interface ProofStyle {
  /** The columns of a line. */
  readonly width: number;
  /** The `context.data` of the question, of which rules read. */
  readonly data: unknown;
  /** Parts of the tree are left out. */
  readonly isTruncated: boolean;
  /** Colours the mark of a node. */
  readonly paint: (verdict: Verdict, mark: string) => string;
}

/** What stands before the text of a node, besides its place. */
interface UnprintedNode {
  readonly node: ProofNode;
  readonly parent: ProofNode | undefined;
  /** For each level above, whether more of it follows. */
  readonly more: readonly boolean[];
}

/** A text has at least so many columns, and a deep node loses the lines of its first levels. */
const leastText = 30;
const levelColumns = 3;

/** Enough to find the reason. `pemba explain` on a server shows all. */
const mostLines = 30;

/** The first lines of a proof, without colours and as wide as they are. */
export function proofLines({ proof, isTruncated }: Explanation, data: unknown): readonly string[] {
  const style = {
    width: Infinity,
    data,
    isTruncated,
    paint: (_verdict: Verdict, mark: string) => mark,
  };
  const lines: string[] = [];
  for (const line of proofLayout(proof, style)) {
    if (lines.length === mostLines) return [...lines, "…"];
    lines.push(line);
  }
  return lines;
}

/**
 * A proof as a tree with a node in a line, or in several if it is too wide. A line begins with the line
 * and column in the schema. Below the first call of a rule stands its body.
 */
export function* proofLayout(root: ProofNode, style: ProofStyle): Generator<string> {
  const { width, paint } = style;
  const places = placeWidth(root);
  const rules = new Set<string>();
  const open: UnprintedNode[] = [{ node: root, parent: undefined, more: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, more } = next;
    const shownLevels = Math.max(1, Math.floor((width - places - leastText) / levelColumns));
    const levels = more.slice(-shownLevels);
    const cut = levels.length < more.length ? "… " : "";
    const branch = cut + branchOf(levels);
    const below =
      " ".repeat(cut.length) + stemOf(levels) + (node.children.length > 0 ? "│ " : "  ");
    const room = width - places - 2 - below.length;
    const mark = markOf(node.verdict);
    const [first = "", ...rest] = wrap(textOf(next, style), Math.max(room, 1));
    const place = placeText(node.place).padStart(places);
    yield `${place}  ${branch}${paint(node.verdict, mark)} ${first}`;
    for (const line of rest) yield `${" ".repeat(places + 2)}${below}${line}`;
    if (node.rule !== undefined && !rules.has(node.rule.name)) {
      rules.add(node.rule.name);
      let bodyPlace = placeText(node.rule.body);
      for (const line of bodyLines(node.rule).flatMap((one) => wrap(one, Math.max(room, 1)))) {
        yield `${bodyPlace.padStart(places)}  ${below}${line}`;
        bodyPlace = "";
      }
    }
    const last = node.children.length - 1;
    open.push(
      ...node.children
        .map((child, index) => ({ node: child, parent: node, more: [...more, index < last] }))
        .toReversed(),
    );
  }
}

function placeWidth(root: ProofNode): number {
  let width = 0;
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    width = Math.max(width, placeText(node.place).length);
    if (node.rule !== undefined) width = Math.max(width, placeText(node.rule.body).length);
    open.push(...node.children);
  }
  return width;
}

function placeText({ position }: SchemaPlace): string {
  return `${position.line}:${position.column}`;
}

function branchOf(levels: readonly boolean[]): string {
  if (levels.length === 0) return "";
  return stemOf(levels.slice(0, -1)) + (levels.at(-1) === true ? "├─ " : "└─ ");
}

function stemOf(levels: readonly boolean[]): string {
  return levels.map((hasMore) => (hasMore ? "│  " : "   ")).join("");
}

function markOf(verdict: Verdict): string {
  if (verdict === ALLOWED) return "✓";
  return verdict === DENIED ? "✗" : "?";
}

/** The body of a rule in its own lines, which begin as far in as the least indented one allows. */
function bodyLines({ name, body }: RuleValues): readonly string[] {
  const [first = "", ...rest] = body.text.split(/\r\n|\r|\n/).map(printable);
  const margins = rest.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const margin = Math.min(...margins);
  return [`rule ${name}: ${first}`, ...rest.map((line) => `  ${line.slice(margin)}`.trimEnd())];
}

function textOf({ node, parent }: UnprintedNode, { isTruncated, data }: ProofStyle): string {
  const why = isOperator(node) ? operatorText(node, isTruncated) : reasonText(node, data);
  return printable(titleOf(node, parent) + (why === "" ? "" : `: ${why}`));
}

/** A name with its entity and what it is defined as, or an operand of the definition above it. */
function titleOf(node: ProofNode, parent: ProofNode | undefined): string {
  const expression = node.place.text.replaceAll(/\s+/g, " ");
  const name = `${node.entity.type}:${node.entity.id}#${node.name}`;
  if (expression === node.name) return name;
  return isOperand(node, parent) ? expression : `${name} = ${expression}`;
}

function isOperand(node: ProofNode, parent: ProofNode | undefined): boolean {
  if (parent === undefined || parent.reason === "walk" || parent.reason === "userset") return false;
  return node.name === parent.name;
}

function isOperator({ reason }: ProofNode): boolean {
  return reason === "union" || reason === "intersection" || reason === "exclusion";
}

/** Which side of an exclusion decides a denial, and where operands are that do not stand below. */
function operatorText(node: ProofNode, isTruncated: boolean): string {
  const [left, right] = node.children;
  if (left === undefined) return isTruncated ? "shown elsewhere or left out" : "shown elsewhere";
  if (node.reason !== "exclusion" || node.verdict !== DENIED) return "";
  if (left.verdict === DENIED) return "the left side is denied";
  return right?.verdict === ALLOWED ? "the right side is allowed, which excludes" : "";
}

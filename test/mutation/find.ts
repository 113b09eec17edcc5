import { applied, type Candidate, type Range } from "./mutant.ts";
import { collections } from "./operators/collections.ts";
import { conditions } from "./operators/conditions.ts";
import type { Operator, Proposal, Surroundings } from "./operators/operator.ts";
import { performancePlaces, statementText } from "./operators/statement-text.ts";
import { statements } from "./operators/statements.ts";
import { siblingsIn, values } from "./operators/values.ts";
import { aroundOf, childrenOf, type Node, parse, textOf } from "./syntax.ts";

const operators: readonly Operator[] = [conditions, statements, collections, values, statementText];

export interface Found {
  readonly candidates: readonly Candidate[];
  /** Places where only the speed of a statement could be changed. */
  readonly performanceOnly: number;
}

/** Every fault that the operators can plant in a source. */
export function findFaults(
  file: string,
  source: string,
  siblings: Surroundings["siblings"],
): Found {
  const candidates = new Map<string, Candidate>();
  let performanceOnly = 0;
  const visit = (node: Node, ancestors: readonly Node[]): void => {
    if (isLeftOut(node, source)) return;
    performanceOnly += performancePlaces(node, source);
    for (const operator of operators) {
      for (const proposal of operator(node, { source, ancestors, siblings })) {
        const candidate = candidateOf(proposal, node, ancestors);
        const { around } = candidate;
        const after = applied(source, candidate, around);
        // Two operators may come to the same.
        const key = `${around.start} ${around.end} ${after}`;
        if (after !== textOf(source, around) && !candidates.has(key)) {
          candidates.set(key, candidate);
        }
      }
    }
    for (const child of childrenOf(node)) visit(child, [node, ...ancestors]);
  };
  visit(programOf(file, source), []);
  // Some leave no program, such as a connective that may not stand beside another one.
  const programs = [...candidates.values()].filter(
    (edit) => parse(file, applied(source, edit, whole(source))) !== undefined,
  );
  return { candidates: programs, performanceOnly };
}

/** Which string can stand for which, by the unions of all sources. */
export function siblingsOf(
  sources: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> {
  const siblings = new Map<string, Set<string>>();
  const visit = (node: Node): void => {
    for (const union of siblingsIn([node])) {
      for (const name of union) {
        const others = siblings.get(name) ?? new Set();
        siblings.set(name, others);
        for (const other of union) if (other !== name) others.add(other);
      }
    }
    for (const child of childrenOf(node)) visit(child);
  };
  for (const [file, source] of sources) visit(programOf(file, source));
  return new Map([...siblings].map(([name, others]) => [name, [...others]]));
}

function programOf(file: string, source: string): Node {
  const program = parse(file, source);
  if (program === undefined) throw new Error(`${file} does not parse`);
  return program;
}

function whole(source: string): Range {
  return { start: 0, end: source.length };
}

function candidateOf(
  { at, kind, ...edit }: Proposal,
  node: Node,
  ancestors: readonly Node[],
): Candidate {
  if (kind === "statement") {
    return { ...edit, around: { start: node.start, end: node.end, kind } };
  }
  const around = aroundOf(at ?? node, at === undefined ? ancestors : [node, ...ancestors]);
  return { ...edit, around };
}

/** Types, imports, and what only makes the text of an error. */
function isLeftOut(node: Node, source: string): boolean {
  switch (node.type) {
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
      return false;
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ThrowStatement":
      return true;
    case "NewExpression":
      return textOf(source, node.callee).endsWith("Error");
    case "CallExpression":
      return /^(?:unreachable|fieldError)$/.test(textOf(source, node.callee));
    default:
      return node.type.startsWith("TS");
  }
}

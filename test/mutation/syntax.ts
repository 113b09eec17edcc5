import { type Node, parseSync, type Program, visitorKeys } from "oxc-parser";

import type { Candidate, Range } from "./mutant.ts";

export type { Node } from "oxc-parser";

/** Parses a source; undefined when it is none. */
export function parse(file: string, source: string): Program | undefined {
  const { program, errors } = parseSync(file, source, { lang: "ts", preserveParens: false });
  return errors.length === 0 ? program : undefined;
}

/** The nodes right below a node, in the order of the source. */
export function childrenOf(node: Node): readonly Node[] {
  return (visitorKeys[node.type] ?? []).flatMap((key) => {
    const value: unknown = Reflect.get(node, key);
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/**
 * The expression around which a choice can be written without a change of meaning, when something
 * in `node` changes. A callee would lose its `this`, and a part of an optional chain its end.
 * `ancestors` begins with the parent.
 */
export function aroundOf(node: Node, ancestors: readonly Node[]): Candidate["around"] {
  let found = node;
  let link = node;
  for (const parent of ancestors) {
    if (parent.type === "ChainExpression") {
      found = parent;
    } else if (isCallee(parent, link)) {
      found = parent;
    } else if (!(parent.type === "MemberExpression" && parent.object === link)) {
      break;
    }
    link = parent;
  }
  return { start: found.start, end: found.end, kind: "expression" };
}

function isCallee(parent: Node, node: Node): boolean {
  if (parent.type === "TaggedTemplateExpression") return parent.tag === node;
  return parent.type === "CallExpression" && parent.callee === node;
}

/** The text of a range. */
export function textOf(source: string, { start, end }: Range): string {
  return source.slice(start, end);
}

import type { RelationType, RuleDefinition, Schema } from "../language/schema.ts";

/**
 * What a schema means: a formula for every name of every entity type. Plans of all questions are
 * rewrites of it, and the interpreter solves it where no rewrite fits. It knows no subject: a relation
 * says which subjects may stand in it. Immutable once it is lowered.
 */
export interface Network {
  readonly schema: Schema;
  readonly nodes: readonly Node[];
  /** By entity type and name: relations, permissions and boolean attributes. */
  readonly byName: ReadonlyMap<string, ReadonlyMap<string, Node>>;
}

/** A name of an entity type, or an operand in the expression of one. */
export interface Node {
  readonly id: number;
  readonly entityType: string;
  /** The name; of an operand the permission that it stands in. */
  readonly name: string;
  /** No subject and no question can name it. */
  readonly isOperand: boolean;
  readonly formula: Formula;
  /** Nodes with the same number lead to each other; a node leads to its own or lower numbers. */
  readonly component: number;
  /** It leads back to itself. */
  readonly isRecursive: boolean;
  /** It is answered at the entity itself: no walk and no userset below it. */
  readonly isLocal: boolean;
  /** How many entities are likely to fit. */
  readonly breadth: Breadth;
}

/** Tuples lead to few entities, attributes to more, rules to many. */
export type Breadth = 0 | 1 | 2;

/**
 * What holds at an entity. Operands of `and` and `not` are nodes, so that each can become a search of
 * its own, and code that reads a formula recurses through `or` alone.
 */
export type Formula =
  | { readonly kind: "or"; readonly operands: readonly Formula[] }
  | { readonly kind: "and"; readonly operands: readonly Node[] }
  /** Difference. */
  | { readonly kind: "not"; readonly left: Node; readonly right: Node }
  /** Another name of the same entity. */
  | { readonly kind: "node"; readonly node: Node }
  /** The subject stands in the relation, directly or through a userset. The formula of its node. */
  | {
      readonly kind: "relation";
      readonly relation: string;
      readonly types: readonly RelationType[];
      /** What the usersets among the types lead to. */
      readonly usersets: readonly Node[];
    }
  /** A target holds for a subject entity of the relation, with or without a relation of its own. */
  | { readonly kind: "walk"; readonly relation: string; readonly targets: readonly Node[] }
  | { readonly kind: "attribute"; readonly name: string }
  | { readonly kind: "rule"; readonly rule: RuleDefinition };

/** The nodes that a formula mentions, at the same entity or behind a hop. */
export function* mentionedNodes(formula: Formula): Generator<Node> {
  switch (formula.kind) {
    case "or":
      for (const operand of formula.operands) yield* mentionedNodes(operand);
      return;
    case "and":
      yield* formula.operands;
      return;
    case "not":
      yield formula.left;
      yield formula.right;
      return;
    case "node":
      yield formula.node;
      return;
    case "relation":
      yield* formula.usersets;
      return;
    case "walk":
      yield* formula.targets;
      return;
    case "attribute":
    case "rule":
      return;
  }
}

/** All nodes that a node leads to, itself first. */
export function* reachedNodes(root: Node): Generator<Node> {
  const seen = new Set([root]);
  // Grows while it is read.
  for (const node of seen) {
    yield node;
    for (const next of mentionedNodes(node.formula)) seen.add(next);
  }
}

/** A node for a rule that is asked by itself: no name leads to it. */
export function ruleNode(network: Network, entityType: string, rule: RuleDefinition): Node {
  return {
    id: network.nodes.length,
    entityType,
    name: rule.name,
    isOperand: true,
    formula: { kind: "rule", rule },
    component: network.nodes.length,
    isRecursive: false,
    isLocal: true,
    breadth: 2,
  };
}

import { must } from "../../base/assert.ts";
import { componentsOf } from "../../base/graph.ts";
import { Pace, type Steps } from "../../base/steps.ts";
import { runOf } from "../../language/run-of.ts";
import type { EntityDefinition, Expression, Schema } from "../../language/schema.ts";
import { type Breadth, type Formula, mentionedNodes, type Network, type Node } from "../network.ts";

/** An `or` that is nested deeper than this in another one is a node of its own. */
const orDepthMax = 100;

type OpenNode = { -readonly [Key in keyof Node]: Node[Key] };

/**
 * Lowers a schema to its network, the one place where expressions get their meaning.
 *
 * Needs: a compiled schema, whose names are resolved.
 * Guarantees: each relation, permission and boolean attribute has one node; an operand of `and` or
 * `not` that is no plain name has a node of its own; a run of one operator is one formula, with its
 * operands from left to right; nodes know their component and whether they are local.
 */
export function lower(schema: Schema): Steps<Network> {
  return new Lowering(schema).run();
}

class Lowering {
  readonly #schema: Schema;
  readonly #nodes: OpenNode[] = [];
  readonly #byName = new Map<string, ReadonlyMap<string, OpenNode>>();
  /** Nodes without their formula yet: an expression may be deeper than calls may nest. */
  readonly #pending: PendingExpression[] = [];
  /** The targets of walks, which are the same in every expression. */
  readonly #walks = new Map<string, readonly Node[]>();
  readonly #pace = new Pace();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  *run(): Steps<Network> {
    const { entities } = this.#schema;
    for (const entity of entities.values()) {
      this.#byName.set(entity.name, this.#openNames(entity));
      if (this.#pace.step()) yield;
    }
    for (const entity of entities.values()) {
      for (const relation of entity.relations.values()) {
        if (this.#pace.step()) yield;
        const usersets = relation.types.flatMap((type) =>
          type.relation === "" ? [] : [this.#node(type.type, type.relation)],
        );
        const { name, types } = relation;
        this.#node(entity.name, name).formula = {
          kind: "relation",
          relation: name,
          types,
          usersets,
        };
      }
      for (const { name, expression } of entity.permissions.values()) {
        this.#pending.push({ node: this.#node(entity.name, name), entity, expression });
      }
    }
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      if (this.#pace.step()) yield;
      next.node.formula = this.#formula(next, next.expression, 0);
    }
    yield* this.#findComponents();
    return { schema: this.#schema, nodes: this.#nodes, byName: this.#byName };
  }

  #openNames(entity: EntityDefinition): Map<string, OpenNode> {
    const nodes = new Map<string, OpenNode>();
    for (const name of [...entity.relations.keys(), ...entity.permissions.keys()]) {
      nodes.set(name, this.#open(entity.name, name, false));
    }
    for (const [name, type] of entity.attributes) {
      if (type !== "boolean") continue;
      const node = this.#open(entity.name, name, false);
      node.formula = { kind: "attribute", name };
      nodes.set(name, node);
    }
    return nodes;
  }

  #open(entityType: string, name: string, isOperand: boolean): OpenNode {
    const node: OpenNode = {
      id: this.#nodes.length,
      entityType,
      name,
      isOperand,
      formula: { kind: "or", operands: [] },
      component: 0,
      isRecursive: false,
      isLocal: true,
      breadth: 0,
    };
    this.#nodes.push(node);
    return node;
  }

  #node(entityType: string, name: string): OpenNode {
    return must(this.#byName.get(entityType)?.get(name), "a compiled schema names what it has");
  }

  #formula(place: PendingExpression, expression: Expression, depth: number): Formula {
    const { entity } = place;
    switch (expression.kind) {
      case "or":
        if (depth > orDepthMax) return { kind: "node", node: this.#operand(place, expression) };
        return {
          kind: "or",
          operands: runOf<Expression>(expression).map((operand) =>
            this.#formula(place, operand, depth + 1),
          ),
        };
      case "and":
        return {
          kind: "and",
          operands: runOf<Expression>(expression).map((operand) => this.#operand(place, operand)),
        };
      case "not":
        return {
          kind: "not",
          left: this.#operand(place, expression.left),
          right: this.#operand(place, expression.right),
        };
      case "relation":
      case "permission":
      case "attribute":
        return { kind: "node", node: this.#node(entity.name, expression.name) };
      case "walk":
        return {
          kind: "walk",
          relation: expression.relation,
          targets: this.#targets(entity, expression.relation, expression.name),
        };
      case "call": {
        const rule = this.#schema.rules.get(expression.rule);
        return { kind: "rule", rule: must(rule, "a compiled call names a rule") };
      }
    }
  }

  /** A plain name has a node; any other operand gets one. */
  #operand({ entity, node: { name: owner } }: PendingExpression, expression: Expression): Node {
    switch (expression.kind) {
      case "relation":
      case "permission":
      case "attribute":
        return this.#node(entity.name, expression.name);
      case "or":
      case "and":
      case "not":
      case "walk":
      case "call": {
        const node = this.#open(entity.name, owner, true);
        this.#pending.push({ node, entity, expression });
        return node;
      }
    }
  }

  /** One for each type of the relation that has the name (decisions.md: others contribute nothing). */
  #targets(entity: EntityDefinition, relation: string, name: string): readonly Node[] {
    const definition = must(entity.relations.get(relation), "a compiled walk names a relation");
    const key = `${entity.name} ${relation} ${name}`;
    const known = this.#walks.get(key);
    if (known !== undefined) return known;
    const types = new Set(definition.types.map(({ type }) => type));
    const targets = [...types].flatMap((type) => {
      const node = this.#byName.get(type)?.get(name);
      return node === undefined || node.formula.kind === "attribute" ? [] : [node];
    });
    this.#walks.set(key, targets);
    return targets;
  }

  *#findComponents(): Steps<void> {
    const components = yield* componentsOf(this.#nodes, (node) => mentionedNodes(node.formula));
    for (const [number, { members, isCyclic }] of components.entries()) {
      for (const member of members) {
        if (this.#pace.step()) yield;
        const node = must(this.#nodes[member.id], "a member is a node");
        node.component = number;
        node.isRecursive = isCyclic;
      }
      // Other components that members mention are done, and all members have the same value.
      const isLocal = members.every(({ formula }) => isLocalFormula(formula));
      const breadth = members.reduce<Breadth>(
        (most, node) => widest(most, breadthOf(node.formula)),
        0,
      );
      for (const member of members) {
        const node = must(this.#nodes[member.id], "a member is a node");
        node.isLocal = isLocal;
        node.breadth = breadth;
      }
    }
  }
}

interface PendingExpression {
  readonly node: OpenNode;
  readonly entity: EntityDefinition;
  readonly expression: Expression;
}

function isLocalFormula(formula: Formula): boolean {
  switch (formula.kind) {
    case "or":
      return formula.operands.every(isLocalFormula);
    case "and":
    case "not":
    case "node":
      return mentionedNodes(formula).every(({ isLocal }) => isLocal);
    case "relation":
      return formula.usersets.length === 0;
    case "walk":
      return false;
    case "attribute":
    case "rule":
      return true;
  }
}

function breadthOf(formula: Formula): Breadth {
  switch (formula.kind) {
    case "or":
      return formula.operands.map(breadthOf).reduce(widest, 0);
    case "and":
      return formula.operands.map(({ breadth }) => breadth).reduce(narrowest, 2);
    case "node":
      return formula.node.breadth;
    case "not":
      return formula.left.breadth;
    case "walk":
      return formula.targets.map(({ breadth }) => breadth).reduce(widest, 0);
    case "relation":
      return 0;
    case "attribute":
      return 1;
    case "rule":
      return 2;
  }
}

function widest(a: Breadth, b: Breadth): Breadth {
  return a > b ? a : b;
}

function narrowest(a: Breadth, b: Breadth): Breadth {
  return a < b ? a : b;
}

import { Pace, type Steps } from "../base/steps.ts";
import type { Entity, Subject } from "../base/tuple.ts";
import { defaultValue } from "../condition/defaults.ts";
import type { RuleDefinition } from "../language/schema.ts";
import type { Facts } from "../memory/facts.ts";
import { treeMax } from "../plan/limit.ts";
import type { Formula, Node } from "../plan/network.ts";
import type { ExpandNode, ExpandTree } from "./expand-tree.ts";
import { treeIds, TreeSize } from "./tree-size.ts";

/**
 * The tree of a node at an entity, a walk over the formulas of the network. Cycles are cut where a
 * name meets itself. A tree that outgrows `treeMax` fails with GATHER_LIMIT_EXCEEDED.
 */
export function expand(facts: Facts, entity: Entity, root: Node): Steps<ExpandTree> {
  return new Expansion(facts).expandNode(entity, root);
}

type Relation = Extract<Formula, { readonly kind: "relation" }>;
type Walk = Extract<Formula, { readonly kind: "walk" }>;

/** The subjects of a relation of an entity, on every path to it. */
interface Members {
  readonly leaf: ExpandNode & { readonly kind: "subjects" };
  readonly usersets: readonly ExpandTarget[];
}

interface ExpandTarget {
  readonly entity: Entity;
  readonly node: Node;
}

class Expansion {
  readonly #facts: Facts;
  /** The names on the path from the root, to end cycles. */
  readonly #path = new Set<string>();
  readonly #members = new Map<string, Members>();
  readonly #targets = new Map<string, readonly ExpandTarget[]>();
  readonly #size = new TreeSize();
  readonly #pace = new Pace();

  constructor(facts: Facts) {
    this.#facts = facts;
  }

  *expandNode(entity: Entity, node: Node): Steps<ExpandTree> {
    if (this.#pace.step()) yield;
    const { name, formula } = node;
    if (node.isOperand) return yield* this.#expandFormula(entity, name, formula);
    const key = nodeKey(entity, name);
    if (this.#path.has(key)) {
      const itself = { ...entity, relation: name };
      return this.#leaf(entity, name, { kind: "subjects", subjects: [itself] });
    }
    this.#path.add(key);
    this.#size.enter();
    const tree = yield* this.#expandFormula(entity, name, formula);
    this.#size.leave();
    this.#path.delete(key);
    return tree;
  }

  *#expandFormula(entity: Entity, owner: string, formula: Formula): Steps<ExpandTree> {
    switch (formula.kind) {
      case "or":
        return yield* this.#expandRun(
          { entity, owner, kind: "union" },
          formula.operands.map((operand) => () => this.#expandFormula(entity, owner, operand)),
        );
      case "and":
        return yield* this.#expandRun(
          { entity, owner, kind: "intersection" },
          formula.operands.map((operand) => () => this.expandNode(entity, operand)),
        );
      case "not":
        return yield* this.#expandRun(
          { entity, owner, kind: "exclusion" },
          [formula.left, formula.right].map((operand) => () => this.expandNode(entity, operand)),
        );
      case "node":
        return yield* this.expandNode(entity, formula.node);
      case "relation":
        return yield* this.#expandRelation(entity, formula);
      case "walk":
        return yield* this.#expandWalk(entity, formula);
      case "attribute":
        return this.#expandAttribute(entity, formula.name);
      case "rule":
        return this.#expandRule(entity, formula.rule);
    }
  }

  /** A run of one operator is a tree of its pairs, to the left. */
  *#expandRun(
    run: { readonly entity: Entity; readonly owner: string; readonly kind: SetOperation },
    operands: readonly (() => Steps<ExpandTree>)[],
  ): Steps<ExpandTree> {
    const { entity, owner, kind } = run;
    for (const _ of operands.slice(1)) this.#size.enter();
    let tree: ExpandTree | undefined;
    for (const operand of operands) {
      const right = yield* operand();
      if (tree === undefined) {
        tree = right;
        continue;
      }
      tree = this.#tree(entity, owner, { kind, children: [tree, right] });
      this.#size.leave();
    }
    return tree ?? this.#tree(entity, owner, { kind, children: [] });
  }

  /** Usersets first, each with its own tree; then all subjects of the relation in one leaf. */
  *#expandRelation(entity: Entity, formula: Relation): Steps<ExpandTree> {
    const { relation } = formula;
    const { leaf: node, usersets } = yield* this.#membersOf(entity, formula);
    const leaf = this.#leaf(entity, relation, node);
    if (usersets.length === 0) return leaf;
    const children: ExpandTree[] = [];
    for (const userset of usersets) {
      children.push(yield* this.expandNode(userset.entity, userset.node));
    }
    return this.#tree(entity, relation, { kind: "union", children: [...children, leaf] });
  }

  *#expandWalk(entity: Entity, walk: Walk): Steps<ExpandTree> {
    const children: ExpandTree[] = [];
    for (const target of yield* this.#targetsOf(entity, walk)) {
      children.push(yield* this.expandNode(target.entity, target.node));
    }
    return this.#tree(entity, walk.relation, { kind: "union", children });
  }

  #expandAttribute(entity: Entity, name: string): ExpandTree {
    const value = this.#facts.attribute(entity, name) ?? defaultValue("boolean");
    this.#size.addValue(value);
    return this.#tree(entity, name, { kind: "value", value });
  }

  #expandRule(entity: Entity, rule: RuleDefinition): ExpandTree {
    const values = new Map(
      [...rule.parameters].map(([name, type]) => [
        name,
        this.#facts.attribute(entity, name) ?? defaultValue(type),
      ]),
    );
    for (const value of values.values()) this.#size.addValue(value);
    return {
      ...this.#tree(entity, rule.name, { kind: "values", values }),
      arguments: [...rule.parameters.keys()],
    };
  }

  *#membersOf(entity: Entity, { relation, types, usersets }: Relation): Steps<Members> {
    const key = nodeKey(entity, relation);
    const known = this.#members.get(key);
    if (known !== undefined) return known;
    const direct: Subject[] = [];
    const others: Subject[] = [];
    const targets: ExpandTarget[] = [];
    for (const { type, relation: name } of types) {
      const ids = this.#facts.subjectIds(entity, [relation], type, name);
      const nodes = usersets.filter((node) => node.entityType === type && node.name === name);
      for (const id of yield* treeIds(ids, treeMax.subjects, this.#pace)) {
        if (this.#pace.step()) yield;
        (name === "" ? direct : others).push({ type, id, relation: name });
        if (name === "") continue;
        for (const node of nodes) targets.push({ entity: { type, id }, node });
      }
    }
    const leaf: Members["leaf"] = { kind: "subjects", subjects: [...direct, ...others] };
    const members = { leaf, usersets: targets };
    this.#members.set(key, members);
    return members;
  }

  *#targetsOf(entity: Entity, { relation, targets: nodes }: Walk): Steps<readonly ExpandTarget[]> {
    const key = `${nodeKey(entity, relation)}\0${nodes[0]?.name ?? ""}`;
    const known = this.#targets.get(key);
    if (known !== undefined) return known;
    const targets: ExpandTarget[] = [];
    for (const node of nodes) {
      const { entityType: type } = node;
      const ids = this.#facts.subjectIds(entity, [relation], type, undefined);
      for (const id of yield* treeIds(ids, treeMax.nodes, this.#pace)) {
        targets.push({ entity: { type, id }, node });
      }
    }
    this.#targets.set(key, targets);
    return targets;
  }

  #leaf(entity: Entity, name: string, node: Members["leaf"]): ExpandTree {
    this.#size.addSubjects(node.subjects.length);
    return this.#tree(entity, name, node);
  }

  #tree(entity: Entity, name: string, node: ExpandNode): ExpandTree {
    this.#size.addNode();
    return { entity, name, arguments: [], node };
  }
}

type SetOperation = "union" | "intersection" | "exclusion";

function nodeKey(entity: Entity, name: string): string {
  return `${entity.type}\0${entity.id}\0${name}`;
}

import { must } from "../base/assert.ts";
import { PembaError } from "../base/error.ts";
import type { AttributeValue, Entity, Subject } from "../base/tuple.ts";
import { defaultValue } from "../condition/defaults.ts";
import type {
  EntityDefinition,
  Expression,
  RelationDefinition,
  RuleDefinition,
  Schema,
} from "../language/schema.ts";
import type { Facts } from "./facts.ts";

/** How an answer comes about: a node for each operator, userset and walk, subjects as leaves. */
export interface ExpandTree {
  readonly entity: Entity;
  /** The relation, permission, attribute or rule that the node stands for. */
  readonly name: string;
  /** Attribute names when the node is a rule; else empty. */
  readonly arguments: readonly string[];
  readonly node: ExpandNode;
}

export type ExpandNode =
  | {
      readonly kind: "union" | "intersection" | "exclusion";
      readonly children: readonly ExpandTree[];
    }
  | { readonly kind: "subjects"; readonly subjects: readonly Subject[] }
  | { readonly kind: "value"; readonly value: AttributeValue }
  | { readonly kind: "values"; readonly values: ReadonlyMap<string, AttributeValue> };

/** Shared parts of a graph come once for each way to them, so a tree can outgrow its graph. */
const nodesMax = 10_000;

/** The tree of a name that the entity's type defines. Cycles are cut where a node meets itself. */
export function expandTree(schema: Schema, facts: Facts, entity: Entity, name: string): ExpandTree {
  return new Expansion(schema, facts).expandName(entity, name);
}

class Expansion {
  readonly #schema: Schema;
  readonly #facts: Facts;
  /** The names on the way from the root, to end cycles. */
  readonly #path = new Set<string>();
  #nodes = 0;

  constructor(schema: Schema, facts: Facts) {
    this.#schema = schema;
    this.#facts = facts;
  }

  expandName(entity: Entity, name: string): ExpandTree {
    const key = `${entity.type}\0${entity.id}\0${name}`;
    if (this.#path.has(key)) {
      const itself = { ...entity, relation: name };
      return this.#tree(entity, name, { kind: "subjects", subjects: [itself] });
    }
    this.#path.add(key);
    const tree = this.#expandDefinition(entity, name);
    this.#path.delete(key);
    return tree;
  }

  #expandDefinition(entity: Entity, name: string): ExpandTree {
    const definition = this.#definition(entity);
    const relation = definition.relations.get(name);
    if (relation !== undefined) return this.#expandRelation(entity, relation);
    const permission = definition.permissions.get(name);
    if (permission !== undefined)
      return this.#expandExpression(entity, name, permission.expression);
    if (definition.attributes.has(name)) return this.#expandAttribute(entity, name);
    const rule = must(this.#schema.rules.get(name), "an expanded name is defined");
    return this.#expandRule(entity, rule);
  }

  #expandExpression(entity: Entity, owner: string, expression: Expression): ExpandTree {
    switch (expression.kind) {
      case "or":
      case "and":
      case "not": {
        const children = [
          this.#expandExpression(entity, owner, expression.left),
          this.#expandExpression(entity, owner, expression.right),
        ];
        return this.#tree(entity, owner, { kind: operations[expression.kind], children });
      }
      case "relation":
      case "permission":
      case "attribute":
        return this.expandName(entity, expression.name);
      case "walk":
        return this.#expandWalk(entity, expression);
      case "call":
        return this.#expandRule(
          entity,
          must(this.#schema.rules.get(expression.rule), "a compiled call names a rule"),
        );
    }
  }

  /** Usersets first, each with its own tree; then all subjects of the relation in one leaf. */
  #expandRelation(entity: Entity, relation: RelationDefinition): ExpandTree {
    const subjects = this.#subjectsOf(entity, relation);
    const usersets = subjects.filter((subject) => subject.relation !== "");
    const leaf = this.#tree(entity, relation.name, {
      kind: "subjects",
      subjects: [...subjects.filter((subject) => subject.relation === ""), ...usersets],
    });
    if (usersets.length === 0) return leaf;
    const children = usersets.map(({ type, id, relation: name }) =>
      this.expandName({ type, id }, name),
    );
    return this.#tree(entity, relation.name, { kind: "union", children: [...children, leaf] });
  }

  /** A type that does not have the name contributes nothing (decisions, evaluation). */
  #expandWalk(entity: Entity, walk: Extract<Expression, { kind: "walk" }>): ExpandTree {
    const relation = must(
      this.#definition(entity).relations.get(walk.relation),
      "a compiled walk names a relation",
    );
    const types = new Set(relation.types.map(({ type }) => type));
    const targets = [...types]
      .filter((type) => this.#hasName(type, walk.name))
      .flatMap((type) => {
        const ids = this.#facts.subjectIds(entity, [walk.relation], type, undefined);
        return [...new Set(ids)].toSorted(byBytes).map((id) => ({ type, id }));
      });
    const children = targets.map((target) => this.expandName(target, walk.name));
    return this.#tree(entity, walk.relation, { kind: "union", children });
  }

  #expandAttribute(entity: Entity, name: string): ExpandTree {
    const type = must(this.#definition(entity).attributes.get(name), "an attribute has a type");
    const value = this.#facts.attribute(entity, name) ?? defaultValue(type);
    return this.#tree(entity, name, { kind: "value", value });
  }

  #expandRule(entity: Entity, rule: RuleDefinition): ExpandTree {
    const values = new Map(
      [...rule.parameters].map(([name, type]) => [
        name,
        this.#facts.attribute(entity, name) ?? defaultValue(type),
      ]),
    );
    return {
      ...this.#tree(entity, rule.name, { kind: "values", values }),
      arguments: [...rule.parameters.keys()],
    };
  }

  #subjectsOf(entity: Entity, relation: RelationDefinition): Subject[] {
    return relation.types.flatMap(({ type, relation: name }) => {
      const ids = this.#facts.subjectIds(entity, [relation.name], type, name);
      return [...new Set(ids)].toSorted(byBytes).map((id) => ({ type, id, relation: name }));
    });
  }

  #definition(entity: Entity): EntityDefinition {
    return must(this.#schema.entities.get(entity.type), "an expanded entity has a definition");
  }

  #hasName(type: string, name: string): boolean {
    const definition = this.#schema.entities.get(type);
    return (
      definition !== undefined &&
      (definition.relations.has(name) || definition.permissions.has(name))
    );
  }

  #tree(entity: Entity, name: string, node: ExpandNode): ExpandTree {
    this.#nodes += 1;
    if (this.#nodes > nodesMax) {
      throw new PembaError(
        "GATHER_LIMIT_EXCEEDED",
        `the tree has more than ${nodesMax} nodes, expand a permission nearer to its subjects`,
      );
    }
    return { entity, name, arguments: [], node };
  }
}

const operations = { or: "union", and: "intersection", not: "exclusion" } as const;

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

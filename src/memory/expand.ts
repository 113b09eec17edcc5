import { must } from "../base/assert.ts";
import type { AttributeValue, Entity, Subject } from "../base/tuple.ts";
import { defaultValue } from "../condition/defaults.ts";
import type {
  EntityDefinition,
  Expression,
  RelationDefinition,
  RuleDefinition,
  Schema,
} from "../language/schema.ts";
import { treeMax } from "../plan/limit.ts";
import type { Facts } from "./facts.ts";
import { runThrough, type Steps } from "./pace.ts";
import { treeIds, TreeSize } from "./tree-size.ts";

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

/**
 * The tree of a name that the entity's type defines. Cycles are cut where a node meets itself. A
 * tree that outgrows `treeMax` fails with GATHER_LIMIT_EXCEEDED.
 */
export function expandTree(schema: Schema, facts: Facts, entity: Entity, name: string): ExpandTree {
  return runThrough(expandInSteps(schema, facts, entity, name));
}

/** The same in turns with others. */
export function expandInSteps(
  schema: Schema,
  facts: Facts,
  entity: Entity,
  name: string,
): Steps<ExpandTree> {
  return new Expansion(schema, facts).expandName(entity, name);
}

/** The subjects of a relation of an entity, as every way to it has them. */
interface Members {
  readonly leaf: ExpandNode & { readonly kind: "subjects" };
  readonly usersets: readonly Subject[];
}

class Expansion {
  readonly #schema: Schema;
  readonly #facts: Facts;
  /** The names on the way from the root, to end cycles. */
  readonly #path = new Set<string>();
  readonly #members = new Map<string, Members>();
  readonly #targets = new Map<string, readonly Entity[]>();
  readonly #size = new TreeSize();

  constructor(schema: Schema, facts: Facts) {
    this.#schema = schema;
    this.#facts = facts;
  }

  *expandName(entity: Entity, name: string): Steps<ExpandTree> {
    // A name may have subjects without number.
    yield;
    const key = keyOf(entity, name);
    if (this.#path.has(key)) {
      const itself = { ...entity, relation: name };
      return this.#leaf(entity, name, { kind: "subjects", subjects: [itself] });
    }
    this.#path.add(key);
    this.#size.enter();
    const tree = yield* this.#expandDefinition(entity, name);
    this.#size.leave();
    this.#path.delete(key);
    return tree;
  }

  *#expandDefinition(entity: Entity, name: string): Steps<ExpandTree> {
    const definition = this.#definition(entity);
    const relation = definition.relations.get(name);
    if (relation !== undefined) return yield* this.#expandRelation(entity, relation);
    const permission = definition.permissions.get(name);
    if (permission !== undefined) {
      return yield* this.#expandExpression(entity, name, permission.expression);
    }
    if (definition.attributes.has(name)) return this.#expandAttribute(entity, name);
    const rule = must(this.#schema.rules.get(name), "an expanded name is defined");
    return this.#expandRule(entity, rule);
  }

  *#expandExpression(entity: Entity, owner: string, expression: Expression): Steps<ExpandTree> {
    switch (expression.kind) {
      case "or":
      case "and":
      case "not": {
        this.#size.enter();
        const children = [
          yield* this.#expandExpression(entity, owner, expression.left),
          yield* this.#expandExpression(entity, owner, expression.right),
        ];
        this.#size.leave();
        return this.#tree(entity, owner, { kind: operations[expression.kind], children });
      }
      case "relation":
      case "permission":
      case "attribute":
        return yield* this.expandName(entity, expression.name);
      case "walk":
        return yield* this.#expandWalk(entity, expression);
      case "call":
        return this.#expandRule(
          entity,
          must(this.#schema.rules.get(expression.rule), "a compiled call names a rule"),
        );
    }
  }

  /** Usersets first, each with its own tree; then all subjects of the relation in one leaf. */
  *#expandRelation(entity: Entity, relation: RelationDefinition): Steps<ExpandTree> {
    const { leaf: node, usersets } = this.#membersOf(entity, relation);
    const leaf = this.#leaf(entity, relation.name, node);
    if (usersets.length === 0) return leaf;
    const children: ExpandTree[] = [];
    for (const { type, id, relation: name } of usersets) {
      children.push(yield* this.expandName({ type, id }, name));
    }
    return this.#tree(entity, relation.name, { kind: "union", children: [...children, leaf] });
  }

  /** A type that does not have the name contributes nothing (decisions, evaluation). */
  *#expandWalk(entity: Entity, walk: Extract<Expression, { kind: "walk" }>): Steps<ExpandTree> {
    const children: ExpandTree[] = [];
    for (const target of this.#targetsOf(entity, walk)) {
      children.push(yield* this.expandName(target, walk.name));
    }
    return this.#tree(entity, walk.relation, { kind: "union", children });
  }

  #expandAttribute(entity: Entity, name: string): ExpandTree {
    const type = must(this.#definition(entity).attributes.get(name), "an attribute has a type");
    const value = this.#facts.attribute(entity, name) ?? defaultValue(type);
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

  #membersOf(entity: Entity, relation: RelationDefinition): Members {
    const key = keyOf(entity, relation.name);
    let members = this.#members.get(key);
    if (members === undefined) {
      const subjects = relation.types.flatMap(({ type, relation: name }) => {
        const ids = this.#facts.subjectIds(entity, [relation.name], type, name);
        return treeIds(ids, treeMax.subjects).map((id) => ({ type, id, relation: name }));
      });
      const usersets = subjects.filter((subject) => subject.relation !== "");
      const direct = subjects.filter((subject) => subject.relation === "");
      members = { leaf: { kind: "subjects", subjects: [...direct, ...usersets] }, usersets };
      this.#members.set(key, members);
    }
    return members;
  }

  #targetsOf(entity: Entity, walk: Extract<Expression, { kind: "walk" }>): readonly Entity[] {
    const key = `${keyOf(entity, walk.relation)}\0${walk.name}`;
    let targets = this.#targets.get(key);
    if (targets === undefined) {
      const relation = must(
        this.#definition(entity).relations.get(walk.relation),
        "a compiled walk names a relation",
      );
      const types = new Set(relation.types.map(({ type }) => type));
      targets = [...types]
        .filter((type) => this.#hasName(type, walk.name))
        .flatMap((type) => {
          const ids = this.#facts.subjectIds(entity, [walk.relation], type, undefined);
          return treeIds(ids, treeMax.nodes).map((id) => ({ type, id }));
        });
      this.#targets.set(key, targets);
    }
    return targets;
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

  #leaf(entity: Entity, name: string, node: Members["leaf"]): ExpandTree {
    this.#size.addSubjects(node.subjects.length);
    return this.#tree(entity, name, node);
  }

  #tree(entity: Entity, name: string, node: ExpandNode): ExpandTree {
    this.#size.addNode();
    return { entity, name, arguments: [], node };
  }
}

const operations = { or: "union", and: "intersection", not: "exclusion" } as const;

function keyOf(entity: Entity, name: string): string {
  return `${entity.type}\0${entity.id}\0${name}`;
}

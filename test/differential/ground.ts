import { must, unreachable } from "../../src/base/assert.ts";
import type {
  Attribute,
  AttributeValue,
  Context,
  Entity,
  Subject,
  Tuple,
} from "../../src/base/tuple.ts";
import { defaultValue } from "../../src/condition/defaults.ts";
import type { EntityDefinition, Expression, Schema } from "../../src/language/schema.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";

/**
 * A question written out as propositional rules: one atom for each (entity, name) that can be
 * reached, no graph left. Deliberately naive, so that it can be read next to the contract.
 */
export interface Program {
  readonly root: string;
  /** What each atom means; every atom that a formula mentions has one. */
  readonly rules: ReadonlyMap<string, Formula>;
  /** Where an atom stands; those of negations and of an asked rule stand where they are mentioned. */
  readonly entities: ReadonlyMap<string, Entity>;
}

export type Fault = "RULE_EVALUATION" | "ATTRIBUTE_TYPE_MISMATCH";

/** `right` of a `not` is always an atom, so that negation means one thing however it is nested. */
export type Formula =
  | { readonly kind: "value"; readonly value: boolean }
  | { readonly kind: "fault"; readonly fault: Fault }
  | { readonly kind: "atom"; readonly key: string; readonly hops: 0 | 1 }
  | { readonly kind: "or" | "and"; readonly operands: readonly Formula[] }
  | { readonly kind: "not"; readonly left: Formula; readonly right: string };

/** One tenant's data at one moment, with nothing merged in yet. */
export interface Facts {
  readonly tuples: readonly Tuple[];
  readonly attributes: readonly Attribute[];
}

export interface Question {
  readonly schema: Schema;
  readonly facts: Facts;
  readonly context: Context;
  readonly entity: Entity;
  readonly permission: string;
  readonly subject: Subject;
}

/** The rules of a question, or undefined when it asks for a name that the schema does not have. */
export function ground(question: Question): Program | undefined {
  const definition = question.schema.entities.get(question.entity.type);
  if (definition === undefined || !isSubject(question)) return undefined;
  const grounding = new Grounding(question);
  if (isNode(definition, question.permission)) {
    const root = grounding.atom(question.entity, question.permission);
    return { root, rules: grounding.rules, entities: grounding.entities };
  }
  if (!question.schema.rules.has(question.permission)) return undefined;
  const root = grounding.define("asked rule", () =>
    grounding.call(question.entity, question.permission),
  );
  return { root, rules: grounding.rules, entities: grounding.entities };
}

/** Whether it asks a rule of an entity whose type lacks an attribute for one of the parameters. */
export function asksMisfitRule({ schema, entity, permission }: Question): boolean {
  const definition = schema.entities.get(entity.type);
  const rule = schema.rules.get(permission);
  if (definition === undefined || rule === undefined) return false;
  if (isNode(definition, permission)) return false;
  return [...rule.parameters].some(([name, type]) => definition.attributes.get(name) !== type);
}

function isSubject({ schema, subject }: Question): boolean {
  const definition = schema.entities.get(subject.type);
  if (definition === undefined) return false;
  return subject.relation === "" || isNode(definition, subject.relation);
}

function isNode(definition: EntityDefinition, name: string): boolean {
  return (
    definition.relations.has(name) ||
    definition.permissions.has(name) ||
    definition.attributes.get(name) === "boolean"
  );
}

class Grounding {
  readonly rules = new Map<string, Formula>();
  readonly entities = new Map<string, Entity>();
  readonly #question: Question;
  #negations = 0;

  constructor(question: Question) {
    this.#question = question;
  }

  /** The atom of a name at an entity; a name that is met a second time is already defined. */
  atom(entity: Entity, name: string): string {
    const key = `${entity.type}:${entity.id}#${name}`;
    this.entities.set(key, entity);
    return this.define(key, () => this.#meaning(entity, name));
  }

  define(key: string, meaning: () => Formula): string {
    if (!this.rules.has(key)) {
      this.rules.set(key, { kind: "value", value: false });
      this.rules.set(key, meaning());
    }
    return key;
  }

  #meaning(entity: Entity, name: string): Formula {
    const { schema, subject } = this.#question;
    if (subject.type === entity.type && subject.id === entity.id && subject.relation === name) {
      return { kind: "value", value: true };
    }
    const definition = must(schema.entities.get(entity.type), "the type of a node is known");
    if (definition.relations.has(name)) return this.#relation(entity, name);
    const permission = definition.permissions.get(name);
    if (permission !== undefined) return this.#expression(entity, permission.expression);
    return this.#attribute(entity, name);
  }

  #tuples(entity: Entity, relation: string): readonly Tuple[] {
    const { facts, context } = this.#question;
    return [...facts.tuples, ...context.tuples].filter(
      (tuple) =>
        tuple.entity.type === entity.type &&
        tuple.entity.id === entity.id &&
        tuple.relation === relation,
    );
  }

  #declared(entity: Entity, relation: string): readonly { type: string; relation: string }[] {
    const definition = this.#question.schema.entities.get(entity.type)?.relations.get(relation);
    return must(definition, "the relation of a node is declared").types;
  }

  #relation(entity: Entity, name: string): Formula {
    const asked = this.#question.subject;
    const types = this.#declared(entity, name);
    const operands: Formula[] = [];
    for (const { subject } of this.#tuples(entity, name)) {
      const { type, relation } = subject;
      if (!types.some((one) => one.type === type && one.relation === relation)) continue;
      if (type === asked.type && subject.id === asked.id && relation === asked.relation) {
        operands.push({ kind: "value", value: true });
      } else if (relation !== "") {
        operands.push({ kind: "atom", key: this.atom(subject, relation), hops: 1 });
      }
    }
    return { kind: "or", operands };
  }

  #walk(entity: Entity, relation: string, name: string): Formula {
    const types = this.#declared(entity, relation);
    const operands: Formula[] = [];
    for (const { subject } of this.#tuples(entity, relation)) {
      if (!types.some((one) => one.type === subject.type)) continue;
      const target = this.#question.schema.entities.get(subject.type);
      if (target?.relations.has(name) !== true && target?.permissions.has(name) !== true) continue;
      operands.push({ kind: "atom", key: this.atom(subject, name), hops: 1 });
    }
    return { kind: "or", operands };
  }

  #expression(entity: Entity, expression: Expression): Formula {
    switch (expression.kind) {
      case "or":
      case "and":
        return {
          kind: expression.kind,
          operands: [
            this.#expression(entity, expression.left),
            this.#expression(entity, expression.right),
          ],
        };
      case "not": {
        const left = this.#expression(entity, expression.left);
        this.#negations += 1;
        const right = this.define(`negation ${this.#negations}`, () =>
          this.#expression(entity, expression.right),
        );
        return { kind: "not", left, right };
      }
      case "relation":
      case "permission":
      case "attribute":
        return { kind: "atom", key: this.atom(entity, expression.name), hops: 0 };
      case "walk":
        return this.#walk(entity, expression.relation, expression.name);
      case "call":
        return this.call(entity, expression.rule);
      default:
        return unreachable(expression);
    }
  }

  #stored(entity: Entity, name: string): AttributeValue | undefined {
    const { facts, context } = this.#question;
    return [...context.attributes, ...facts.attributes].find(
      (one) =>
        one.entity.type === entity.type && one.entity.id === entity.id && one.attribute === name,
    )?.value;
  }

  #attribute(entity: Entity, name: string): Formula {
    const value = this.#stored(entity, name);
    if (value === undefined) return { kind: "value", value: false };
    if (value.type !== "boolean") return { kind: "fault", fault: "ATTRIBUTE_TYPE_MISMATCH" };
    return { kind: "value", value: value.data };
  }

  call(entity: Entity, name: string): Formula {
    const { schema, context } = this.#question;
    const rule = must(schema.rules.get(name), "a called rule is declared");
    const parameters = new Map<string, AttributeValue>();
    for (const [parameter, type] of rule.parameters) {
      const value = this.#stored(entity, parameter) ?? defaultValue(type);
      if (value.type !== type) return { kind: "fault", fault: "ATTRIBUTE_TYPE_MISMATCH" };
      parameters.set(parameter, value);
    }
    const verdict = evaluateCondition(rule.condition, { parameters, data: context.data });
    if (verdict.kind === "fault") return { kind: "fault", fault: "RULE_EVALUATION" };
    return { kind: "value", value: verdict.value };
  }
}

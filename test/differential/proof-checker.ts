import { isDeepStrictEqual } from "node:util";

import { must } from "../../src/base/assert.ts";
import type { AttributeValue, Entity, Subject, Tuple } from "../../src/base/tuple.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../../src/base/verdict.ts";
import { defaultValue } from "../../src/condition/defaults.ts";
import type { EntityDefinition, Expression } from "../../src/language/schema.ts";
import type { ProofNode } from "../../src/store/explanation.ts";
import { evaluateCondition } from "../support/evaluate-condition.ts";
import { subjectText } from "./case.ts";
import { leastHops } from "./depth-cost.ts";
import { ground, type Program, type Question } from "./ground.ts";
import { TextPlaces } from "./text-places.ts";
import { type Model, wellFoundedModel } from "./well-founded.ts";

/** A question with the text of its schema and the depth that was asked. */
export interface Explained {
  readonly question: Question;
  readonly text: string;
  readonly depth: number;
}

/**
 * What is wrong with a tree that explains an answer, from which nothing was left out. It is read next
 * to the schema and the facts, by the rules of the contract alone: each step must follow, each verdict
 * must be that of the oracle, and no proof may be longer than the shortest that the oracle finds.
 */
export function proofFaults(explained: Explained, proof: ProofNode): readonly string[] {
  const program = must(ground(explained.question), "only what is known is explained");
  return new ProofChecker(explained, program).faultsOf(proof);
}

/** What a node of the tree must be, with the hops from the question to it. */
interface Expected {
  readonly node: ProofNode;
  readonly entity: Entity;
  readonly hops: number;
  /** All above it is allowed. */
  readonly isProof: boolean;
  readonly meaning: Meaning;
}

type Below = Pick<Expected, "entity" | "hops" | "meaning">;

type Meaning =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "operand"; readonly owner: string; readonly expression: Expression }
  /** One of several tuples. */
  | { readonly kind: "hop"; readonly owner: string; readonly via: Via; readonly tuple: Tuple };

/** Undefined in a relation, else the name that a walk asks. */
interface Via {
  readonly walked: string | undefined;
}

class ProofChecker {
  readonly #faults: string[] = [];
  readonly #explained: Explained;
  readonly #model: Model;
  readonly #hopsOf: (key: string) => number;
  readonly #places: TextPlaces;
  readonly #queue: Expected[] = [];
  /** Names that have come already. */
  readonly #seen = new Set<string>();

  constructor(explained: Explained, program: Program) {
    this.#explained = explained;
    this.#model = wellFoundedModel(program);
    this.#hopsOf = leastHops(program, this.#model);
    this.#places = new TextPlaces(explained.text);
  }

  faultsOf(proof: ProofNode): readonly string[] {
    const { entity, permission: name } = this.#explained.question;
    const meaning = { kind: "name", name } as const;
    this.#queue.push({ node: proof, entity, hops: 0, isProof: true, meaning });
    // Grows while it is read, level by level: so what comes first in the tree is met first.
    for (const expected of this.#queue) this.#check(expected);
    return this.#faults;
  }

  #check(expected: Expected): void {
    const { node, entity, meaning, hops } = expected;
    const name = meaning.kind === "name" ? meaning.name : meaning.owner;
    this.#same(expected, "entity", node.entity, entity);
    this.#same(expected, "name", node.name, name);
    if (meaning.kind === "hop") return this.#checkHop(expected, meaning);
    const verdict = this.#verdict(entity, meaning);
    this.#same(expected, "verdict", node.verdict, verdict);
    const isTooDeep =
      verdict === ALLOWED && hops + this.#cost(entity, meaning) > this.#explained.depth;
    this.#same(expected, "too deep", node.reason === "depth", isTooDeep);
    if (isTooDeep) return this.#checkChildren(expected, []);
    if (meaning.kind === "operand") {
      this.#fault(
        expected,
        this.#places.faultOfExpression(node.place, meaning.expression, undefined),
      );
      return this.#checkExpression(expected, meaning.expression);
    }
    const key = keyOf(entity, meaning.name);
    const isRepeat = this.#seen.has(key) && !(expected.isProof && verdict === ALLOWED);
    this.#seen.add(key);
    this.#checkName(
      isRepeat ? { ...expected, node: { ...node, children: [] } } : expected,
      isRepeat,
    );
    if (isRepeat) this.#same(expected, "children of a repeated name", node.children.length, 0);
  }

  #checkName(expected: Expected, isRepeat: boolean): void {
    const { node, entity, meaning } = expected;
    const { subject, schema } = this.#explained.question;
    const name = meaning.kind === "name" ? meaning.name : "";
    const definition = this.#definition(entity);
    const permission = definition.permissions.get(name);
    this.#fault(expected, this.#faultOfPlace(node, entity, name));
    if (keyOf(subject, subject.relation) === keyOf(entity, name) && subject.relation !== "") {
      this.#same(expected, "reason", node.reason, "userset");
      this.#same(expected, "tuple", node.tuple, undefined);
      return this.#checkChildren(expected, []);
    }
    if (permission !== undefined)
      return this.#checkExpression(expected, permission.expression, isRepeat);
    if (definition.relations.has(name)) {
      return this.#checkHops(expected, { relation: name, walked: undefined }, isRepeat);
    }
    if (definition.attributes.has(name)) return this.#checkAttribute(expected, name);
    this.#checkRule(expected, must(schema.rules.get(name), "what is asked has a meaning").name);
  }

  #checkExpression(expected: Expected, expression: Expression, isRepeat = false): void {
    const { node, entity } = expected;
    switch (expression.kind) {
      case "walk":
        return this.#checkHops(
          expected,
          { relation: expression.relation, walked: expression.name },
          isRepeat,
        );
      case "call":
        return this.#checkRule(expected, expression.rule);
      case "or":
      case "and":
      case "not":
      case "relation":
      case "permission":
      case "attribute": {
        this.#same(expected, "reason", node.reason, reasons[expression.kind]);
        if (isRepeat) return;
        const operands = operandsOf(expression);
        const isProof = node.verdict === ALLOWED && reasons[expression.kind] === "union";
        const shown = isProof
          ? operands.filter((one) => this.#isProvenBy(expected, one))
          : operands;
        if (isProof) this.#same(expected, "some operand proves it", shown.length > 0, true);
        const children = (isProof ? shown.slice(0, 1) : shown).map((one) =>
          meaningOf(one, node.name),
        );
        return this.#checkChildren(
          expected,
          children.map((meaning) => ({ entity, hops: expected.hops, meaning })),
        );
      }
    }
  }

  /** Whether the only child of a union is this operand. */
  #isProvenBy({ node, entity }: Expected, operand: Expression): boolean {
    const [child] = node.children;
    if (child === undefined) return false;
    const meaning = meaningOf(operand, node.name);
    const name = meaning.kind === "name" ? meaning.name : node.name;
    const fault =
      meaning.kind === "name"
        ? this.#faultOfPlace(child, entity, name)
        : this.#places.faultOfExpression(child.place, operand, undefined);
    return child.name === name && fault === undefined;
  }

  /** The place of a name of an entity: that of the expression behind it, or its own. */
  #faultOfPlace({ place }: ProofNode, entity: Entity, name: string): string | undefined {
    const permission = this.#definition(entity).permissions.get(name);
    return permission === undefined
      ? this.#places.faultOfName(place, name)
      : this.#places.faultOfExpression(place, permission.expression, name);
  }

  /** The tuples of a relation or of a walk that lead on. */
  #checkHops(
    expected: Expected,
    { relation, walked }: Via & { readonly relation: string },
    isRepeat: boolean,
  ): void {
    const { node, entity } = expected;
    const { subject } = this.#explained.question;
    const reason = walked === undefined ? "userset" : "walk";
    const all = this.#hopTuples(entity, relation, walked);
    const behind = (tuple: Tuple): Below => this.#behind(expected.hops, tuple, { walked });
    const direct: Tuple = { entity, relation, subject };
    if (node.verdict === ALLOWED && node.reason === "tuple") {
      this.#same(expected, "tuple", node.tuple, direct);
      this.#same(expected, "a stored tuple", this.#isStored(direct) && walked === undefined, true);
      return this.#checkChildren(expected, []);
    }
    if (all.length === 0 && node.verdict !== ALLOWED) {
      this.#same(expected, "reason", node.reason, "no_tuple");
      return this.#checkChildren(expected, []);
    }
    this.#same(expected, "reason", node.reason, reason);
    const isOne = node.verdict === ALLOWED || all.length === 1;
    if (isOne) {
      const tuple = all.find((one) => isDeepStrictEqual(one, node.tuple));
      this.#same(expected, "a tuple that leads on", tuple !== undefined, true);
      if (!isRepeat && tuple !== undefined) this.#checkChildren(expected, [behind(tuple)]);
      return;
    }
    this.#same(expected, "tuple", node.tuple, undefined);
    if (isRepeat) return;
    this.#checkChildren(
      expected,
      all.map((tuple) => ({
        entity,
        hops: expected.hops,
        meaning: { kind: "hop", owner: node.name, via: { walked }, tuple },
      })),
    );
  }

  #checkHop(expected: Expected, { via, tuple }: Extract<Meaning, { readonly kind: "hop" }>): void {
    const { node } = expected;
    const behind = this.#behind(expected.hops, tuple, via);
    this.#same(expected, "reason", node.reason, via.walked === undefined ? "userset" : "walk");
    this.#same(expected, "tuple", node.tuple, tuple);
    this.#same(expected, "verdict", node.verdict, this.#verdict(behind.entity, behind.meaning));
    this.#checkChildren(expected, [behind]);
  }

  #behind(hops: number, { subject }: Tuple, { walked }: Via): Below {
    const { type, id, relation } = subject;
    const name = walked ?? relation;
    return { entity: { type, id }, hops: hops + 1, meaning: { kind: "name", name } };
  }

  #checkAttribute(expected: Expected, name: string): void {
    const { node, entity } = expected;
    const value = this.#value(entity, name);
    const attribute = value === undefined ? undefined : { entity, attribute: name, value };
    this.#same(expected, "reason", node.reason, "attribute");
    this.#same(expected, "attribute", node.attribute, attribute);
    this.#checkChildren(expected, []);
  }

  #checkRule(expected: Expected, name: string): void {
    const { node, entity } = expected;
    const rule = must(this.#explained.question.schema.rules.get(name), "a called rule is declared");
    const values = new Map<string, AttributeValue>();
    for (const [parameter, type] of rule.parameters) {
      values.set(parameter, this.#value(entity, parameter) ?? defaultValue(type));
    }
    this.#same(expected, "reason", node.reason, "rule");
    this.#same(expected, "rule", node.rule, { name, values, body: node.rule?.body });
    this.#fault(expected, node.rule && this.#places.faultOfBody(node.rule.body, name));
    this.#checkChildren(expected, []);
  }

  #checkChildren(expected: Expected, wanted: readonly Below[]): void {
    const { children } = expected.node;
    this.#same(expected, "number of children", children.length, wanted.length);
    for (const [place, one] of wanted.entries()) {
      const node = children[place];
      const isProof = expected.isProof && expected.node.verdict === ALLOWED;
      if (node !== undefined) this.#queue.push({ ...one, node, isProof });
    }
    if (expected.node.verdict !== ALLOWED || wanted.length === 0) return;
    // A proof is as short as it can be if each of its steps takes the way of its own cost.
    const { entity, meaning } = expected;
    const paths = wanted
      .slice(0, expected.node.reason === "exclusion" ? 1 : undefined)
      .map((one) => one.hops - expected.hops + this.#cost(one.entity, one.meaning));
    this.#same(expected, "length", Math.max(...paths), this.#cost(entity, meaning));
  }

  #verdict(entity: Entity, meaning: Meaning): Verdict {
    if (meaning.kind === "operand") return this.#verdictOf(entity, meaning.expression);
    if (meaning.kind === "hop") {
      const behind = this.#behind(0, meaning.tuple, meaning.via);
      return this.#verdict(behind.entity, behind.meaning);
    }
    return this.#verdictOfKey(this.#atomOf(entity, meaning.name));
  }

  #verdictOfKey(key: string): Verdict {
    if (this.#model.certain.has(key)) return ALLOWED;
    return this.#model.possible.has(key) ? UNKNOWN : DENIED;
  }

  #verdictOf(entity: Entity, expression: Expression): Verdict {
    const of = (one: Expression): Verdict => this.#verdictOf(entity, one);
    switch (expression.kind) {
      case "or":
        return greatest([of(expression.left), of(expression.right)]);
      case "and":
        return least([of(expression.left), of(expression.right)]);
      case "not":
        return least([of(expression.left), opposite(of(expression.right))]);
      case "walk": {
        const { relation, name } = expression;
        return greatest(
          this.#hopTuples(entity, relation, name).map(({ subject }) =>
            this.#verdictOfKey(keyOf(subject, name)),
          ),
        );
      }
      case "call":
        return this.#verdictOfRule(entity, expression.rule);
      case "relation":
      case "permission":
      case "attribute":
        return this.#verdictOfKey(keyOf(entity, expression.name));
    }
  }

  #verdictOfRule(entity: Entity, name: string): Verdict {
    const { schema, context } = this.#explained.question;
    const rule = must(schema.rules.get(name), "a called rule is declared");
    const parameters = new Map<string, AttributeValue>();
    for (const [parameter, type] of rule.parameters) {
      const value = this.#value(entity, parameter) ?? defaultValue(type);
      if (value.type !== type) return UNKNOWN;
      parameters.set(parameter, value);
    }
    const verdict = evaluateCondition(rule.condition, { parameters, data: context.data });
    if (verdict.kind === "fault") return UNKNOWN;
    return verdict.value ? ALLOWED : DENIED;
  }

  /** The most hops of the shortest proof of what is allowed; that of anything else is endless. */
  #cost(entity: Entity, meaning: Meaning): number {
    if (meaning.kind === "operand") return this.#costOf(entity, meaning.expression);
    if (meaning.kind === "hop") return Infinity;
    const key = this.#atomOf(entity, meaning.name);
    return this.#model.certain.has(key) ? this.#hopsOf(key) : Infinity;
  }

  #costOf(entity: Entity, expression: Expression): number {
    if (this.#verdictOf(entity, expression) !== ALLOWED) return Infinity;
    const of = (one: Expression): number => this.#costOf(entity, one);
    switch (expression.kind) {
      case "or":
        return Math.min(of(expression.left), of(expression.right));
      case "and":
        return Math.max(of(expression.left), of(expression.right));
      case "not":
        return of(expression.left);
      case "walk": {
        const { relation, name } = expression;
        const keys = this.#hopTuples(entity, relation, name).map(({ subject }) =>
          keyOf(subject, name),
        );
        const allowed = keys.filter((key) => this.#model.certain.has(key));
        return 1 + Math.min(...allowed.map((key) => this.#hopsOf(key)));
      }
      case "call":
        return 0;
      case "relation":
      case "permission":
      case "attribute":
        return this.#hopsOf(keyOf(entity, expression.name));
    }
  }

  /** The tuples that lead on, in the order of their bytes: of those to one entity of a walk the first. */
  #hopTuples(entity: Entity, relation: string, walked: string | undefined): readonly Tuple[] {
    const { schema } = this.#explained.question;
    const types = must(this.#definition(entity).relations.get(relation), "it is a relation").types;
    const fitting = this.#tuples().filter((tuple) => {
      const { subject } = tuple;
      if (keyOf(tuple.entity, tuple.relation) !== keyOf(entity, relation)) return false;
      if (walked === undefined) {
        return (
          subject.relation !== "" &&
          types.some((one) => one.type === subject.type && one.relation === subject.relation)
        );
      }
      const target = must(schema.entities.get(subject.type), "types of subjects are declared");
      const isNamed = target.relations.has(walked) || target.permissions.has(walked);
      return isNamed && types.some(({ type }) => type === subject.type);
    });
    const sorted = fitting.toSorted((a, b) => (orderKey(a.subject) < orderKey(b.subject) ? -1 : 1));
    const seen = new Set<string>();
    return sorted.filter(({ subject: { type, id, relation: name } }) => {
      const key = keyOf({ type, id }, walked ?? name);
      return !seen.has(key) && seen.add(key);
    });
  }

  #tuples(): readonly Tuple[] {
    const { facts, context } = this.#explained.question;
    return [...facts.tuples, ...context.tuples];
  }

  #isStored(tuple: Tuple): boolean {
    return this.#tuples().some((one) => isDeepStrictEqual(one, tuple));
  }

  #value({ type, id }: Entity, name: string): AttributeValue | undefined {
    const { facts, context } = this.#explained.question;
    return [...context.attributes, ...facts.attributes].find(
      (one) => one.entity.type === type && one.entity.id === id && one.attribute === name,
    )?.value;
  }

  #definition({ type }: Entity): EntityDefinition {
    const { entities } = this.#explained.question.schema;
    return must(entities.get(type), "types of entities are declared");
  }

  /** The asked rule has an atom that no entity has. */
  #atomOf(entity: Entity, name: string): string {
    const { permissions, relations, attributes } = this.#definition(entity);
    const isNamed = permissions.has(name) || relations.has(name) || attributes.has(name);
    return isNamed ? keyOf(entity, name) : "asked rule";
  }

  #same(expected: Expected, what: string, actual: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(actual, wanted)) return;
    this.#fault(expected, `${what} is ${textOf(actual)}, not ${textOf(wanted)}`);
  }

  #fault({ node }: Expected, problem: string | undefined): void {
    if (problem === undefined) return;
    const { entity, name, reason } = node;
    const subject = subjectText({ ...entity, relation: name });
    this.#faults.push(`${subject} (${reason} \`${node.place.text}\`): ${problem}`);
  }
}

const reasons = {
  or: "union",
  and: "intersection",
  not: "exclusion",
  relation: "union",
  permission: "union",
  attribute: "union",
} as const;

/** A run of one operator has all its operands in one node. */
function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "or":
    case "and": {
      const { left, right } = expression;
      return left.kind === expression.kind ? [...operandsOf(left), right] : [left, right];
    }
    case "not":
      return [expression.left, expression.right];
    default:
      return [expression];
  }
}

function meaningOf(expression: Expression, owner: string): Meaning {
  switch (expression.kind) {
    case "relation":
    case "permission":
    case "attribute":
      return { kind: "name", name: expression.name };
    default:
      return { kind: "operand", owner, expression };
  }
}

function keyOf({ type, id }: Entity, name: string): string {
  return `${type}:${id}#${name}`;
}

function orderKey({ type, id, relation }: Subject): string {
  return `${type}\0${id}\0${relation}`;
}

function greatest(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce<Verdict>((a, b) => (a > b ? a : b), DENIED);
}

function least(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce<Verdict>((a, b) => (a < b ? a : b), ALLOWED);
}

function opposite(verdict: Verdict): Verdict {
  if (verdict === UNKNOWN) return UNKNOWN;
  return verdict === ALLOWED ? DENIED : ALLOWED;
}

function textOf(value: unknown): string {
  return value instanceof Map ? textOf([...value]) : (JSON.stringify(value) ?? "absent");
}

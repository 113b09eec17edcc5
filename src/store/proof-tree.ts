import { assert, must, unreachable } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { AttributeValue, Entity, Subject } from "../base/tuple.ts";
import { ALLOWED, type Verdict } from "../base/verdict.ts";
import { defaultValue } from "../condition/defaults.ts";
import { runOf } from "../language/run-of.ts";
import type { RuleDefinition } from "../language/schema.ts";
import type { ExpressionNode, SourceSpan } from "../language/tree.ts";
import type { Gate } from "../memory/circuit.ts";
import type { Facts } from "../memory/facts.ts";
import type { Decided } from "../memory/proofs.ts";
import { explanationMax } from "../plan/limit.ts";
import type { Formula, Node } from "../plan/network.ts";
import { ExplanationSize } from "./explanation-size.ts";
import type { ProofNode, ProofStep, SchemaPlace } from "./explanation.ts";
import type { ParsedSchema } from "./parsed-schemas.ts";
import { type ProofHop, readHops } from "./proof-hops.ts";
import { declarationOf, expressionOf, placeOf } from "./schema-places.ts";

/** What a proof tree is made of. */
export interface ProofInput {
  readonly decided: Decided;
  readonly facts: Facts;
  readonly parsed: ParsedSchema;
  readonly subject: Subject;
  readonly depth: number;
}

/** A part of the tree that is not made yet: a gate, and what it stands for at an entity. */
interface Part {
  readonly gate: number;
  readonly entity: Entity;
  readonly name: string;
  readonly place: SchemaPlace;
  readonly path: Path;
  readonly meaning: Meaning;
}

/** From the question to a part, in the tree. */
interface Path {
  readonly hops: number;
  /** All of it is allowed: it is a part of the proof of the question, and of no denial. */
  readonly isProof: boolean;
}

type Meaning =
  /** Undefined without an expression: a relation, an attribute or the rule that is asked. */
  | { readonly kind: "name"; readonly node: Node; readonly expression: ExpressionNode | undefined }
  | { readonly kind: "operand"; readonly formula: Formula; readonly expression: ExpressionNode }
  /** One of several tuples that lead on. */
  | { readonly kind: "hop"; readonly hop: ProofHop; readonly reason: "walk" | "userset" };

/** What a part rests on. */
type ProofEvidence = Pick<ProofStep, "reason" | "tuple" | "attribute" | "rule">;

/** The same with the parts below it. */
interface Grounds {
  readonly evidence: ProofEvidence;
  readonly next: readonly Part[];
}

const nothing: readonly Part[] = [];

/**
 * Makes the tree of an answer, level by level, so that what is left out of a large one lies furthest
 * from the question.
 */
export class ProofTree {
  readonly #input: ProofInput;
  readonly #size = new ExplanationSize();
  /** By name that has its children already, what it rests on. */
  readonly #seen = new Map<number, ProofEvidence>();
  readonly #places = new Map<SourceSpan, SchemaPlace>();
  readonly #pace = new Pace();

  constructor(input: ProofInput) {
    this.#input = input;
  }

  *make(): Steps<{ readonly proof: ProofNode; readonly isTruncated: boolean }> {
    const top: ProofNode[] = [];
    const asked = this.#named(0, { hops: 0, isProof: true }, undefined);
    const open = [{ part: asked, into: top, level: 1 }];
    // Grows while it is read.
    for (const { part, into, level } of open) {
      if (this.#pace.step()) yield;
      const grounds = this.#groundsOf(part);
      const { evidence, next } = Symbol.iterator in grounds ? yield* grounds : grounds;
      const { gate, entity, name, place } = part;
      const children: ProofNode[] = [];
      const node = { entity, name, verdict: this.#verdict(gate), place, ...evidence, children };
      if (!this.#size.takesNode(node)) break;
      into.push(node);
      if (next.length === 0 || !this.#size.takesChildren(level)) continue;
      for (const below of next) open.push({ part: below, into: children, level: level + 1 });
    }
    const proof = must(top[0], "there is room for the question itself");
    return { proof, isTruncated: this.#size.isTruncated };
  }

  /** The name of a ground node. `span` is where an expression at its own entity names it. */
  #named(gate: number, path: Path, span: SourceSpan | undefined): Part {
    const { decided, parsed } = this.#input;
    const { node, entityId } = must(decided.circuit.nodes[gate], "a name has a ground node");
    const { entityType: type, name, formula, isOperand } = node;
    const isPermission = !isOperand && formula.kind !== "relation" && formula.kind !== "attribute";
    const expression = isPermission ? expressionOf(parsed, type, name) : undefined;
    const shown = expression?.span ?? span;
    const place = shown === undefined ? declarationOf(parsed, type, name) : this.#place(shown);
    const meaning: Meaning = { kind: "name", node, expression };
    return { gate, entity: { type, id: entityId }, name, place, path, meaning };
  }

  /** An operand of an expression, at the same entity. */
  #operand(part: Part, asked: Formula, expression: ExpressionNode, gate: number): Part {
    let formula = asked;
    while (formula.kind === "node" && formula.node.isOperand) ({ formula } = formula.node);
    const path = this.#below(part, 0);
    if (formula.kind === "node") return this.#named(gate, path, expression.span);
    const place = this.#place(expression.span);
    const { entity, name } = part;
    return { gate, entity, name, place, path, meaning: { kind: "operand", formula, expression } };
  }

  /** In steps where tuples lead on. */
  #groundsOf(part: Part): Grounds | Steps<Grounds> {
    const { gate, meaning } = part;
    if (meaning.kind === "hop") {
      const { reason, hop } = meaning;
      return { evidence: { reason, tuple: hop.tuple }, next: [this.#behind(part, hop)] };
    }
    const { decided, depth } = this.#input;
    const hops = decided.proofs.hopsOf(gate);
    if (hops !== undefined && part.path.hops + hops > depth) {
      return { evidence: { reason: "depth" }, next: nothing };
    }
    if (meaning.kind === "operand") {
      return this.#groundsBy(part, meaning.formula, meaning.expression);
    }
    // A denial may lead back to what it is a part of. A proof never does.
    const seen = this.#below(part, 0).isProof ? undefined : this.#seen.get(gate);
    if (seen !== undefined) return { evidence: seen, next: nothing };
    const grounds = this.#groundsBy(part, meaning.node.formula, meaning.expression);
    return Symbol.iterator in grounds ? this.#noted(gate, grounds) : this.#note(gate, grounds);
  }

  *#noted(gate: number, steps: Steps<Grounds>): Steps<Grounds> {
    return this.#note(gate, yield* steps);
  }

  #note(gate: number, grounds: Grounds): Grounds {
    this.#seen.set(gate, grounds.evidence);
    return grounds;
  }

  #groundsBy(
    part: Part,
    formula: Formula,
    expression: ExpressionNode | undefined,
  ): Grounds | Steps<Grounds> {
    const gate = this.#gate(part.gate);
    if (gate.kind === "value" && gate.test.kind === "self") {
      return { evidence: { reason: "userset" }, next: nothing };
    }
    switch (formula.kind) {
      case "relation":
      case "walk":
        return this.#hops(part, formula);
      case "attribute":
        return this.#attribute(part.entity, formula.name);
      case "rule":
        return this.#rule(part.entity, formula.rule);
      case "or":
        return this.#operation(part, "union", formula.operands, operandsOf(expression));
      case "node":
        return this.#operation(part, "union", [formula], [written(expression)]);
      case "and": {
        const operands = formula.operands.map((node): Formula => ({ kind: "node", node }));
        return this.#operation(part, "intersection", operands, operandsOf(expression));
      }
      case "not": {
        const operands = [formula.left, formula.right].map((node): Formula => ({
          kind: "node",
          node,
        }));
        return this.#operation(part, "exclusion", operands, sidesOf(expression));
      }
      default:
        return unreachable(formula);
    }
  }

  /** Of a union that is allowed, the operand of its proof; of any other operation all of them. */
  #operation(
    part: Part,
    reason: "union" | "intersection" | "exclusion",
    formulas: readonly Formula[],
    expressions: readonly ExpressionNode[],
  ): Grounds {
    const { inputs } = this.#gate(part.gate);
    const below = (index: number): Part => {
      const formula = must(formulas[index], "every input is an operand");
      const expression = must(expressions[index], "every operand is written");
      return this.#operand(part, formula, expression, must(inputs[index], "it is an input"));
    };
    if (reason !== "union" || this.#verdict(part.gate) !== ALLOWED) {
      // There is no room for more, and thousands take too long for one step.
      const next = formulas.slice(0, explanationMax.nodes).map((_formula, index) => below(index));
      return { evidence: { reason }, next };
    }
    const chosen = this.#input.decided.proofs.choiceOf(part.gate);
    return { evidence: { reason }, next: [below(inputs.indexOf(chosen))] };
  }

  *#hops(part: Part, formula: Extract<Formula, { kind: "relation" | "walk" }>): Steps<Grounds> {
    const { decided, subject } = this.#input;
    const { gate, entity } = part;
    const { relation } = formula;
    const reason = formula.kind === "walk" ? "walk" : "userset";
    const hops = yield* readHops(decided, gate, entity);
    if (hops === undefined) {
      const tuple = { entity, relation, subject };
      return { evidence: { reason: "tuple", tuple }, next: nothing };
    }
    const [first] = hops;
    if (first === undefined) return { evidence: { reason: "no_tuple" }, next: nothing };
    if (hops.length === 1) {
      return { evidence: { reason, tuple: first.tuple }, next: [this.#behind(part, first)] };
    }
    const { name, place } = part;
    const path = this.#below(part, 0);
    const next = hops.map((hop): Part => {
      const meaning = { kind: "hop", hop, reason } as const;
      return { gate: hop.target, entity, name, place, path, meaning };
    });
    return { evidence: { reason }, next };
  }

  #behind(part: Part, { target }: ProofHop): Part {
    return this.#named(target, this.#below(part, 1), undefined);
  }

  /** The path to the parts below a part, which are so many hops further. */
  #below({ gate, path }: Part, hops: 0 | 1): Path {
    const isProof = path.isProof && this.#verdict(gate) === ALLOWED;
    return { hops: path.hops + hops, isProof };
  }

  #attribute(entity: Entity, attribute: string): Grounds {
    const value = this.#input.facts.attribute(entity, attribute);
    const isShown = value !== undefined && this.#size.takesValue(value);
    const shown = isShown ? { attribute: { entity, attribute, value } } : {};
    return { evidence: { reason: "attribute", ...shown }, next: nothing };
  }

  #rule(entity: Entity, { name, parameters }: RuleDefinition): Grounds {
    const values = new Map<string, AttributeValue>();
    for (const [parameter, type] of parameters) {
      const value = this.#input.facts.attribute(entity, parameter) ?? defaultValue(type);
      if (this.#size.takesValue(value)) values.set(parameter, value);
    }
    return { evidence: { reason: "rule", rule: { name, values } }, next: nothing };
  }

  /** A part of a schema may be shown of many entities. */
  #place(span: SourceSpan): SchemaPlace {
    const known = this.#places.get(span);
    if (known !== undefined) return known;
    const place = placeOf(this.#input.parsed, span);
    this.#places.set(span, place);
    return place;
  }

  #verdict(gate: number): Verdict {
    return must(this.#input.decided.model[gate], "every gate has a verdict");
  }

  #gate(id: number): Gate {
    return must(this.#input.decided.circuit.gates[id], "gates refer to each other");
  }
}

function written(expression: ExpressionNode | undefined): ExpressionNode {
  return must(expression, "an operator stands in an expression");
}

function operandsOf(expression: ExpressionNode | undefined): readonly ExpressionNode[] {
  return runOf<ExpressionNode>(written(expression));
}

function sidesOf(expression: ExpressionNode | undefined): readonly ExpressionNode[] {
  const operation = written(expression);
  assert(operation.kind === "not", "a difference is written as one");
  return [operation.left, operation.right];
}

import { assert, must, unreachable } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { AttributeValue, Entity, Subject } from "../base/tuple.ts";
import { ALLOWED, type Verdict } from "../base/verdict.ts";
import { defaultValue } from "../condition/defaults.ts";
import { runOf } from "../language/run-of.ts";
import type { RuleDefinition } from "../language/schema.ts";
import type { ExpressionNode, SourceSpan } from "../language/tree.ts";
import type { Gate, HopGate } from "../memory/circuit.ts";
import type { Facts } from "../memory/facts.ts";
import type { Decided } from "../memory/proofs.ts";
import { explanationMax } from "../plan/limit.ts";
import type { Formula } from "../plan/network.ts";
import { ExplanationSize } from "./explanation-size.ts";
import type { ProofNode } from "./explanation.ts";
import { countHops, hopGatesOf, type ProofHop, provenHop, readHops } from "./proof-hops.ts";
import type { Grounds, Meaning, Part, Path, ProofEvidence } from "./proof-part.ts";
import type { SchemaPlaces } from "./schema-places.ts";

/** What a proof tree is made of. */
export interface ProofInput {
  readonly decided: Decided;
  readonly facts: Facts;
  readonly places: SchemaPlaces;
  readonly subject: Subject;
  readonly depth: number;
}

const nothing: readonly Part[] = [];

/**
 * Makes the tree of an answer, level by level, so that what is left out of a large one lies furthest
 * from the question.
 */
export class ProofTree {
  readonly #input: ProofInput;
  readonly #size = new ExplanationSize();
  /** By gate of a name that has its children already, what it rests on. */
  readonly #seen: (ProofEvidence | undefined)[];
  readonly #places: SchemaPlaces;
  readonly #pace = new Pace();
  /** The parts of the tree in their order, which grow while they are read. */
  readonly #open: Part[] = [];

  constructor(input: ProofInput) {
    this.#input = input;
    this.#places = input.places;
    this.#seen = input.decided.circuit.gates.map(() => undefined);
  }

  *make(): Steps<{ readonly proof: ProofNode; readonly isTruncated: boolean }> {
    const top: Path = { hops: 0, isProof: true, level: 1, children: [] };
    this.#open.push(this.#named(0, top, undefined));
    for (const part of this.#open) {
      if (this.#pace.step()) yield;
      const { gate, entity, name, place, path } = part;
      const verdict = this.#verdict(gate);
      const below = {
        hops: path.hops,
        isProof: path.isProof && verdict === ALLOWED,
        level: path.level + 1,
        children: [],
      };
      const grounds = this.#groundsOf(part, below);
      const { evidence, next } = Symbol.iterator in grounds ? yield* grounds : grounds;
      const { children } = below;
      // To name the fields takes a fraction of the time of a spread.
      const { reason, tuple, attribute, rule } = evidence;
      const node = { entity, name, verdict, reason, place, tuple, attribute, rule, children };
      if (!this.#size.takesNode(node)) break;
      path.children.push(node);
      if (next.length === 0 || !this.#size.takesChildren(path.level)) continue;
      for (const child of next) this.#open.push(child);
    }
    const proof = must(top.children[0], "there is room for the question itself");
    return { proof, isTruncated: this.#size.isTruncated };
  }

  /** The name of a ground node. `span` is where an expression at its own entity names it. */
  #named(gate: number, path: Path, span: SourceSpan | undefined): Part {
    const { decided } = this.#input;
    const { node, entity } = must(decided.circuit.nodes[gate], "a name has a ground node");
    const { name, formula, isOperand } = node;
    const isPermission = !isOperand && formula.kind !== "relation" && formula.kind !== "attribute";
    const expression = isPermission ? this.#places.permission(entity.type, name) : undefined;
    const shown = expression?.span ?? span;
    const place =
      shown === undefined
        ? this.#places.declaration(entity.type, name)
        : this.#places.expression(shown);
    const meaning: Meaning = { kind: "name", node, expression };
    return { gate, entity, name, place, path, meaning };
  }

  /** An operand of an expression, at the same entity. */
  #operand(
    { entity, name }: Part,
    path: Path,
    asked: Formula,
    expression: ExpressionNode,
    gate: number,
  ): Part {
    let formula = asked;
    while (formula.kind === "node" && formula.node.isOperand) ({ formula } = formula.node);
    if (formula.kind === "node") return this.#named(gate, path, expression.span);
    const place = this.#places.expression(expression.span);
    return { gate, entity, name, place, path, meaning: { kind: "operand", formula, expression } };
  }

  /** In steps where tuples lead on. */
  #groundsOf(part: Part, below: Path): Grounds | Steps<Grounds> {
    const { gate, meaning } = part;
    if (meaning.kind === "hop") {
      const { reason, hop } = meaning;
      return { evidence: { reason, tuple: hop.tuple }, next: [this.#behind(hop, below)] };
    }
    const { decided, depth } = this.#input;
    const hops = decided.proofs.hopsOf(gate);
    if (hops !== undefined && part.path.hops + hops > depth) {
      return { evidence: { reason: "depth" }, next: nothing };
    }
    if (meaning.kind === "operand") {
      return this.#groundsBy(part, below, meaning.formula, meaning.expression);
    }
    // A denial may lead back to what it is a part of. A proof never does.
    const seen = below.isProof ? undefined : this.#seen[gate];
    if (seen !== undefined) return { evidence: seen, next: nothing };
    const grounds = this.#groundsBy(part, below, meaning.node.formula, meaning.expression);
    return Symbol.iterator in grounds ? this.#noted(gate, grounds) : this.#note(gate, grounds);
  }

  *#noted(gate: number, steps: Steps<Grounds>): Steps<Grounds> {
    return this.#note(gate, yield* steps);
  }

  #note(gate: number, grounds: Grounds): Grounds {
    this.#seen[gate] = grounds.evidence;
    return grounds;
  }

  #groundsBy(
    part: Part,
    below: Path,
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
        return this.#hops(part, below, formula);
      case "attribute":
        return this.#attribute(part.entity, formula.name);
      case "rule":
        return this.#rule(part.entity, formula.rule);
      case "or":
        return this.#operation(part, below, "union", formula.operands, operandsOf(expression));
      case "node": {
        const input = must(gate.inputs[0], "every operand is an input");
        const next = [this.#operand(part, below, formula, written(expression), input)];
        return { evidence: { reason: "union" }, next };
      }
      case "and": {
        const operands = formula.operands.map((node): Formula => ({ kind: "node", node }));
        return this.#operation(part, below, "intersection", operands, operandsOf(expression));
      }
      case "not": {
        const operands = [formula.left, formula.right].map((node): Formula => ({
          kind: "node",
          node,
        }));
        return this.#operation(part, below, "exclusion", operands, sidesOf(expression));
      }
      default:
        return unreachable(formula);
    }
  }

  /** Of a union that is allowed, the operand of its proof; of any other operation all of them. */
  #operation(
    part: Part,
    path: Path,
    reason: "union" | "intersection" | "exclusion",
    formulas: readonly Formula[],
    expressions: readonly ExpressionNode[],
  ): Grounds {
    const { inputs } = this.#gate(part.gate);
    const below = (index: number): Part => {
      const formula = must(formulas[index], "every input is an operand");
      const expression = must(expressions[index], "every operand is written");
      return this.#operand(part, path, formula, expression, must(inputs[index], "it is an input"));
    };
    if (reason !== "union" || this.#verdict(part.gate) !== ALLOWED) {
      // There is no room for more, and thousands take too long for one step.
      const next = formulas.slice(0, explanationMax.nodes).map((_formula, index) => below(index));
      return { evidence: { reason }, next };
    }
    const chosen = this.#input.decided.proofs.choiceOf(part.gate);
    return { evidence: { reason }, next: [below(inputs.indexOf(chosen))] };
  }

  /** In steps where several tuples lead on. */
  #hops(
    part: Part,
    below: Path,
    formula: Extract<Formula, { kind: "relation" | "walk" }>,
  ): Grounds | Steps<Grounds> {
    const { decided, subject } = this.#input;
    const { gate, entity } = part;
    const reason = formula.kind === "walk" ? "walk" : "userset";
    if (this.#verdict(gate) !== ALLOWED) {
      const hops = hopGatesOf(decided, gate);
      if (hops.length === 0) return { evidence: { reason: "no_tuple" }, next: nothing };
      return this.#deniedHops(part, below, reason, hops);
    }
    const hop = provenHop(decided, gate, entity);
    if (hop !== undefined) {
      return { evidence: { reason, tuple: hop.tuple }, next: [this.#behind(hop, below)] };
    }
    const tuple = { entity, relation: formula.relation, subject };
    return { evidence: { reason: "tuple", tuple }, next: nothing };
  }

  *#deniedHops(
    { entity, name, place }: Part,
    below: Path,
    reason: "walk" | "userset",
    gates: readonly HopGate[],
  ): Steps<Grounds> {
    // To sort and to keep what there is no room for would take most of the time of a large tree.
    if (!this.#hasRoom && countHops(gates) > 1) return { evidence: { reason }, next: nothing };
    const hops = yield* readHops(this.#input.decided, entity, gates);
    const [first, ...others] = hops;
    if (first !== undefined && others.length === 0) {
      return { evidence: { reason, tuple: first.tuple }, next: [this.#behind(first, below)] };
    }
    const next = hops.slice(0, explanationMax.nodes).map((hop): Part => {
      const meaning = { kind: "hop", hop, reason } as const;
      return { gate: hop.target, entity, name, place, path: below, meaning };
    });
    return { evidence: { reason }, next };
  }

  /** Whether children of a node may be shown. The one part that there is no room for says that there are more. */
  get #hasRoom(): boolean {
    return this.#open.length <= explanationMax.nodes;
  }

  #behind({ target }: ProofHop, { hops, isProof, level, children }: Path): Part {
    return this.#named(target, { hops: hops + 1, isProof, level, children }, undefined);
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
    return {
      evidence: { reason: "rule", rule: { name, values, body: this.#places.body(name) } },
      next: nothing,
    };
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

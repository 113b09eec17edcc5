import { Pace, type Steps } from "../base/steps.ts";
import { type Formula, type Node, reachedNodes } from "../plan/network.ts";
import type { RestrictedNetwork } from "../plan/passes/2-restrict.ts";
import { type Circuit, circuitOf } from "./circuit.ts";
import { Grounding, type GroundNode } from "./ground.ts";
import type { EvaluationInput } from "./judge.ts";
import { findModel, type Model } from "./model.ts";
import { type Proofs, shortestProofs } from "./proofs.ts";

/** Names of entities that an answer rests on, each with its verdict. The depth does not count. */
export interface Decided {
  /** Node i is gate i of the circuit. The question is the first one. */
  readonly nodes: readonly GroundNode[];
  readonly circuit: Circuit;
  readonly model: Model;
  readonly proofs: Proofs;
}

/**
 * Decides what a node rests on, which a check has said is allowed or not: of an answer without a
 * negation that is allowed as much as its shortest proof needs, of any other answer all that the node
 * leads to. Undefined when that is more than is looked at for one answer.
 */
export function* decide(
  network: RestrictedNetwork,
  root: Node,
  asked: EvaluationInput,
  isAllowed: boolean,
): Steps<Decided | undefined> {
  const isWhole = !isAllowed || (yield* hasNegation(root));
  // A proof ends at a tuple to the subject: no path over a userset is as short.
  const grounding = new Grounding(network, [root], asked, { endsAtDirect: true });
  let decidedSize = 0;
  while (grounding.isOpen) {
    yield* grounding.deepen();
    // So all attempts together cost no more than twice the last one.
    if (isWhole || !grounding.isOpen || grounding.size < 2 * decidedSize) continue;
    decidedSize = grounding.size;
    const decided = yield* decideGrounded(grounding, asked);
    const hops = decided.proofs.hopsOf(0);
    // A shorter proof would lead through nearer names alone, and these are all known.
    if (hops !== undefined && hops < grounding.levels) return decided;
  }
  return grounding.isTooLarge ? undefined : yield* decideGrounded(grounding, asked);
}

function* decideGrounded(grounding: Grounding, { subject }: EvaluationInput): Steps<Decided> {
  const nodes = yield* grounding.nodes();
  const circuit = yield* circuitOf(nodes);
  const model = yield* findModel(circuit, ({ verdict }) => verdict);
  const proofs = yield* shortestProofs(nodes, circuit, model, subject);
  return { nodes, circuit, model, proofs };
}

function* hasNegation(root: Node): Steps<boolean> {
  const pace = new Pace();
  for (const { formula } of reachedNodes(root)) {
    if (pace.step()) yield;
    if (isNegation(formula)) return true;
  }
  return false;
}

function isNegation(formula: Formula): boolean {
  return formula.kind === "or" ? formula.operands.some(isNegation) : formula.kind === "not";
}

import { must } from "../base/assert.ts";
import { compareTexts, sortInSteps } from "../base/sort-steps.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Entity, Tuple } from "../base/tuple.ts";
import { ALLOWED } from "../base/verdict.ts";
import type { HopGate } from "../memory/circuit.ts";
import type { Decided } from "../memory/proofs.ts";

/** A tuple that leads on, to a userset or in a walk. */
export interface ProofHop {
  readonly tuple: Tuple;
  /** The gate of the name that is asked behind it. */
  readonly target: number;
}

/**
 * The tuples that lead on from the gate of a relation or of a walk over one, in the order of their
 * bytes: of one that is allowed the one that its proof takes, of any other all. Of tuples that lead to one
 * entity, the least. Undefined if the proof is a tuple to the asked subject itself.
 */
export function* readHops(
  decided: Decided,
  gate: number,
  entity: Entity,
): Steps<readonly ProofHop[] | undefined> {
  if (decided.model[gate] === ALLOWED) {
    const chosen = chosenHop(decided, gate);
    return chosen === undefined ? undefined : [hopTo(decided, entity, chosen.hop, chosen.target)];
  }
  const { gates } = decided.circuit;
  const top = must(gates[gate], "gates refer to each other");
  const kinds = top.kind === "hop" ? [top] : top.inputs.map((input) => gates[input]);
  const pace = new Pace();
  const hops: ProofHop[] = [];
  for (const hop of kinds) {
    if (hop?.kind !== "hop") continue;
    for (const target of hop.inputs) {
      if (pace.step()) yield;
      hops.push(hopTo(decided, entity, hop, target));
    }
  }
  return hops.length < 2 ? hops : yield* sortInSteps(hops, compareHops);
}

/** The hop in the proof of an allowed gate; undefined if it ends there. */
function chosenHop(
  { circuit, proofs }: Decided,
  gate: number,
): { readonly hop: HopGate; readonly target: number } | undefined {
  let id = gate;
  for (;;) {
    const at = must(circuit.gates[id], "gates refer to each other");
    if (at.kind === "value") return undefined;
    const choice = proofs.choiceOf(id);
    if (at.kind === "hop") return { hop: at, target: choice };
    id = choice;
  }
}

function hopTo({ circuit }: Decided, entity: Entity, hop: HopGate, target: number): ProofHop {
  const { node, entityId } = must(circuit.nodes[target], "a hop leads to a node");
  const { relation, subjectRelations } = hop;
  const subject = {
    type: node.entityType,
    id: entityId,
    relation: subjectRelations === undefined ? node.name : (subjectRelations.get(target) ?? ""),
  };
  return { tuple: { entity, relation, subject }, target };
}

/** Hops of one relation of one entity. */
function compareHops(
  { tuple: { subject: a } }: ProofHop,
  { tuple: { subject: b } }: ProofHop,
): number {
  return (
    compareTexts(a.type, b.type) || compareTexts(a.id, b.id) || compareTexts(a.relation, b.relation)
  );
}

import { must } from "../base/assert.ts";
import { compareTexts, sortInSteps } from "../base/sort-steps.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Entity, Tuple } from "../base/tuple.ts";
import type { HopGate } from "../memory/circuit.ts";
import type { Decided } from "../memory/proofs.ts";

/** A tuple that leads on, to a userset or in a walk. */
export interface ProofHop {
  readonly tuple: Tuple;
  /** The gate of the name that is asked behind it. */
  readonly target: number;
}

/** The tuple that the proof of an allowed relation or walk takes. Undefined if it is one to the asked subject itself. */
export function provenHop(decided: Decided, gate: number, entity: Entity): ProofHop | undefined {
  const chosen = chosenHop(decided, gate);
  return chosen && hopTo(decided, entity, chosen.hop, chosen.target);
}

/** What leads on from the gate of a relation or of a walk over one. */
export function hopGatesOf({ circuit }: Decided, gate: number): readonly HopGate[] {
  const { gates } = circuit;
  const top = must(gates[gate], "gates refer to each other");
  if (top.kind === "hop") return [top];
  return top.inputs.map((input) => gates[input]).filter((one) => one?.kind === "hop");
}

/** How many tuples `readHops` reads. */
export function countHops(gates: readonly HopGate[]): number {
  return gates.reduce((count, { inputs }) => count + inputs.length, 0);
}

/**
 * The tuples of an entity by which gates lead on, in the order of their bytes. Of tuples that lead to one
 * entity, the least.
 */
export function* readHops(
  decided: Decided,
  entity: Entity,
  gates: readonly HopGate[],
): Steps<readonly ProofHop[]> {
  const pace = new Pace();
  const hops: ProofHop[] = [];
  for (const hop of gates) {
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
  const { node, entity: led } = must(circuit.nodes[target], "a hop leads to a node");
  const { relation, subjectRelations } = hop;
  const subject = {
    type: led.type,
    id: led.id,
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

import { must } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { ALLOWED, DENIED, UNKNOWN } from "../base/verdict.ts";
import type { Circuit, Gate } from "./circuit.ts";
import type { Model } from "./model.ts";
import type { Decided } from "./proofs.ts";

/**
 * The open nodes that an explanation of gate 0 has to read: of what is allowed those with which a proof
 * may be as short as the one that is known, of anything else all.
 *
 * `last` are the nodes that were left open last. If no gate is allowed, there are no others.
 */
export function* openNodes(
  { circuit, model, proofs }: Decided,
  last: readonly number[],
): Steps<readonly number[]> {
  if (proofs.isEmpty) return last;
  const { gates } = circuit;
  const distances = yield* distancesToOpen(circuit, model);
  const pace = new Pace();
  const open: number[] = [];
  const seen = new Set([0]);
  const enter = (gate: number): void => {
    seen.add(gate);
  };
  // Grows while it is read.
  for (const id of seen) {
    if (pace.step()) yield;
    const gate = must(gates[id], "gates refer to each other");
    if (gate.kind === "open") open.push(id);
    const hops = proofs.hopsOf(id);
    const isProven = hops !== undefined && (distances.get(id) ?? Infinity) > hops;
    if (isProven && (gate.kind === "or" || gate.kind === "hop")) enter(proofs.choiceOf(id));
    else gate.inputs.forEach(enter);
  }
  return open;
}

/**
 * By gate that is not denied, the least hops to what may yet give it a proof: an open node, or a `not`
 * whose right side is unknown.
 */
function* distancesToOpen(
  { gates, users }: Circuit,
  model: Model,
): Steps<ReadonlyMap<number, number>> {
  const pace = new Pace();
  const distances = new Map<number, number>();
  let near: number[] = [];
  for (const [id, gate] of gates.entries()) {
    if (pace.step()) yield;
    if (gate.kind === "open" || isUndecided(gate, id, model)) near.push(id);
  }
  for (let hops = 0; near.length > 0; hops += 1) {
    const far: number[] = [];
    // Grows while it is read.
    for (const id of near) {
      if (pace.step()) yield;
      if (model[id] === DENIED || distances.has(id)) continue;
      distances.set(id, hops);
      for (const user of users[id] ?? []) {
        const gate = gates[user];
        // A proof of a `not` is one of its left side.
        if (gate?.kind === "not" && gate.inputs[0] !== id) continue;
        (gate?.kind === "hop" ? far : near).push(user);
      }
    }
    near = far;
  }
  return distances;
}

/** A `not` that holds if its right side turns out to be denied. */
function isUndecided(gate: Gate, id: number, model: Model): boolean {
  return gate.kind === "not" && model[id] === UNKNOWN && model[gate.inputs[0]] === ALLOWED;
}

import { must } from "../base/assert.ts";
import { compareTexts, sortInSteps } from "../base/sort-steps.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Entity, Tuple } from "../base/tuple.ts";
import { ALLOWED } from "../base/verdict.ts";
import { inputsOf, type Wire } from "../memory/circuit.ts";
import type { Decided } from "../memory/decide.ts";
import type { Facts } from "../memory/facts.ts";

/** A tuple that leads on, to a userset or in a walk. */
export interface ProofHop {
  readonly tuple: Tuple;
  /** The gate of the name that is asked behind it. */
  readonly target: number;
}

/** The gate of a relation or of a walk over one, at an entity. */
interface HopsFrom {
  readonly gate: number;
  readonly entity: Entity;
  readonly relation: string;
  readonly kind: "userset" | "walk";
}

/**
 * The tuples that lead on from a gate, in the order of their bytes: of one that is allowed the one that
 * its proof takes, of any other all. Of tuples that lead to one entity, the least. Undefined if the
 * proof is a tuple to the asked subject itself.
 */
export function* readHops(
  decided: Decided,
  facts: Facts,
  from: HopsFrom,
): Steps<readonly ProofHop[] | undefined> {
  const isAllowed = decided.model[from.gate] === ALLOWED;
  const chosen = isAllowed ? chosenWire(decided, from.gate) : undefined;
  if (isAllowed && chosen === undefined) return undefined;
  const targets =
    chosen === undefined ? yield* allTargets(decided, from.gate) : new Set([chosen.gate]);
  const walked = from.kind === "walk" ? yield* walkedSubjects(decided, facts, from, targets) : [];
  const relations = new Map(walked);
  const pace = new Pace();
  const hops: { readonly key: string; readonly hop: ProofHop }[] = [];
  for (const target of targets) {
    if (pace.step()) yield;
    const { node, entityId } = must(decided.nodes[target], "a hop leads to a node");
    const { entityType: type, name } = node;
    const relation = from.kind === "walk" ? relations.get(target) : name;
    const subject = { type, id: entityId, relation: must(relation, "a hop has a tuple") };
    const tuple = { entity: from.entity, relation: from.relation, subject };
    hops.push({ key: `${type}\0${entityId}\0${relation}`, hop: { tuple, target } });
  }
  const sorted = yield* sortInSteps(hops, (a, b) => compareTexts(a.key, b.key));
  return sorted.map(({ hop }) => hop);
}

/** The hop in the proof of an allowed gate; undefined if it ends there. */
function chosenWire({ circuit, proofs }: Decided, gate: number): Wire | undefined {
  let wire = proofs.choiceOf(gate);
  while (wire.hops === 0) {
    if (circuit.gates[wire.gate]?.kind === "value") return undefined;
    wire = proofs.choiceOf(wire.gate);
  }
  return wire;
}

function* allTargets({ circuit }: Decided, gate: number): Steps<ReadonlySet<number>> {
  const pace = new Pace();
  const targets = new Set<number>();
  const inputs = (id: number): readonly Wire[] =>
    inputsOf(must(circuit.gates[id], "gates refer to each other"));
  for (const kind of inputs(gate)) {
    for (const wire of kind.hops === 0 ? inputs(kind.gate) : [kind]) {
      if (pace.step()) yield;
      targets.add(wire.gate);
    }
  }
  return targets;
}

/** By target, the least relation with which it stands as a subject: a walk takes all of them. */
function* walkedSubjects(
  { nodes }: Decided,
  facts: Facts,
  { entity, relation }: HopsFrom,
  targets: ReadonlySet<number>,
): Steps<readonly (readonly [number, string])[]> {
  const pace = new Pace();
  const wanted = new Map<string, number>();
  const types = new Set<string>();
  for (const target of targets) {
    if (pace.step()) yield;
    const { node, entityId } = must(nodes[target], "a hop leads to a node");
    wanted.set(`${node.entityType}\0${entityId}`, target);
    types.add(node.entityType);
  }
  const least = new Map<number, string>();
  for (const type of types) {
    for (const subject of facts.subjects(entity, relation, type)) {
      if (pace.step()) yield;
      const target = wanted.get(`${type}\0${subject.id}`);
      if (target === undefined) continue;
      const known = least.get(target);
      if (known === undefined || subject.relation < known) least.set(target, subject.relation);
    }
  }
  return [...least];
}

import type { Entity } from "../base/tuple.ts";
import type { Node } from "../plan/network.ts";
import type { HopGate } from "./circuit.ts";
import { type Facts, fewSubjects } from "./facts.ts";

/** A subject of tuples: by its id alone, or with its relation. */
export type Lead = string | { readonly id: string; readonly relation: string };

/** A relation, or a walk over one. */
interface Via {
  readonly relation: string;
  readonly isWalk: boolean;
}

/** What the tuples of a relation lead to. */
export interface Leads extends Via {
  /** The subjects of the tuples that lead to each node. */
  readonly ends: readonly { readonly node: Node; readonly subjects: Iterable<Lead> }[];
}

const noRelations: ReadonlyMap<number, string> = new Map();

/** What the tuples of an entity lead to, of each of the nodes. */
export function leadsOf(facts: Facts, entity: Entity, via: Via, nodes: readonly Node[]): Leads {
  const relations = [via.relation];
  const ends: Leads["ends"][number][] = [];
  for (const node of nodes) {
    const { entityType, name } = node;
    const subjects = via.isWalk
      ? facts.subjects(entity, via.relation, entityType)
      : facts.subjectIds(entity, relations, entityType, name);
    if (!Array.isArray(subjects) || subjects.length > 0) ends.push({ node, subjects });
  }
  return { ...via, ends };
}

/** Whether so few subjects are known that they can be read without a pause. */
export function areFew({ ends }: Leads): boolean {
  let count = 0;
  for (const { subjects } of ends) {
    if (!Array.isArray(subjects)) return false;
    count += subjects.length;
  }
  return count <= fewSubjects;
}

/** The inputs of the gate of a hop while the subjects of its tuples are read. */
export class HopInputs {
  readonly #via: Via;
  readonly #inputs = new Set<number>();
  /** In a walk, see `HopGate`. */
  #subjectRelations: Map<number, string> | undefined;

  constructor(via: Via) {
    this.#via = via;
  }

  /** A tuple leads to the input; in a walk with this relation of its subject. Whether it is the first one that does. */
  take(input: number, subjectRelation: string): boolean {
    const isKnown = this.#inputs.has(input);
    if (this.#via.isWalk) {
      const isLeast = isKnown
        ? subjectRelation < (this.#subjectRelations?.get(input) ?? "")
        : subjectRelation !== "";
      if (isLeast) (this.#subjectRelations ??= new Map()).set(input, subjectRelation);
    }
    if (isKnown) return false;
    this.#inputs.add(input);
    return true;
  }

  gate(): HopGate {
    return {
      kind: "hop",
      inputs: [...this.#inputs],
      relation: this.#via.relation,
      subjectRelations: this.#via.isWalk ? (this.#subjectRelations ?? noRelations) : undefined,
    };
  }
}

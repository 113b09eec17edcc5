import { gatheredEntitiesMax } from "../plan/limit.ts";
import type { Circuit, GroundNode } from "./circuit.ts";

/** Whether a circuit has nodes of more entities than are looked at for one answer. */
export class EntityLimit {
  readonly #circuit: Circuit;
  /** Ids by type, once there are so many nodes that their entities may be too many. */
  #ids: Map<string, Set<string>> | undefined;
  #count = 0;

  constructor(circuit: Circuit) {
    this.#circuit = circuit;
  }

  /** Counts the entity of the node that the circuit has got last. Whether these are too many now. */
  exceededBy(last: GroundNode): boolean {
    if (this.#circuit.nodeCount <= gatheredEntitiesMax) return false;
    if (this.#ids === undefined) {
      this.#ids = new Map();
      for (const node of this.#circuit.nodes) if (node !== undefined) this.#enter(this.#ids, node);
    } else {
      this.#enter(this.#ids, last);
    }
    return this.#count > gatheredEntitiesMax;
  }

  #enter(idsOfTypes: Map<string, Set<string>>, { entity: { type, id } }: GroundNode): void {
    let ids = idsOfTypes.get(type);
    if (ids === undefined) idsOfTypes.set(type, (ids = new Set()));
    if (ids.has(id)) return;
    ids.add(id);
    this.#count += 1;
  }
}

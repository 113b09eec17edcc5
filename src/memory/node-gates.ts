import type { Node } from "../plan/network.ts";

interface GatesOfNode {
  readonly entityId: string;
  readonly gate: number;
  /** By entity id, those at other entities. */
  others: Map<string, number> | undefined;
}

/** Gates by node of the network and by entity id. Most nodes are met at one entity, which needs no map. */
export class NodeGates {
  readonly #ofNodes = new Map<Node, GatesOfNode>();

  find(node: Node, entityId: string): number | undefined {
    const gates = this.#ofNodes.get(node);
    return gates?.entityId === entityId ? gates.gate : gates?.others?.get(entityId);
  }

  /** Needs: none is known. */
  set(node: Node, entityId: string, gate: number): void {
    const gates = this.#ofNodes.get(node);
    if (gates === undefined) this.#ofNodes.set(node, { entityId, gate, others: undefined });
    else (gates.others ??= new Map()).set(entityId, gate);
  }
}

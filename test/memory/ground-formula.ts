import type { Verdict } from "../../src/base/verdict.ts";
import { Circuit, type Gate, type GroundNode } from "../../src/memory/circuit.ts";
import type { Test } from "../../src/plan/plan.ts";

/** A formula as a tree, from which a circuit is made. */
export type GroundFormula =
  | { readonly kind: "or" | "and"; readonly operands: readonly GroundFormula[] }
  | { readonly kind: "not"; readonly left: GroundFormula; readonly right: GroundFormula }
  | { readonly kind: "value"; readonly verdict: Verdict; readonly test?: Test }
  /** A ground node by its number, which is not read. */
  | { readonly kind: "open" }
  | { readonly kind: "node"; readonly node: number; readonly via?: string };

/** The circuit of nodes, each with the formula of its number. */
export function circuitOf(
  formulas: readonly GroundFormula[],
  nodeOf: (id: number) => GroundNode,
): Circuit {
  const circuit = new Circuit();
  for (const id of formulas.keys()) circuit.add({ kind: "open", inputs: [] }, nodeOf(id));
  const gateOf = (formula: GroundFormula): Gate => {
    switch (formula.kind) {
      case "or":
      case "and":
        return { kind: formula.kind, inputs: formula.operands.map(inputOf) };
      case "not":
        return { kind: "not", inputs: [inputOf(formula.left), inputOf(formula.right)] };
      case "value": {
        const { verdict, test = { kind: "self" } } = formula;
        return { kind: "value", inputs: [], verdict, level: 0, test };
      }
      case "open":
        return { kind: "open", inputs: [] };
      case "node": {
        const { node, via: relation } = formula;
        return relation === undefined
          ? { kind: "or", inputs: [node] }
          : { kind: "hop", inputs: [node], relation, subjectRelations: undefined };
      }
    }
  };
  const inputOf = (formula: GroundFormula): number =>
    formula.kind === "node" && formula.via === undefined
      ? formula.node
      : circuit.add(gateOf(formula));
  for (const [id, formula] of formulas.entries()) circuit.close(id, gateOf(formula));
  return circuit;
}

/** A node of which nothing matters but its number. */
export function plainNode(id: number): GroundNode {
  const node = {
    id,
    entityType: "folder",
    name: "view",
    isOperand: false,
    formula: { kind: "attribute", name: "open" },
    component: id,
    isRecursive: false,
    isLocal: true,
    breadth: 0,
  } as const;
  // Some ids are after others in the order of bytes, though their numbers are before.
  return { node, entity: { type: node.entityType, id: `f${(id * 7) % 12}` }, level: 0 };
}

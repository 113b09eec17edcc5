import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import { runThrough } from "../../src/base/steps.ts";
import { ALLOWED, DENIED, UNKNOWN } from "../../src/base/verdict.ts";
import type { Circuit, Gate } from "../../src/memory/circuit.ts";
import { findModel, type Model } from "../../src/memory/model.ts";
import { shortestProofs } from "../../src/memory/proofs.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { circuitOf, type GroundFormula, plainNode } from "./ground-formula.ts";

/*
 * Shortest proofs against lengths that are lowered, gate by gate, until none can be lower.
 * PEMBA_SEED repeats a run, PEMBA_CASES makes it longer or shorter.
 */

const cases = caseCount({ short: 800, long: 50_000 });
const subject = { type: "user", id: "ann", relation: "" };

/** Hops, the key of the first fact, steps: compared in this order. */
type Length = readonly [number, string, number];

test(`the proofs of ${cases} random networks are the shortest ones`, (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  let proven = 0;
  const property = fc.property(anyFormulas(), (formulas) => {
    const circuit = circuitOf(formulas, plainNode);
    const model = runThrough(findModel(circuit, ({ verdict }) => verdict));
    const proofs = runThrough(shortestProofs(circuit, model, subject));
    const lengths = lowestLengths(circuit, model);
    for (const [id, gate] of circuit.gates.entries()) {
      const length = lengths[id];
      assert.equal(proofs.hopsOf(id), length?.[0]);
      assert.equal(model[id] === ALLOWED, length !== undefined);
      if (length === undefined || (gate.kind !== "or" && gate.kind !== "hop")) continue;
      proven += 1;
      const isShortest = (input: number): boolean => {
        const over = lengthOver(circuit, gate, input, lengths);
        return over !== undefined && compare(over, length) === 0;
      };
      assert.equal(proofs.choiceOf(id), gate.inputs.find(isShortest));
    }
  });
  fc.assert(property, { seed, numRuns: cases });
  assert.ok(proven > cases);
});

function lowestLengths(circuit: Circuit, model: Model): readonly (Length | undefined)[] {
  const lengths: (Length | undefined)[] = circuit.gates.map(() => undefined);
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    for (const [id, gate] of circuit.gates.entries()) {
      const known = lengths[id];
      const length = model[id] === ALLOWED ? lengthOf(circuit, gate, lengths) : undefined;
      if (length === undefined || (known !== undefined && compare(length, known) >= 0)) continue;
      lengths[id] = length;
      isSettled = false;
    }
  }
  return lengths;
}

function lengthOf(
  circuit: Circuit,
  gate: Gate,
  lengths: readonly (Length | undefined)[],
): Length | undefined {
  if (gate.kind === "value") {
    return [0, gate.test.kind === "attribute" ? gate.test.name : "", 0];
  }
  const inputs = gate.kind === "not" ? [gate.inputs[0]] : gate.inputs;
  const all = inputs.map((input) => lengthOver(circuit, gate, input, lengths));
  const found = all.filter((length) => length !== undefined).toSorted(compare);
  if (gate.kind !== "and") return found[0];
  return found.length === all.length ? found.at(-1) : undefined;
}

/** The length of a proof of the gate that goes on with the input. */
function lengthOver(
  circuit: Circuit,
  gate: Gate,
  input: number,
  lengths: readonly (Length | undefined)[],
): Length | undefined {
  const length = lengths[input];
  if (length === undefined) return undefined;
  const [far, key, steps] = length;
  if (gate.kind !== "hop") return [far, key, steps + 1];
  const { entity } = must(circuit.nodes[input], "a hop leads to a node");
  return [far + 1, `${gate.relation}\0${entity.type}\0${entity.id}`, 0];
}

function compare(a: Length, b: Length): number {
  if (a[0] !== b[0]) return a[0] - b[0];
  if (a[1] !== b[1]) return a[1] < b[1] ? -1 : 1;
  return a[2] - b[2];
}

function anyFormulas(): fc.Arbitrary<GroundFormula[]> {
  return fc.integer({ min: 2, max: 12 }).chain((count) => {
    const target = fc.integer({ min: 0, max: count - 1 });
    const near = target.map((node): GroundFormula => ({ kind: "node", node }));
    const far = fc
      .tuple(target, fc.constantFrom("parent", "member"))
      .map(([node, via]): GroundFormula => ({ kind: "node", node, via }));
    const value = fc
      .tuple(fc.constantFrom(ALLOWED, ALLOWED, DENIED, UNKNOWN), fc.constantFrom("a", "b", "c"))
      .map(([verdict, name]): GroundFormula => ({
        kind: "value",
        verdict,
        test: { kind: "attribute", name },
      }));
    const operand = fc.oneof(near, far, value);
    const run = (kind: "or" | "and"): fc.Arbitrary<GroundFormula> =>
      fc.record({
        kind: fc.constant(kind),
        operands: fc.array(operand, { minLength: 1, maxLength: 4 }),
      });
    const not = fc.record({ kind: fc.constant("not" as const), left: operand, right: near });
    const formula = fc.oneof(
      { weight: 6, arbitrary: run("or") },
      { weight: 3, arbitrary: run("and") },
      { weight: 2, arbitrary: not },
      { weight: 1, arbitrary: operand },
    );
    return fc.array(formula, { minLength: count, maxLength: count });
  });
}

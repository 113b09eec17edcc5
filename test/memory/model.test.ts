import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { runThrough } from "../../src/base/steps.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../../src/base/verdict.ts";
import { findModel } from "../../src/memory/model.ts";
import type { Formula } from "../differential/ground.ts";
import { wellFoundedModel } from "../differential/well-founded.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { circuitOf, type GroundFormula, plainNode } from "./ground-formula.ts";

/*
 * The model that the engines derive step by step, against alternating fixpoints over all nodes.
 * PEMBA_SEED repeats a run, PEMBA_CASES makes it longer or shorter.
 */

const cases = caseCount({ short: 2_000, long: 200_000 });
const nodesMax = 16;

const verdicts: readonly Verdict[] = [DENIED, UNKNOWN, ALLOWED];

test(`the model of ${cases} random networks is the alternating fixpoint`, (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const met = new Set<Verdict>();
  const property = fc.property(anyNetwork(), (formulas) => {
    const circuit = circuitOf(formulas, plainNode);
    const model = runThrough(findModel(circuit, ({ verdict }) => verdict));
    const rules = new Map(formulas.map((formula, id) => [`${id}`, propositional(formula)]));
    const expected = wellFoundedModel({ root: "0", rules, entities: new Map() });
    const verdictOf = (id: number): Verdict => {
      if (expected.certain.has(`${id}`)) return ALLOWED;
      return expected.possible.has(`${id}`) ? UNKNOWN : DENIED;
    };
    const wanted = formulas.map((_, id) => verdictOf(id));
    assert.deepEqual(model.slice(0, formulas.length), wanted);
    for (const verdict of wanted) met.add(verdict);
  });
  fc.assert(property, { seed, numRuns: cases });
  assert.deepEqual(
    [...met].toSorted((a, b) => a - b),
    verdicts,
  );
});

/**
 * Formulas are small and hardly ever hold a value: so loops rest on other loops, through negations
 * that are decided one after the other.
 */
function anyNetwork(): fc.Arbitrary<GroundFormula[]> {
  return fc.integer({ min: 1, max: nodesMax }).chain((count) => {
    const node = fc
      .tuple(fc.integer({ min: 0, max: count - 1 }), fc.boolean())
      .map(([id, isHop]) => ({ kind: "node" as const, node: id, ...(isHop && { via: "parent" }) }));
    const value = (verdict: Verdict): fc.Arbitrary<GroundFormula> =>
      fc.constant({ kind: "value", verdict });
    const not = (left: fc.Arbitrary<GroundFormula>): fc.Arbitrary<GroundFormula> =>
      fc.record({ kind: fc.constant("not" as const), left, right: node });
    const all = (
      kind: "or" | "and",
      operand: fc.Arbitrary<GroundFormula>,
    ): fc.Arbitrary<GroundFormula> =>
      fc.record({ kind: fc.constant(kind), operands: fc.array(operand, { maxLength: 3 }) });
    const operand = fc.oneof(
      { weight: 6, arbitrary: node },
      { weight: 3, arbitrary: not(value(ALLOWED)) },
      { weight: 1, arbitrary: not(all("or", node)) },
      { weight: 1, arbitrary: all("and", node) },
    );
    const formula = fc.oneof(
      { weight: 8, arbitrary: node },
      { weight: 8, arbitrary: not(value(ALLOWED)) },
      { weight: 2, arbitrary: not(operand) },
      { weight: 12, arbitrary: all("or", operand) },
      { weight: 3, arbitrary: all("and", operand) },
      { weight: 1, arbitrary: fc.constantFrom(...verdicts).chain(value) },
      { weight: 1, arbitrary: fc.constant({ kind: "open" as const }) },
    );
    return fc.array(formula, { minLength: count, maxLength: count });
  });
}

function propositional(formula: GroundFormula): Formula {
  switch (formula.kind) {
    case "or":
    case "and":
      return { kind: formula.kind, operands: formula.operands.map(propositional) };
    case "not":
      assert.ok(formula.right.kind === "node");
      return {
        kind: "not",
        left: propositional(formula.left),
        right: `${formula.right.node}`,
      };
    case "node":
      return { kind: "atom", key: `${formula.node}`, hops: formula.via === undefined ? 0 : 1 };
    // What is not read may turn out to be anything.
    case "open":
      return { kind: "fault", fault: "RULE_EVALUATION" };
    case "value":
      return formula.verdict === UNKNOWN
        ? { kind: "fault", fault: "RULE_EVALUATION" }
        : { kind: "value", value: formula.verdict === ALLOWED };
  }
}

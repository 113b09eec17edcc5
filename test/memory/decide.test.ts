import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { must } from "../../src/base/assert.ts";
import { Pace, runThrough } from "../../src/base/steps.ts";
import { ALLOWED } from "../../src/base/verdict.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { GroundNode } from "../../src/memory/circuit.ts";
import { decide } from "../../src/memory/decide.ts";
import type { Facts } from "../../src/memory/facts.ts";
import { GroundBudget } from "../../src/memory/ground-budget.ts";
import { Grounding } from "../../src/memory/ground.ts";
import type { EvaluationInput } from "../../src/memory/judge.ts";
import { findModel } from "../../src/memory/model.ts";
import { type Decided, shortestProofs } from "../../src/memory/proofs.ts";
import { planOf } from "../../src/plan/build.ts";
import { unrestricted } from "../../src/plan/passes/2-restrict.ts";
import { caseCount, seed } from "../support/run-length.ts";

/*
 * What is decided as far as it is shown, against what is decided of all that there is.
 * PEMBA_SEED repeats a run, PEMBA_CASES makes it longer or shorter.
 */

const cases = caseCount({ short: 1_000, long: 20_000 });

const schema = compileSchemaText(`entity user {}
entity place {
  relation near @place
  relation next @place
  relation viewer @user @place#viewer
  relation blocked @user @place#viewer
  permission view = viewer or near.both or near.view or next.left
  permission left = (viewer or next.left) not blocked
  permission both = near.view and (next.left or viewer)
  permission odd = view not (near.view not next.odd)
}`);

const subject = { type: "user", id: "ann", relation: "" };

/** Relation, and the place that it leads to; the user for -1. */
type Edge = readonly [number, "near" | "next" | "viewer" | "blocked", number];

test(`what is shown of ${cases} random graphs does not depend on how much is read`, (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const met = { allowed: 0, less: 0 };
  const property = fc.property(
    anyEdges(),
    fc.constantFrom("view", "left", "both", "odd"),
    (edges, name) => {
      const facts = factsOf(edges);
      const asked = inputOf(facts);
      const { network, root } = networkOf(name);
      const lazy = must(runThrough(decide(network, root, asked)), "it is small");
      const whole = decideWhole(name, asked);
      const [fewer, all] = [lazy, whole].map(({ circuit }) => circuit.nodeCount);
      if (must(fewer, "it is one of two") < must(all, "it is one of two")) met.less += 1;
      if (lazy.model[0] === ALLOWED) met.allowed += 1;
      assertSame(lazy, whole);
    },
  );
  fc.assert(property, { seed, numRuns: cases });
  assert.ok(met.allowed > cases / 10, `${met.allowed} are allowed`);
  assert.ok(met.less > cases / 50, `less is read of ${met.less}`);
});

test("what is excluded is not read further than its proofs, nor what no proof needs", () => {
  const chain = (relation: "near" | "next", from: number, to: number): Edge[] =>
    Array.from({ length: to - from }, (_, at): Edge => [from + at, relation, from + at + 1]);
  const ann: Edge[] = [
    [0, "viewer", -1],
    [0, "blocked", -1],
  ];
  const read = new Set<string>();
  const facts = factsOf([...ann, ...chain("next", 0, 50)], (id) => read.add(id));
  const { network, root } = networkOf("left");
  const { model } = must(runThrough(decide(network, root, inputOf(facts))), "it is small");
  assert.notEqual(model[0], ALLOWED);
  assert.ok(read.size < 10, `${read.size} places are read`);
});

function networkOf(permission: string): {
  readonly network: ReturnType<typeof unrestricted>;
  readonly root: Parameters<typeof decide>[1];
} {
  const question = { entityType: "place", permission, subjectType: "user", subjectRelation: "" };
  const { network, root } = planOf(schema, { ...question, arguments: [] }, (field) => field);
  return { network: unrestricted(network.network, question), root };
}

function inputOf(facts: Facts): EvaluationInput {
  const budget = new GroundBudget();
  const pace = new Pace();
  return { facts, entityId: "0", subject, depth: 100, data: {}, budget, pace, onFault: () => {} };
}

function decideWhole(name: string, asked: EvaluationInput): Decided {
  const { network, root } = networkOf(name);
  const grounding = new Grounding(network, [root], asked, { endsAtDirect: true });
  runThrough(grounding.read([0], Infinity));
  const { circuit } = grounding;
  const model = runThrough(findModel(circuit, ({ verdict }) => verdict));
  return { circuit, model, proofs: runThrough(shortestProofs(circuit, model, subject)) };
}

/** Along what is shown: of a proof its steps, of anything else all operands. */
function assertSame(lazy: Decided, whole: Decided): void {
  const seen = new Set<string>();
  const queue: (readonly [number, number])[] = [[0, 0]];
  // Grows while it is read.
  for (const [a, b] of queue) {
    if (seen.has(`${a} ${b}`)) continue;
    seen.add(`${a} ${b}`);
    assert.deepEqual(labelOf(lazy, a), labelOf(whole, b));
    assert.equal(lazy.model[a], whole.model[b]);
    assert.equal(lazy.proofs.hopsOf(a), whole.proofs.hopsOf(b));
    const [gate, other] = [lazy.circuit.gates[a], whole.circuit.gates[b]];
    assert.equal(gate?.kind, other?.kind);
    assert.equal(gate?.inputs.length, other?.inputs.length);
    const isChosen = lazy.model[a] === ALLOWED && (gate?.kind === "or" || gate?.kind === "hop");
    if (isChosen) queue.push([lazy.proofs.choiceOf(a), whole.proofs.choiceOf(b)]);
    else {
      for (const [place, input] of (gate?.inputs ?? []).entries()) {
        queue.push([input, must(other?.inputs[place], "both have as many")]);
      }
    }
  }
}

function labelOf({ circuit }: Decided, gate: number): readonly string[] {
  const at: GroundNode | undefined = circuit.nodes[gate];
  return at === undefined ? [] : [at.node.name, at.entity.id];
}

function factsOf(edges: readonly Edge[], onRead: (id: string) => void = () => {}): Facts {
  const from = Map.groupBy(edges, ([id, relation]) => `${id} ${relation}`);
  const targets = (id: string, relation: string): readonly number[] => {
    onRead(id);
    return (from.get(`${id} ${relation}`) ?? []).map(([, , to]) => to);
  };
  const placesOf = (id: string, relation: string): readonly string[] =>
    targets(id, relation)
      .filter((to) => to >= 0)
      .map((to) => `${to}`);
  return {
    hasTuple: ({ id }, relations) => relations.some((name) => targets(id, name).includes(-1)),
    subjectIds: ({ id }, relations, type) =>
      type === "place" ? relations.flatMap((name) => placesOf(id, name)) : [],
    subjects: ({ id }, relation, type) =>
      type === "place" ? placesOf(id, relation).map((to) => ({ id: to, relation: "" })) : [],
    attribute: () => undefined,
  };
}

function anyEdges(): fc.Arbitrary<Edge[]> {
  const place = fc.integer({ min: 0, max: 9 });
  const edge = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(place, fc.constantFrom("near", "next"), place) },
    { weight: 2, arbitrary: fc.tuple(place, fc.constantFrom("viewer", "blocked"), place) },
    {
      weight: 1,
      arbitrary: fc.tuple(place, fc.constantFrom("viewer", "blocked"), fc.constant(-1)),
    },
  );
  return fc.uniqueArray(edge, { minLength: 6, maxLength: 30, selector: String });
}

import type { CandidatePlan, CandidateState } from "../../plan/passes/5-drop-guards.ts";
import type { RelationName } from "../../plan/relations-with.ts";

/**
 * A hop or a direct test against its direction, under one relation: from the subject of a row at the
 * state `at` to entities of `to`.
 */
export interface BackStep extends RelationName {
  readonly at: number;
  readonly to: CandidateState;
  readonly subjectType: string;
  /** Undefined in a walk, which follows every subject of the type. */
  readonly subjectRelation: string | undefined;
  readonly isDefinite: boolean;
}

/** The number of a state for the asked subject itself, which no plan has. */
export function subjectState({ states }: CandidatePlan): number {
  return Math.max(...states.keys()) + 1;
}

export function backSteps(candidatePlan: CandidatePlan): BackStep[] {
  const { subjectType, subjectRelation } = candidatePlan.question;
  const at = subjectState(candidatePlan);
  return [...candidatePlan.states.values()].flatMap((to) => {
    const { entityType } = to;
    const tests = to.tests.flatMap(({ test, isDefinite }) =>
      test.kind === "direct"
        ? test.relations.map((relation) => ({
            at,
            subjectType,
            subjectRelation,
            relation,
            isDefinite,
          }))
        : [],
    );
    const hops = to.hops.flatMap(({ relations, target, ...hop }) =>
      relations.map((relation) => ({ ...hop, at: target, relation })),
    );
    return [...tests, ...hops].map((step) => ({ ...step, to, entityType }));
  });
}

/** Groups the steps by rank: group i has the i-th step from every state. */
export function stepRanks(steps: readonly BackStep[]): BackStep[][] {
  const ranks: BackStep[][] = [];
  const seen = new Map<number, number>();
  for (const step of steps) {
    const rank = seen.get(step.at) ?? 0;
    seen.set(step.at, rank + 1);
    (ranks[rank] ??= []).push(step);
  }
  return ranks;
}

/**
 * Steps from one state by subjects of one relation that share one probe: in the order of the index
 * no other relation of the schema that such subjects may have lies between theirs.
 */
export interface StepRange {
  readonly at: number;
  readonly subjectType: string;
  readonly subjectRelation: string;
  readonly first: RelationName;
  readonly last: RelationName;
  readonly steps: readonly BackStep[];
}

type RelationsWith = (subjectType: string, subjectRelation: string) => readonly RelationName[];

/** All steps from each state as one range, without regard to what lies between them. */
export function loosely(steps: readonly BackStep[]): StepRange[] {
  const ranges = [...Map.groupBy(steps, ({ at }) => at).values()].flatMap(rangeOf);
  return ranges.toSorted((a, b) => a.at - b.at);
}

/** The steps as ranges, by the state where they begin. A walk counts as subjects without a relation. */
export function rangesOf(steps: readonly BackStep[], relationsWith: RelationsWith): StepRange[] {
  const alike = Map.groupBy(steps, (step) => JSON.stringify([step.at, step.subjectRelation ?? ""]));
  const ranges = [...alike.values()].flatMap((group) => rangesOfAlike(group, relationsWith));
  return ranges.toSorted((a, b) => a.at - b.at);
}

function rangesOfAlike(group: readonly BackStep[], relationsWith: RelationsWith): StepRange[] {
  const [step] = group;
  if (step === undefined) return [];
  const { subjectType, subjectRelation = "" } = step;
  const wanted = Map.groupBy(group, indexKey);
  const all = [...relationsWith(subjectType, subjectRelation), ...group].map(indexKey);
  // Names are ASCII, so the order of their characters is that of the index.
  const keys = [...new Set(all)].sort();
  const runs: BackStep[][] = [];
  keys.forEach((key, index) => {
    const steps = wanted.get(key);
    if (steps === undefined) return;
    const before = wanted.has(keys[index - 1] ?? "") ? runs.at(-1) : undefined;
    if (before === undefined) runs.push([...steps]);
    else before.push(...steps);
  });
  return runs.flatMap(rangeOf);
}

function rangeOf(steps: readonly BackStep[]): StepRange[] {
  const [first] = steps;
  const last = steps.at(-1);
  if (first === undefined || last === undefined) return [];
  const { at, subjectType, subjectRelation = "" } = first;
  return [{ at, subjectType, subjectRelation, first, last, steps }];
}

/** Sorts as the index does: by the entity type, then by the relation. */
function indexKey({ entityType, relation }: RelationName): string {
  return `${entityType}\0${relation}`;
}

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
  /** It has no guard of its own. */
  readonly isOpen: boolean;
  readonly isDefinite: boolean;
}

/** The step as it is if the arrival guards of the state that its hop leads to hold. */
export function ifOpen(step: BackStep): BackStep {
  return { ...step, isDefinite: step.isOpen };
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
            isOpen: isDefinite,
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

/** The steps of a search by what their subjects are. */
export interface SearchSteps {
  readonly plain: readonly BackStep[];
  /** Those that follow a subject with any relation. */
  readonly loose: readonly BackStep[];
}

/** A place in the order of the index of the tuples of a subject. */
interface StepPlace extends RelationName {
  readonly subjectRelation: string;
}

/** Steps from one state that share one probe: it reads the tuples from the first place to the last. */
export interface StepRange {
  readonly at: number;
  readonly subjectType: string;
  readonly first: StepPlace;
  readonly last: StepPlace;
  readonly steps: readonly BackStep[];
  /** It also reads tuples that no step is for. */
  readonly isLoose: boolean;
}

type RelationsWith = (subjectType: string, subjectRelation: string) => readonly RelationName[];

/**
 * The steps as ranges, by the state where they begin. Between those of a range no other relation of the
 * schema lies that such subjects may have.
 *
 * A walk follows subjects of its type with any relation. Almost all of these have none. For the others
 * one range serves all walks from a state, in no order of the index. It takes the range before it in, if
 * nothing lies between them: one probe costs less than two.
 */
export function rangesOf(
  { plain, loose }: SearchSteps,
  relationsWith: RelationsWith,
): readonly StepRange[] {
  const alike = Map.groupBy(plain, (step) => JSON.stringify([step.at, step.subjectRelation ?? ""]));
  const exact = [...alike.values()].flatMap((group) => rangesOfAlike(group, relationsWith));
  const taken = new Set<StepRange>();
  const others = [...Map.groupBy(loose, ({ at }) => at).values()].flatMap((steps) => {
    const [walk] = steps;
    if (walk === undefined) return [];
    const { at, subjectType } = walk;
    const before = exact.find((range) => range.at === at && isBefore(range, relationsWith));
    if (before !== undefined) taken.add(before);
    const first = before?.first ?? behindPlain;
    return [{ at, subjectType, first, last: behindAll, steps, isLoose: true }];
  });
  const ranges = [...exact.filter((range) => !taken.has(range)), ...others];
  return ranges.toSorted((a, b) => a.at - b.at);
}

/** Greater than all names, which are ASCII letters, digits and underscores. */
const behindNames = "~";
const behindPlain = { subjectRelation: "", entityType: behindNames, relation: "" };
const behindAll = { subjectRelation: behindNames, entityType: "", relation: "" };

/** Whether walks alone have the range, and it is the last one of subjects without a relation. */
function isBefore({ subjectType, last, steps }: StepRange, relationsWith: RelationsWith): boolean {
  return (
    steps.every(({ subjectRelation }) => subjectRelation === undefined) &&
    relationsWith(subjectType, "").every((name) => indexKey(name) <= indexKey(last))
  );
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
  const { at, subjectType } = first;
  return [{ at, subjectType, first: placeOf(first), last: placeOf(last), steps, isLoose: false }];
}

function placeOf({ entityType, relation, subjectRelation = "" }: BackStep): StepPlace {
  return { entityType, relation, subjectRelation };
}

/** Sorts as the index does: by the entity type, then by the relation. */
function indexKey({ entityType, relation }: RelationName): string {
  return `${entityType}\0${relation}`;
}

import { nameAt, numberArray, numberAt } from "../text/element.ts";
import { type Fragment, integer, join, literal, sql, truth } from "../text/fragment.ts";
import type { BackStep, StepRange } from "./back-steps.ts";

/**
 * Ranges of steps that share one probe. Its names are elements of arrays, chosen by the state of the
 * row where the range begins. A branch for each range would cost its start-up even if never taken.
 */
export interface StepTable {
  /** A join before the probe that goes through the ranges of a state; empty if each state has one. */
  readonly each: Fragment;
  /** A name of the range; null for a state without a range. */
  readonly name: (of: (range: StepRange) => string) => Fragment;
  readonly targets: StepTargets;
}

/**
 * The states that the tuples in a range lead to, by steps with the (entity_type, relation) of the
 * tuple `p`.
 */
export interface StepTargets {
  /** A lateral query `s` with the columns (state, sure). */
  readonly from: Fragment;
  /** What holds of a tuple that leads to a state; undefined if each row of `from` does. */
  readonly condition: Fragment | undefined;
}

/** Makes the table of ranges that are sorted by their first state; `state` is the column of the row. */
export function stepTable(ranges: readonly StepRange[], state: Fragment): StepTable {
  const byState = Map.groupBy(ranges.keys(), (number) => ranges[number]?.at ?? 0);
  const isSingle = [...byState.values()].every((numbers) => numbers.length === 1);
  const states = Math.max(...byState.keys()) + 1;
  const ofState = <T>(of: (numbers: readonly number[]) => T | undefined): (T | undefined)[] =>
    Array.from({ length: states }, (_, at) => of(byState.get(at) ?? []));
  const index = isSingle ? state : sql`g.range`;
  const indexed: (StepRange | undefined)[] = isSingle
    ? ofState(([number]) => (number === undefined ? undefined : ranges[number]))
    : [...ranges];
  const first = ofState(([number]) => number);
  const last = ofState((numbers) => numbers.at(-1));
  const firstOf = numberAt(first, state);
  const lastOf = numberAt(last, state);
  return {
    each: isSingle
      ? sql``
      : sql`${numbersFrom(ranges.length, firstOf, lastOf)} g(range) cross join`,
    name: (of) =>
      nameAt(
        indexed.map((range) => (range === undefined ? undefined : of(range))),
        index,
      ),
    targets: targetsOf(indexed, index),
  };
}

/** More branches of a `case` take longer to start than they save. */
const branchesMax = 8;

function targetsOf(ranges: readonly (StepRange | undefined)[], index: Fragment): StepTargets {
  const isOfOneStep = (range: StepRange | undefined): boolean =>
    range === undefined || (range.steps.length === 1 && !range.isLoose);
  if (ranges.every(isOfOneStep)) {
    const only = ranges.map((range) => range?.steps[0]);
    const from = sql`lateral (select ${stateOf(only, index)} as state, ${definiteOf(only, index)} as sure) s`;
    return { from, condition: undefined };
  }
  const branches = branchesOf(ranges);
  return branches !== undefined && branches.length <= branchesMax
    ? targetsByBranch(branches, index)
    : targetsByStep(ranges, index);
}

/** Steps with the same names to the same state, and the ranges that they are in. */
interface TargetBranch {
  readonly step: BackStep;
  readonly ranges: number[];
}

/** Undefined if a tuple may lead to several states. */
function branchesOf(ranges: readonly (StepRange | undefined)[]): TargetBranch[] | undefined {
  const branches = new Map<string, TargetBranch>();
  for (const [number, range] of ranges.entries()) {
    const names = new Set(range?.steps.map(nameOf));
    if (names.size < (range?.steps.length ?? 0)) return undefined;
    for (const step of range?.steps ?? []) {
      const key = JSON.stringify([nameOf(step), step.to.id, step.isDefinite]);
      const branch = branches.get(key);
      if (branch === undefined) branches.set(key, { step, ranges: [number] });
      else branch.ranges.push(number);
    }
  }
  return [...branches.values()];
}

function nameOf({ entityType, relation }: BackStep): string {
  return `${entityType}#${relation}`;
}

/** A range may have tuples of an earlier schema, so names alone do not tell the step. */
function targetsByBranch(branches: readonly TargetBranch[], index: Fragment): StepTargets {
  const valueOf = (value: (step: BackStep) => Fragment): Fragment => {
    const all = branches.map(({ step, ranges }) => {
      const { entityType, relation } = step;
      return sql`
        when ${index} in (${join(ranges.map(integer), ", ")})
          and p.entity_type = ${literal(entityType)} and p.relation = ${literal(relation)}
        then ${value(step)}
      `;
    });
    return sql`case ${join(all, " ")} end`;
  };
  const sure = new Set(branches.map(({ step }) => step.isDefinite));
  const isSure =
    sure.size === 1 ? truth(sure.has(true)) : valueOf(({ isDefinite }) => truth(isDefinite));
  const state = valueOf(({ to }) => integer(to.id));
  return {
    from: sql`lateral (select ${state} as state, ${isSure} as sure) s`,
    condition: sql`s.state is not null`,
  };
}

function targetsByStep(ranges: readonly (StepRange | undefined)[], index: Fragment): StepTargets {
  const steps = ranges.flatMap((range) => range?.steps ?? []);
  let count = 0;
  const spans = ranges.map((range) => {
    if (range === undefined) return undefined;
    const start = count;
    count += range.steps.length;
    return { start, end: count - 1 };
  });
  const start = spans.map((span) => span?.start);
  const end = spans.map((span) => span?.end);
  const step = sql`o.step`;
  const numbers = numbersFrom(steps.length, numberAt(start, index), numberAt(end, index));
  const name = (of: (step: BackStep) => string): Fragment => nameAt(steps.map(of), step);
  // The offset keeps the planner from going through the steps before there is a tuple.
  const from = sql`
    lateral (
      select ${stateOf(steps, step)} as state, ${definiteOf(steps, step)} as sure
      from ${numbers} o(step)
      where ${name((each) => each.entityType)} = p.entity_type
      and ${name((each) => each.relation)} = p.relation
      offset 0
    ) s
  `;
  return { from, condition: undefined };
}

/** From an array, not from a series, for which the planner would expect a thousand rows. */
function numbersFrom(length: number, first: Fragment, last: Fragment): Fragment {
  const all = Array.from({ length }, (_, number) => number);
  return sql`unnest((${numberArray(all)})[${first}:${last}])`;
}

function stateOf(steps: readonly (BackStep | undefined)[], index: Fragment): Fragment {
  const ids = steps.map((step) => step?.to.id);
  const [only, ...others] = new Set(ids.filter((id) => id !== undefined));
  return only !== undefined && others.length === 0 ? integer(only) : numberAt(ids, index);
}

function definiteOf(steps: readonly (BackStep | undefined)[], index: Fragment): Fragment {
  const known = steps.filter((step) => step !== undefined);
  if (known.every(({ isDefinite }) => isDefinite)) return sql`true`;
  if (!known.some(({ isDefinite }) => isDefinite)) return sql`false`;
  return sql`${numberAt(
    steps.map((step) => (step === undefined ? undefined : Number(step.isDefinite))),
    index,
  )} = 1`;
}

/** A name by the state of a row, of steps that begin at different states; null for other states. */
export function nameByStep(
  steps: readonly BackStep[],
  state: Fragment,
  of: (step: BackStep) => string,
): Fragment {
  const names = new Map(steps.map((step) => [step.at, of(step)]));
  const [only, ...others] = new Set(names.values());
  if (only !== undefined && others.length === 0) return literal(only);
  const length = Math.max(...names.keys()) + 1;
  return nameAt(
    Array.from({ length }, (_, at) => names.get(at)),
    state,
  );
}

/** Whether the step from the state of a row is definite, of steps that begin at different states. */
export function definiteByStep(steps: readonly BackStep[], state: Fragment): Fragment {
  const byState = new Map(steps.map((step) => [step.at, step]));
  const length = Math.max(...byState.keys()) + 1;
  return definiteOf(
    Array.from({ length }, (_, at) => byState.get(at)),
    state,
  );
}

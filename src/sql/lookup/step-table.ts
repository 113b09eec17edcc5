import { nameAt, numberArray, numberAt } from "../text/element.ts";
import { type Fragment, integer, literal, sql } from "../text/fragment.ts";
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
  /**
   * The states that the tuples in the range lead to, by steps with the (entity_type, relation) of the
   * tuple `p`: a lateral query `s` with the columns (state, sure).
   */
  readonly targets: Fragment;
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

function targetsOf(ranges: readonly (StepRange | undefined)[], index: Fragment): Fragment {
  const steps = ranges.flatMap((range) => range?.steps ?? []);
  const isOfOneStep = (range: StepRange | undefined): boolean =>
    range === undefined || (range.steps.length === 1 && !range.isLoose);
  if (ranges.every(isOfOneStep)) {
    const only = ranges.map((range) => range?.steps[0]);
    return sql`lateral (select ${stateOf(only, index)} as state, ${definiteOf(only, index)} as sure) s`;
  }
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
  return sql`
    lateral (
      select ${stateOf(steps, step)} as state, ${definiteOf(steps, step)} as sure
      from ${numbers} o(step)
      where ${name((each) => each.entityType)} = p.entity_type
      and ${name((each) => each.relation)} = p.relation
      offset 0
    ) s
  `;
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

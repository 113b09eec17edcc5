import { assert } from "../../base/assert.ts";
import type { ExactStates } from "../../plan/exact.ts";
import type { SearchPlan, State } from "../../plan/plan.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, identifier, integer, join, param, sql } from "../text/fragment.ts";

/** A plan that has no SQL, because of a rule or of its size. It is gathered instead. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";
}

/** What the parts of a search are written with. */
export interface Writer {
  readonly scope: StatementScope;
  readonly plan: SearchPlan;
  readonly exact: ExactStates;
  readonly subjectId: Fragment;
  /**
   * Which usersets of an entity a search takes in: those of the closure of its subject, or, for many subjects,
   * all of them: as rows that the closure of a subject is asked for, or as rows that it goes on from.
   */
  readonly usersets: "of subject" | "to be asked" | "followed";
  /** A number that no other search of the statement has, for its names. */
  readonly number: () => number;
  /** The verdict (an integer) of a state at an entity, by a search of its own where it has hops. */
  readonly judge: (state: number, at: ReachedEntity) => Fragment;
  /** The same as a boolean, for exact states. */
  readonly holds: (state: number, at: ReachedEntity) => Fragment;
}

/** One search of a statement: the states that it reaches and the names of its tables. */
export interface Search {
  /** The states where it begins. */
  readonly roots: readonly State[];
  readonly states: readonly State[];
  /**
   * Alias of a row of the search: (state, id, level[, sure][, goal]). `sure`: the path to the row is
   * definite. `goal`: see `InlinedGuardReading`.
   */
  readonly row: Fragment;
  /** Rows have the column `sure`, since some guard can be unknown. */
  readonly hasDefinite: boolean;
}

/** An entity of a row of the surrounding query, and the number of hops that lead to it. */
export interface ReachedEntity {
  readonly id: Fragment;
  /** The hops as the scale of a numeric zero: see `levelZero`. */
  readonly level: Fragment;
}

export const depth = param("depth", "int");
export const data = param("data", "text::jsonb");

/**
 * Hops are counted by the scale of a numeric zero: 0, 0.0, 0.00 ... `UNION` takes these as equal,
 * so the rows of a search are distinct by node alone, and the first one stays: since a recursive
 * union works level by level, that is the one with the fewest hops. If
 * the counter were compared, a node of a cyclic graph would be visited again at each level.
 */
export const levelZero = sql`0::numeric`;

export function nextLevel(level: Fragment): Fragment {
  return sql`${level} * 0.0`;
}

export function hops(level: Fragment): Fragment {
  return sql`scale(${level})`;
}

/** A name with the number of its search. */
export function numbered(name: string, number: number): Fragment {
  return identifier(`${name}${number}`);
}

/**
 * A value that depends on the state of a row, null for states without an entry: a constant where
 * all of the `stateCount` states have the same one.
 */
export function byState(
  state: Fragment,
  entries: readonly { readonly state: number; readonly value: Fragment }[],
  stateCount: number,
): Fragment {
  const [first] = entries;
  const states = new Set(entries.map((entry) => entry.state));
  assert(states.size === entries.length, "a state takes one value");
  const isConstant =
    entries.length === stateCount &&
    new Set(entries.map((entry) => JSON.stringify(entry.value.parts))).size === 1;
  if (first !== undefined && isConstant) return first.value;
  const cases = entries.map((entry) => sql` when ${integer(entry.state)} then ${entry.value}`);
  return sql`case ${state}${join(cases, "")} end`;
}

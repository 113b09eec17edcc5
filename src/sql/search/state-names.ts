import { assert } from "../../base/assert.ts";
import type { State } from "../../plan/plan.ts";
import { manyRelations, type RelationSet } from "../state/relation-set.ts";
import { nameAt } from "../text/element.ts";
import { type Fragment, literal, textArray } from "../text/fragment.ts";
import { byState } from "./writer.ts";

/** The name that the rows of one state have. */
interface StateName {
  readonly state: number;
  readonly name: string;
}

/** What the names of a probe need to know of a state. */
type TypedState = Pick<State, "id" | "entityType">;

/**
 * Groups the entries by rank: group i has the i-th entry of every state. The entries of a group share a probe: each
 * would cost its start-up even if it is never taken.
 *
 * @param stateOf the number of the state of an entry
 */
export function ranksOf<T>(entries: readonly T[], stateOf: (entry: T) => number): T[][] {
  const ranks: T[][] = [];
  const next = new Map<number, number>();
  for (const entry of entries) {
    const state = stateOf(entry);
    const rank = next.get(state) ?? 0;
    next.set(state, rank + 1);
    (ranks[rank] ??= []).push(entry);
  }
  return ranks;
}

/** The states of a search: the column with the state of a row, and how many states there are. */
export interface SearchStates {
  readonly column: Fragment;
  readonly count: number;
}

/**
 * The relations and the entity type of a probe that several states share. For a row of a state
 * without an entry one of them is null, so that the probe finds nothing.
 */
export function sharedNames(
  states: SearchStates,
  entries: readonly { readonly state: TypedState; readonly relations: readonly string[] }[],
): { readonly relations: RelationSet; readonly entityType: Fragment } {
  const types = entries.map(({ state }) => ({ state: state.id, name: state.entityType }));
  if (entries.some(({ relations }) => relations.length !== 1)) {
    const arrays = entries.map(({ state, relations }) => ({
      state: state.id,
      value: textArray(relations),
    }));
    const names = byState(states.column, arrays, states.count);
    const most = Math.max(...entries.map(({ relations }) => relations.length));
    const kind = most < manyRelations ? "several" : "many";
    return { relations: { kind, names }, entityType: nameOf(states, types) };
  }
  const names = entries.map(({ state, relations }) => ({
    state: state.id,
    name: relations[0] ?? "",
  }));
  return agree(names)
    ? {
        relations: { kind: "one", name: nameOf(states, names) },
        entityType: nameByState(states, types),
      }
    : {
        relations: { kind: "one", name: nameByState(states, names) },
        entityType: nameOf(states, types),
      };
}

/** The name by the state of a row. It is undefined which one a state without an entry gets. */
export function nameOf(states: SearchStates, entries: readonly StateName[]): Fragment {
  const [first] = entries;
  return first !== undefined && agree(entries) ? literal(first.name) : nameByState(states, entries);
}

/** The name by the state of a row, null without an entry. */
function nameByState(states: SearchStates, entries: readonly StateName[]): Fragment {
  const [first] = entries;
  if (first !== undefined && entries.length === states.count && agree(entries)) {
    return literal(first.name);
  }
  const names = new Map(entries.map(({ state, name }) => [state, name]));
  assert(names.size === entries.length, "a state takes one name of a probe");
  const last = Math.max(...names.keys());
  return nameAt(
    Array.from({ length: last + 1 }, (_, state) => names.get(state)),
    states.column,
  );
}

function agree(entries: readonly StateName[]): boolean {
  return new Set(entries.map(({ name }) => name)).size === 1;
}

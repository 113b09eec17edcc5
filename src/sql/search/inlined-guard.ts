import { must } from "../../base/assert.ts";
import type { Guard, State } from "../../plan/plan.ts";
import { type Fragment, identifier, integer, sql } from "../text/fragment.ts";
import { isCutOff } from "./closure.ts";
import { asksForUsersets, hasUsersets } from "./userset-guard.ts";
import { hops, type Writer } from "./writer.ts";

/** The most inlined guards of a search: two bits for each must fit into an integer. */
const inlinedGuardsMax = 14;

/**
 * Splits the arrival guards of the question into inlined ones, which are judged by rows of the
 * question's own search, and the rest. A search of its own would cost a guard some twenty plan nodes
 * (90 of 300 microseconds for `(...) not banned`). An inlined guard asks for tuples and usersets
 * alone. If the closure from the subject is complete, its rows are the first ones of the search and
 * of its first level. If it is not, more rows of it follow among the others.
 */
export function splitInlinedGuards(
  writer: Writer,
  root: State,
  reached: readonly State[],
): { readonly inlinedGuards: readonly Guard[]; readonly arrival: readonly Guard[] } {
  const isEnteredAgain = reached.some((state) => state.hops.some((hop) => hop.target === root.id));
  if (isEnteredAgain) return { inlinedGuards: [], arrival: root.arrival };
  const canInline = (guard: Guard): boolean => {
    const state = writer.plan.states[guard.state];
    return state !== undefined && asksForUsersets(writer, state);
  };
  const inlinedGuards = root.arrival.filter(canInline).slice(0, inlinedGuardsMax);
  return { inlinedGuards, arrival: root.arrival.filter((guard) => !inlinedGuards.includes(guard)) };
}

/**
 * How the verdict of an inlined guard is read from the rows of the search. The search itself has
 * number 0 and the inlined guards follow from 1. The column `goal` of a row is the position of the
 * bits of its number.
 */
export interface InlinedGuardReading {
  /** A column: neither this row nor a later one can change the verdict of the guard. */
  readonly isDecided: Fragment;
  /** Whether the search may end as accepted, by what was seen of the guard. */
  readonly isSettled: Fragment;
  /** Whether the guard alone denies the question. */
  readonly denies: Fragment;
  /** The greatest verdict that the guard allows, at the end of the search. */
  readonly verdict: Fragment;
}

export function inlinedGuardReadings(
  writer: Writer,
  inlinedGuards: readonly Guard[],
  entityId: Fragment,
): InlinedGuardReading[] {
  return inlinedGuards.map((guard, index) => {
    const number = index + 1;
    const decided = identifier(`decided${number}`);
    const isAccepted = sql`r.seen & ${integer(2 << bitPosition(number))} <> 0`;
    const seen = seenVerdict(number);
    const state = must(writer.plan.states[guard.state], "a guard has a state");
    const isDecided = sql`
      f.goal = 0
      and (
        not ${hasUsersets(writer, state, entityId)} or ${hops(sql`f.level`)} > 0 and not ${isCutOff}
      ) as ${decided}
    `;
    switch (guard.polarity) {
      case "required":
        return {
          isDecided,
          isSettled: sql`(r.${decided} or ${isAccepted})`,
          denies: sql`r.${decided} and ${seen} = 0`,
          verdict: seen,
        };
      case "excluded":
        return {
          isDecided,
          isSettled: sql`r.${decided}`,
          denies: isAccepted,
          verdict: sql`2 - ${seen}`,
        };
    }
  });
}

/** The greatest verdict that was seen under a number: 0 is the search itself. */
export function seenVerdict(number: number): Fragment {
  const position = bitPosition(number);
  return position === 0
    ? sql`least(r.seen & 3, 2)`
    : sql`least((r.seen >> ${integer(position)}) & 3, 2)`;
}

function bitPosition(number: number): number {
  return 2 * number;
}

/** The start rows of the inlined guards. They come before that of the search itself. */
export function inlinedGuardStarts(
  inlinedGuards: readonly Guard[],
  at: { readonly id: Fragment; readonly level: Fragment },
  hasDefinite: boolean,
): Fragment[] {
  const definite = hasDefinite ? sql`, true` : sql``;
  return inlinedGuards.map(
    (guard, index) =>
      sql`
        select ${integer(guard.state)}, ${at.id} collate "C", ${at.level}${definite},
          ${integer(bitPosition(index + 1))}
      `,
  );
}

import { type Fragment, join, sql } from "../text/fragment.ts";
import { type InlinedGuardReading, seenVerdict } from "./inlined-guard.ts";

/** The result of a search: columns to `select` from `rows`, which gives one row. */
export interface SearchAnswer {
  readonly verdict: Fragment;
  /** How many nodes were visited until then. */
  readonly nodes: Fragment;
  readonly rows: Fragment;
}

/**
 * Reads the rows of a search in their order, and no further than the first one that decides. `seen`
 * gathers the verdicts up to there as bits, two for the search and two for each inlined guard.
 * The window ends before the current row: a window with the current row would read one row ahead.
 */
export function answerOf(
  table: { readonly name: Fragment; readonly row: Fragment },
  rowVerdict: Fragment,
  inlinedGuards: readonly InlinedGuardReading[],
): SearchAnswer {
  const { name, row } = table;
  const hasInlinedGuards = inlinedGuards.length > 0;
  const columns = hasInlinedGuards ? sql`, ${row}.goal, ${row}.level` : sql``;
  const atEnd = hasInlinedGuards ? sql`, 0, null` : sql``;
  const all = sql`
    select ${rowVerdict} as v${columns}, false as is_end
    from ${name} ${row}
    union all
    select 0${atEnd}, true
  `;
  const bits = hasInlinedGuards ? sql`(f.v << f.goal)` : sql`f.v`;
  const decided = join(
    inlinedGuards.map((inlinedGuard) => sql`, ${inlinedGuard.isDecided}`),
    "",
  );
  const accepted = join(
    [sql`r.seen & 2 <> 0`, ...inlinedGuards.map((inlinedGuard) => inlinedGuard.isSettled)],
    " and ",
  );
  const ends = join(
    [sql`r.is_end`, accepted, ...inlinedGuards.map((inlinedGuard) => inlinedGuard.denies)],
    " or ",
  );
  return {
    verdict: least([seenVerdict(0), ...inlinedGuards.map((inlinedGuard) => inlinedGuard.verdict)]),
    nodes: sql`r.n - r.is_end::int`,
    rows: sql`
      from (
        select f.is_end, coalesce(bit_or(${bits}) over w, 0) | ${bits} as seen,
          row_number() over w as n${decided}
        from (${all}) f
        window w as (rows between unbounded preceding and 1 preceding)
      ) r
      where ${ends}
      limit 1
    `,
  };
}

function least(verdicts: readonly Fragment[]): Fragment {
  const all = join(verdicts, ", ");
  return verdicts.length === 1 ? all : sql`least(${all})`;
}

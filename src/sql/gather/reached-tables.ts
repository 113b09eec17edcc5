import { gatheredEntitiesMax } from "../../plan/limit.ts";
import type { CandidateHop } from "../../plan/passes/5-drop-guards.ts";
import { relationProbe, relationSet } from "../state/relation-set.ts";
import { lateralBranches, type StatementScope } from "../state/source.ts";
import { type Fragment, integer, literal, sql } from "../text/fragment.ts";
import type { Gather } from "./gather.ts";
import { type HopCondition, hopProbes, reachedOf } from "./hop-probes.ts";
import type { TupleCodes } from "./tuple-code.ts";

/** So many tuples are a piece: that is some ten to some hundred kilobytes. */
const tuplesOfPiece = 1_000;

/** Whether what a hop leads to has no hops. */
type HopEnds = (hop: CandidateHop) => boolean;

/** The tables of a gather statement, and what it returns of them. */
interface ReachedTables {
  /** What follows `with recursive`: among others `sets`, with the ids of the entities by type and how many they are. */
  readonly tables: Fragment;
  /** How many tuples were read. */
  readonly size: Fragment;
  /** The pieces of these tuples. */
  readonly pieces: Fragment;
}

/**
 * The entities of types that have hops are found level by level. What the other hops lead to is found with their
 * tuples, which so are read once.
 */
export function reachedTables(
  scope: StatementScope,
  gather: Gather,
  codes: TupleCodes,
  { id, ledBy }: { readonly id: Fragment; readonly ledBy: HopCondition },
): ReachedTables {
  const ends = endsIn(gather);
  const reach = reachOf(scope, gather, ends, { id, ledBy });
  const reached = sql`
    select r.type, array_agg(r.id) as ids, count(*) as size
    from (select * from reach limit ${integer(gatheredEntitiesMax + 1)}) r
    group by r.type
  `;
  const hasEnds = gather.types.some(({ hops }) => hops.some(ends));
  const branches = tupleBranchesOf(scope, gather, codes, {
    ledBy,
    ends: hasEnds ? ends : undefined,
  });
  if (branches.length === 0) {
    const tables = sql`
      reach(type, id) as (${reach}),
      sets as materialized (${reached})
    `;
    return { tables, size: sql`0`, pieces: noPieces };
  }
  const tuples = (sets: Fragment): Fragment => sql`
    select f.*
    from ${sets} s
    cross join ${lateralBranches(branches)} f
    limit ${integer(gather.tuplesMax + 1)}
  `;
  const found = hasEnds
    ? sql`
      onward as materialized (${reached}),
      tuples as materialized (${tuples(sql`onward`)}),
      sets as materialized (
        select * from onward
        union all
        select e.type, array_agg(e.id), count(*)
        from (
          select distinct t.target as type, t.subject_id as id
          from tuples t
          where t.target is not null
        ) e
        group by e.type
      )
    `
    : sql`
      sets as materialized (${reached}),
      tuples as (${tuples(sql`sets`)})
    `;
  const tables = sql`
    reach(type, id) as (${reach}),
    ${found},
    ${tupleLists}
  `;
  return { tables, size: sql`(select l.size from lists l)`, pieces: tuplePieces(gather.tuplesMax) };
}

const tupleLists = sql`
  lists as materialized (
    select
      array_agg(t.code) as codes, array_agg(t.entity_id) as entities,
      array_agg(t.subject_id) as subjects, count(*)::int as size
    from tuples t
  )
`;

/** The tuples of the lists, unless they are more. */
function tuplePieces(max: number): Fragment {
  return sql`
    array(
      select 'e' || json_build_array(
        ${pieceOf(sql`l.codes`)}, ${pieceOf(sql`l.entities`)}, ${pieceOf(sql`l.subjects`)}
      )
      from lists l
      cross join lateral generate_series(1, l.size, ${integer(tuplesOfPiece)}) i
      where l.size <= ${integer(max)}
    )
  `;
}

/** The rows (type, id) of the entities of types that have hops. */
function reachOf(
  scope: StatementScope,
  gather: Gather,
  ends: HopEnds,
  { id, ledBy }: { readonly id: Fragment; readonly ledBy: HopCondition },
): Fragment {
  const onward = hopProbes(scope, gather, {
    follows: (hop) => !ends(hop),
    columns: ({ target }) => sql`${integer(target)} as type, r.subject_id as id`,
    ledBy,
  });
  const start = sql`select 0, ${id} collate "C"`;
  if (onward.length === 0) return start;
  return sql`
        ${start}
        union
        select n.type, n.id
        from (${levelSets}) s
        cross join ${lateralBranches(onward)} n
      `;
}

/**
 * Whether the target of a hop has no hops. Where tuples are listed no hop counts as one that ends, since its tuples
 * are read in any case.
 */
function endsIn(gather: Gather): HopEnds {
  if (isListed(gather)) return () => false;
  return ({ target }) => gather.types[target]?.hops.length === 0;
}

const noPieces = sql`'{}'::text[]`;

/** The elements of an array from `i` on that are in a piece. */
function pieceOf(array: Fragment): Fragment {
  return sql`${array}[i:i + ${integer(tuplesOfPiece - 1)}]`;
}

/**
 * The rows of a level as one row for each type, with the array of their ids: one probe reads them all.
 * That takes a third of the time of a probe for each of a thousand entities. A recursion may not
 * aggregate its own rows, but it may look at them through a window.
 */
const levelSets = sql`
  select l.type, l.ids
  from (
    select
      w.type,
      array_agg(w.id) over (partition by w.type) as ids,
      row_number() over (partition by w.type) as nth
    from reach w
  ) l
  where l.nth = 1
`;

/**
 * The tuples of hops or of listed relations, each with its code. Those of hops may have the type that the hop leads
 * to as `target`, if it ends.
 */
function tupleBranchesOf(
  scope: StatementScope,
  gather: Gather,
  codes: TupleCodes,
  { ledBy, ends }: { readonly ledBy: HopCondition; readonly ends: HopEnds | undefined },
): Fragment[] {
  const columns = (code: Fragment): Fragment => sql`${code} as code, r.entity_id, r.subject_id`;
  // A hop that is listed is among all tuples of its relation.
  if (!isListed(gather)) {
    return hopProbes(scope, gather, {
      columns: (hop, { entityType }) => {
        const { relations, subjectType, subjectRelation = sql`r.subject_relation` } = hop;
        const names = [entityType, relationName(relations), subjectType, subjectRelation];
        const tuple = columns(codes.add(names));
        if (ends === undefined) return tuple;
        return sql`${tuple}, ${ends(hop) ? integer(hop.target) : sql`null::int`} as target`;
      },
      ledBy,
    });
  }
  return gather.types.flatMap((type, index) => {
    if (type.listed.length === 0) return [];
    const names = [sql`r.subject_type`, sql`r.subject_relation`];
    const code = codes.add([type.entityType, relationName(type.listed), ...names]);
    return [
      relationProbe(
        scope,
        columns(code),
        relationSet(type.listed),
        { ...reachedOf(type), subject: { known: "nothing" } },
        sql`and s.type = ${integer(index)}`,
      ),
    ];
  });
}

/** The name of the relation of a tuple `r` among them. */
function relationName(relations: readonly string[]): string | Fragment {
  const [only] = relations;
  return only !== undefined && relations.length === 1 ? only : sql`r.relation`;
}

function isListed({ types }: Gather): boolean {
  return types.some(({ listed }) => listed.length > 0);
}

/** The pieces of the tuples to the asked subject itself. */
export function directPieces(
  scope: StatementScope,
  gather: Gather,
  codes: TupleCodes,
  subject: Fragment,
): Fragment {
  const { subjectType, subjectRelation } = gather.kind;
  const branches = gather.types.flatMap((type, index) =>
    type.direct.length === 0
      ? []
      : [
          relationProbe(
            scope,
            sql`
              ${codes.add([type.entityType, relationName(type.direct)])} as code, r.entity_id
            `,
            relationSet(type.direct),
            {
              ...reachedOf(type),
              subject: {
                known: "all",
                type: literal(subjectType),
                relation: literal(subjectRelation),
                id: subject,
              },
            },
            sql`and s.type = ${integer(index)}`,
          ),
        ],
  );
  if (branches.length === 0) return noPieces;
  return sql`
    array(
      select 'd' || json_build_array(${pieceOf(sql`l.codes`)}, ${pieceOf(sql`l.entities`)})
      from (
        select array_agg(f.code) as codes, array_agg(f.entity_id) as entities
        from sets s
        cross join ${lateralBranches(branches)} f
      ) l
      cross join lateral generate_series(1, array_length(l.codes, 1), ${integer(tuplesOfPiece)}) i
    )
  `;
}

import { gatheredBytesMax, gatheredEntitiesMax } from "../../plan/limit.ts";
import type { CandidateHop } from "../../plan/passes/5-drop-guards.ts";
import {
  amongEntities,
  type EntityEnd,
  relationProbe,
  relationSet,
} from "../state/relation-set.ts";
import { attributeProbe, lateralBranches, type StatementScope } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import type { Gather, GatherType } from "./gather.ts";

type HopCondition = (hop: CandidateHop) => readonly Fragment[];

interface GatherInput {
  readonly id: Fragment;
  readonly subject: Fragment;
  readonly ledBy?: HopCondition;
  readonly hasDirect?: Fragment | undefined;
}

/** So many tuples are a piece: that is some ten to some hundred kilobytes. */
const tuplesOfPiece = 1_000;

/** A piece of attributes has about so many bytes, or a single value that is longer. */
const bytesOfPiece = 65_536;

/**
 * Reads the part of the graph that a question reaches, for the interpreter: one row with `facts`, an array of
 * texts. The driver takes a row apart at once, and all facts may have many megabytes. So each text should
 * become a row of its own. Its first letter says what it holds:
 *
 * - `n`: how many entities were reached, at most `gatheredEntitiesMax` + 1; how many tuples there are of hops or
 *   of listed relations, at most `tuplesMax` + 1; and how many bytes attributes have
 * - `e`: these tuples, unless they are too many: [entity type, entity id, relation, subject type, subject id,
 *   subject relation]
 * - `d`: tuples to the asked subject itself: [entity type, entity id, relation]
 * - `a`: attributes, as far as they have `gatheredBytesMax` together: [entity type, entity id, attribute, value type, value]
 *
 * The last three are JSON, with each fact in a line of its own: its reader parses so many lines at a time.
 *
 * It follows every hop without regard to guards, and reads no members but the asked subject. `ledBy` has
 * further conditions on the tuples `r` of a hop, each after an `and`. `hasDirect` is false if there is no
 * tuple to the subject, which are then not looked for.
 */
export function gatherBody(
  scope: StatementScope,
  gather: Gather,
  { id, subject, ledBy = () => [], hasDirect }: GatherInput,
): Fragment {
  const branches = hopProbes(scope, gather, {
    columns: ({ target }) => sql`${integer(target)} as type, r.subject_id as id`,
    ledBy,
  });
  const start = sql`select 0, ${id} collate "C"`;
  const reach =
    branches.length === 0
      ? start
      : sql`
        ${start}
        union
        select n.type, n.id
        from (${levelSets}) s
        cross join ${lateralBranches(branches)} n
      `;
  const found = pieces("d", direct(scope, gather, subject));
  const read = sql`(select e.list from edges e)`;
  const values = attributes(scope, gather);
  return sql`
    with recursive reach(type, id) as (${reach}),
      reached as materialized (select * from reach limit ${integer(gatheredEntitiesMax + 1)}),
      sets as materialized (select r.type, array_agg(r.id) as ids from reached r group by r.type),
      edges as materialized (${edges(scope, gather, ledBy)})
      ${values === undefined ? sql`` : sql`, attribute_facts as materialized (${values})`}
    select
      array[
        'n' || (select count(*) from reached) || ' ' || coalesce(array_length(${read}, 1), 0)
        || ' ' || ${values === undefined ? sql`0` : attributeBytes}
      ]
      || ${pieces("e", sql`select e.list from edges e where array_length(e.list, 1) <= ${integer(gather.tuplesMax)}`)}
      || ${hasDirect === undefined ? found : sql`case when ${hasDirect} then ${found} else '{}' end`}
      ${values === undefined ? sql`` : sql`|| ${attributePieces}`}
      as facts
  `;
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

function edges(scope: StatementScope, gather: Gather, ledBy: HopCondition): Fragment {
  const fact = sql`
    array[
      r.entity_type, r.entity_id, r.relation, r.subject_type, r.subject_id, r.subject_relation
    ] as fact
  `;
  const listed = gather.types.flatMap((type, index) =>
    type.listed.length === 0
      ? []
      : [
          relationProbe(
            scope,
            fact,
            relationSet(type.listed),
            { ...reachedOf(type), subject: { known: "nothing" } },
            sql`and s.type = ${integer(index)}`,
          ),
        ],
  );
  // A hop that is listed is among all tuples of its relation.
  return listed.length > 0
    ? tupleList(listed, gather.tuplesMax)
    : tupleList(hopProbes(scope, gather, { columns: () => fact, ledBy }), gather.tuplesMax);
}

function direct(scope: StatementScope, gather: Gather, subject: Fragment): Fragment {
  const { subjectType, subjectRelation } = gather.kind;
  return tupleList(
    gather.types.flatMap((type, index) =>
      type.direct.length === 0
        ? []
        : [
            relationProbe(
              scope,
              sql`array[r.entity_type, r.entity_id, r.relation] as fact`,
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
    ),
  );
}

/**
 * Each with the bytes of all until there; undefined if none is asked. They are read one by one: a contextual value of
 * an entity replaces its stored one.
 */
function attributes(scope: StatementScope, gather: Gather): Fragment | undefined {
  const branches = gather.types.flatMap((type, index) =>
    type.attributes.map((name) => {
      const entity = { type: literal(type.entityType), id: sql`s.id` };
      const probe = attributeProbe(scope, entity, literal(name));
      return sql`
        select json_build_array(
          ${literal(type.entityType)}, s.id, ${literal(name)}, v.value_type, v.value
        ) as fact
        from (${probe}) v
        where s.type = ${integer(index)}
      `;
    }),
  );
  if (branches.length === 0) return undefined;
  return sql`
    select f.fact, sum(octet_length(f.fact::text)) over (rows unbounded preceding) as bytes
    from reached s cross join ${lateralBranches(branches)} f
  `;
}

const attributeBytes = sql`coalesce((select max(f.bytes) from attribute_facts f), 0)`;

const attributePieces = sql`
  array(
    select 'a' || array_to_json(array_agg(f.fact), true)
    from attribute_facts f
    where f.bytes <= ${integer(gatheredBytesMax)}
    group by f.bytes / ${integer(bytesOfPiece)}
  )
`;

/**
 * The tuples that the branches read of the rows `s` of sets as a row with an array: all, or at most `max` and
 * one more. An array of texts becomes JSON in a sixth of the time of a `jsonb` array for each tuple.
 */
function tupleList(branches: readonly Fragment[], max?: number): Fragment {
  if (branches.length === 0) return sql`select null::text[] as list`;
  const facts = sql`sets s cross join ${lateralBranches(branches)} f`;
  return max === undefined
    ? sql`select array_agg(f.fact) as list from ${facts}`
    : sql`
      select array_agg(f.fact) as list
      from (select f.fact from ${facts} limit ${integer(max + 1)}) f
    `;
}

/** A list of tuples as an array of texts that begin with the letter. */
function pieces(letter: string, list: Fragment): Fragment {
  return sql`
    array(
      select ${literal(letter)} || array_to_json(l.list[i:i + ${integer(tuplesOfPiece - 1)}], true)
      from (${list}) l
      cross join lateral generate_series(1, array_length(l.list, 1), ${integer(tuplesOfPiece)}) i
    )
  `;
}

/** A probe for each kind of hop of each type, over all its relations, from the entities of the row `s`. */
function hopProbes(
  scope: StatementScope,
  gather: Gather,
  {
    columns,
    ledBy,
  }: { readonly columns: (hop: CandidateHop) => Fragment; readonly ledBy: HopCondition },
): Fragment[] {
  return gather.types.flatMap((type, index) =>
    type.hops.map((hop) => {
      const subjectType = literal(hop.subjectType);
      return relationProbe(
        scope,
        columns(hop),
        relationSet(hop.relations),
        {
          ...reachedOf(type),
          subject:
            hop.subjectRelation === undefined
              ? { known: "type", type: subjectType }
              : { known: "kind", type: subjectType, relation: literal(hop.subjectRelation) },
        },
        join([sql`and s.type = ${integer(index)}`, ...ledBy(hop)], " "),
      );
    }),
  );
}

/** The entities of a type in the row `s`. */
function reachedOf({ entityType }: GatherType): Pick<EntityEnd, "type" | "id" | "within"> {
  return amongEntities(literal(entityType), sql`s.ids`);
}

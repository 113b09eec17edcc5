import { gatheredBytesMax } from "../../plan/limit.ts";
import { attributeProbe, lateralBranches, type StatementScope } from "../state/source.ts";
import { type Fragment, integer, literal, sql } from "../text/fragment.ts";
import type { Gather } from "./gather.ts";
import type { HopCondition } from "./hop-probes.ts";
import { directPieces, reachedTables } from "./reached-tables.ts";
import { TupleCodes } from "./tuple-code.ts";

interface GatherInput {
  readonly id: Fragment;
  readonly subject: Fragment;
  readonly ledBy?: HopCondition;
  readonly hasDirect?: Fragment | undefined;
}

/** A piece of attributes has about so many bytes, or a single value that is longer. */
const bytesOfPiece = 65_536;

/**
 * Reads the part of the graph that a question reaches, for the interpreter: one row with `facts`, an array of
 * texts. The driver takes a row apart at once, and all facts may have many megabytes. So each text should
 * become a row of its own. Its first letter says what it holds:
 *
 * - `n`: how many entities were reached, of which `gatheredEntitiesMax` + 1 are enough; how many tuples there are of
 *   hops or of listed relations, at most `tuplesMax` + 1; how many bytes attributes have; and the names of tuples, as
 *   `TupleCodes` lists them: entity type, relation, subject type, subject relation
 * - `e`: these tuples, unless they are too many: [codes, entity ids, subject ids], each a list with as many elements
 *   as there are tuples
 * - `d`: tuples to the asked subject itself: [codes, entity ids]
 * - `a`: attributes, as far as they have `gatheredBytesMax` together: [entity type, entity id, attribute, value type, value]
 *
 * The last three are JSON. Each attribute stands in a line of its own: its reader parses so many lines at a time.
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
  const codes = new TupleCodes();
  const found = directPieces(scope, gather, codes, subject);
  const values = attributes(scope, gather);
  const { tables, size, pieces } = reachedTables(scope, gather, codes, { id, ledBy });
  return sql`
    with recursive ${tables}
      ${values === undefined ? sql`` : sql`, attribute_facts as materialized (${values})`}
    select
      array[
        'n' || (select coalesce(sum(s.size), 0) from sets s) || ' ' || ${size} || ' '
        || ${values === undefined ? sql`0` : attributeBytes} || ' ' || ${codes.lists}
      ]
      || ${pieces}
      || ${hasDirect === undefined ? found : sql`case when ${hasDirect} then ${found} else '{}' end`}
      ${values === undefined ? sql`` : sql`|| ${attributePieces}`}
      as facts
  `;
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
    from (select r.type, unnest(r.ids) as id from sets r) s
    cross join ${lateralBranches(branches)} f
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

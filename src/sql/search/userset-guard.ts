import type { State } from "../../plan/plan.ts";
import { relationProbe, relationSet } from "../state/relation-set.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import { isClosed } from "./closure.ts";
import { stateHolds } from "./test.ts";
import { depth, hops, levelZero, type Writer } from "./writer.ts";

/** Whether a state asks only for tuples to the subject and for usersets, and for some userset. */
export function asksForUsersets(writer: Writer, state: State): boolean {
  return (
    state.arrival.length === 0 &&
    state.hops.length > 0 &&
    state.hops.every(({ guards, hop }) => hop.kind === "userset" && guards.length === 0) &&
    state.tests.every(
      ({ guards, test }) => guards.length === 0 && (test.kind === "direct" || test.kind === "self"),
    ) &&
    !writer.exact.has(state.id)
  );
}

/** Whether the entity has a userset that such a state asks for. If not, the closure does not matter. */
export function hasUsersets(writer: Writer, state: State, entityId: Fragment): Fragment {
  return someUserset(writer, state, entityId, () => sql``);
}

/**
 * The verdict of such a state at the entity of the question, by probes of the closure, which must be
 * complete. Usersets that are too far away are looked for only if the closure has some.
 */
export function closedVerdict(writer: Writer, state: State, entityId: Fragment): Fragment {
  const { plan } = writer;
  // The parentheses and `is true` keep the planner from making a join of it.
  const within = (where: Fragment) => (userset: number) =>
    sql`and (${isClosed(plan, integer(userset), sql`r.subject_id`, where)}) is true`;
  const isNear = sql`${hops(sql`c.level`)} < ${depth}`;
  const isFar = sql`${hops(sql`c.level`)} >= ${depth}`;
  const near = someUserset(writer, state, entityId, within(isNear));
  const far = someUserset(writer, state, entityId, within(isFar));
  const holds = stateHolds(writer, state, { id: entityId, level: levelZero });
  return sql`
    case
      when ${holds} or ${near} then 2
      when (select exists (select 1 from closure c where ${isFar})) and ${far} then 1
      else 0
    end
  `;
}

/**
 * The same for many subjects at one entity. If the entity has no usersets, those of the subjects do
 * not matter, and `holds` decides: whether a test of the state accepts.
 */
export function unclosedVerdict(
  writer: Writer,
  state: State,
  entityId: Fragment,
  { holds, searched }: { readonly holds: Fragment; readonly searched: () => Fragment },
): Fragment {
  return sql`
    case
      when ${hasUsersets(writer, state, entityId)} then ${searched()}
      when ${holds} then 2
      else 0
    end
  `;
}

/** Whether the entity has a userset that the state asks for and that meets a condition. */
function someUserset(
  writer: Writer,
  state: State,
  entityId: Fragment,
  condition: (userset: number) => Fragment,
): Fragment {
  const probes = state.hops.flatMap(({ hop }) =>
    hop.kind === "userset"
      ? [
          relationProbe(
            writer.scope,
            sql`1`,
            relationSet(hop.relations),
            {
              type: literal(state.entityType),
              id: entityId,
              subject: {
                known: "kind",
                type: literal(hop.subjectType),
                relation: literal(hop.subjectRelation),
              },
            },
            condition(hop.userset),
          ),
        ]
      : [],
  );
  return sql`(${join(
    probes.map((probe) => sql`exists (select 1 from (${probe}) e offset 0)`),
    " or ",
  )})`;
}

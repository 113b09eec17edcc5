import type { CandidateHop } from "../../plan/passes/5-drop-guards.ts";
import {
  amongEntities,
  type EntityEnd,
  relationProbe,
  relationSet,
} from "../state/relation-set.ts";
import type { StatementScope } from "../state/source.ts";
import { type Fragment, integer, join, literal, sql } from "../text/fragment.ts";
import type { Gather, GatherType } from "./gather.ts";

/** Further conditions on the tuples `r` of a hop, each after an `and`. */
export type HopCondition = (hop: CandidateHop) => readonly Fragment[];

/** A probe for each kind of hop of each type, over all its relations, from the entities of the row `s`. */
export function hopProbes(
  scope: StatementScope,
  gather: Gather,
  {
    follows = () => true,
    columns,
    ledBy,
  }: {
    /** Whether the hop is among them. */
    readonly follows?: (hop: CandidateHop) => boolean;
    readonly columns: (hop: CandidateHop, type: GatherType) => Fragment;
    readonly ledBy: HopCondition;
  },
): Fragment[] {
  return gather.types.flatMap((type, index) =>
    type.hops.filter(follows).map((hop) => {
      const subjectType = literal(hop.subjectType);
      return relationProbe(
        scope,
        columns(hop, type),
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
export function reachedOf({ entityType }: GatherType): Pick<EntityEnd, "type" | "id" | "within"> {
  return amongEntities(literal(entityType), sql`s.ids`);
}

import { gatheredTuplesMax } from "../../plan/limit.ts";
import type { CandidateState } from "../../plan/passes/5-drop-guards.ts";
import type { Collapsed } from "../../plan/passes/6-collapse.ts";
import { attributesOf } from "../../plan/plan.ts";
import type { SubjectKind } from "../../plan/question.ts";

/**
 * What a gather statement reads: for each entity type the hops that can be followed, the relations in
 * which only the asked subject itself is looked up, those of which every tuple is read, and the
 * attributes.
 */
export interface Gather {
  readonly kind: SubjectKind;
  /** Type 0 is that of the question. */
  readonly types: readonly GatherType[];
  /** Of the tuples of hops or of listed relations one more than this is read, no further. */
  readonly tuplesMax: number;
}

export interface GatherType extends Pick<CandidateState, "entityType" | "hops"> {
  readonly direct: readonly string[];
  /** Relations whose tuples are all read, which an expand needs; empty for a check. */
  readonly listed: readonly string[];
  readonly attributes: readonly string[];
}

/** What one probe takes in a statement that is written for a snapshot in a context. */
const probeCharacters = 900;

/** About how long the statement of a gather gets: the way there and what is read both name the hops. */
export function gatherCharacters({ types }: Gather): number {
  let characters = 0;
  for (const { hops, direct, listed, attributes } of types) {
    const probes = 2 * hops.length + attributes.length + 2;
    const names = hops.reduce((sum, { relations }) => sum + 2 * relations.length, 0);
    const relations = names + direct.length + listed.length;
    characters += probes * probeCharacters + relations * namesCharacters;
  }
  return characters;
}

/** What a name takes in a list of them, if it is not a short one. */
const namesCharacters = 24;

/** What a check reads. */
export function gatherOf({ kind, states }: Collapsed): Gather {
  return {
    kind,
    tuplesMax: gatheredTuplesMax,
    types: states.map(({ entityType, hops, tests }) => ({
      entityType,
      hops,
      direct: tests.flatMap(({ test }) => (test.kind === "direct" ? test.relations : [])),
      listed: [],
      attributes: [...new Set(tests.flatMap(({ test }) => attributesOf(test)))],
    })),
  };
}

/** What an expand reads: every tuple of the relations on the way, of all subjects. */
export function expandGatherOf(collapsed: Collapsed): Gather {
  const gather = gatherOf(collapsed);
  const types = gather.types.map((type): GatherType => {
    const hops = type.hops.flatMap(({ relations }) => relations);
    const relations = collapsed.relations.get(type.entityType) ?? [];
    return { ...type, direct: [], listed: [...new Set([...relations, ...hops])] };
  });
  return { ...gather, types };
}

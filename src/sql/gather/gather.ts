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
  /** The most tuples of hops or of listed relations. One more is read, to see that there are more. */
  readonly tuplesMax: number;
  /** What is asked leads through a `not`. */
  readonly hasNegation: boolean;
  /** What is asked leads through an `and`. */
  readonly hasIntersection: boolean;
}

export interface GatherType extends Pick<CandidateState, "entityType" | "hops"> {
  readonly direct: readonly string[];
  /** Relations whose tuples are all read, which an expand needs; empty for a check. */
  readonly listed: readonly string[];
  readonly attributes: readonly string[];
}

/** The characters of one probe in a statement for a snapshot in a context. */
const probeCharacters = 900;

/** The approximate length of a gather statement. It names each hop twice: to reach and to read. */
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

/** The characters of a long name in a list of names. */
const namesCharacters = 24;

/** What a check reads. */
export function gatherOf({ kind, states, hasNegation, hasIntersection }: Collapsed): Gather {
  return {
    kind,
    hasNegation,
    hasIntersection,
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

/** What an expand reads: every tuple of the relations that the question leads through. */
export function expandGatherOf(collapsed: Collapsed): Gather {
  const gather = gatherOf(collapsed);
  const types = gather.types.map((type): GatherType => {
    const hops = type.hops.flatMap(({ relations }) => relations);
    const relations = collapsed.relations.get(type.entityType) ?? [];
    return { ...type, direct: [], listed: [...new Set([...relations, ...hops])] };
  });
  return { ...gather, types };
}

import type { Schema } from "../language/schema.ts";
import type { Formula, Network } from "../plan/plan.ts";

/**
 * What a gather statement reads for a network: for each entity type the hops that can be followed,
 * the relations in which only the asked subject itself is looked up, those of which every tuple is
 * read, and the attributes.
 */
export interface Gather {
  readonly question: { readonly subjectType: string; readonly subjectRelation: string };
  readonly types: readonly GatherType[];
  /** Of the listed relations one tuple more than this is read, no further; undefined: all. */
  readonly tuplesMax?: number;
}

export interface GatherType {
  readonly entityType: string;
  readonly hops: readonly GatherHop[];
  readonly direct: readonly string[];
  /** Relations whose tuples are all read, which an expand needs; empty for a check. */
  readonly listed: readonly string[];
  readonly attributes: readonly string[];
}

export interface GatherHop {
  readonly relation: string;
  readonly subjectType: string;
  /** Undefined: whatever the subject's relation. */
  readonly subjectRelation: string | undefined;
}

/** The footprint of a network: type 0 is that of the question. */
export function gatherOf(
  network: Network,
  question: { readonly subjectType: string; readonly subjectRelation: string },
): Gather {
  const types = new Map<string, OpenType>();
  for (const node of network.nodes) {
    let type = types.get(node.entityType);
    if (type === undefined) {
      type = { hops: new Map(), direct: new Set(), attributes: new Set() };
      types.set(node.entityType, type);
    }
    collect(node.formula, type);
  }
  return {
    question,
    types: [...types].map(([entityType, type]) => ({
      entityType,
      hops: [...type.hops.values()],
      direct: [...type.direct],
      listed: [],
      attributes: [...type.attributes],
    })),
  };
}

/** The footprint of an expand: every tuple of the relations on the way, whoever their subjects are. */
export function expandGatherOf(
  schema: Schema,
  network: Network,
  question: { readonly subjectType: string; readonly subjectRelation: string },
): Gather {
  const { types } = gatherOf(network, question);
  const isRelation = (entityType: string, name: string): boolean =>
    schema.entities.get(entityType)?.relations.has(name) === true;
  return {
    question,
    types: types.map((type) => {
      const names = network.nodes
        .filter((node) => node.entityType === type.entityType)
        .map((node) => node.name)
        .filter((name) => isRelation(type.entityType, name));
      const listed = new Set([...names, ...type.hops.map((hop) => hop.relation)]);
      return { ...type, direct: [], listed: [...listed] };
    }),
  };
}

interface OpenType {
  readonly hops: Map<string, GatherHop>;
  readonly direct: Set<string>;
  readonly attributes: Set<string>;
}

function collect(formula: Formula, type: OpenType): void {
  switch (formula.kind) {
    case "or":
    case "and":
      for (const operand of formula.operands) collect(operand, type);
      break;
    case "not":
      collect(formula.left, type);
      collect(formula.right, type);
      break;
    case "hop": {
      const { hop } = formula;
      type.hops.set(JSON.stringify([hop.relation, hop.subjectType, hop.subjectRelation]), hop);
      break;
    }
    case "test":
      if (formula.test.kind === "direct") {
        for (const relation of formula.test.relations) type.direct.add(relation);
      } else if (formula.test.kind === "attribute") {
        type.attributes.add(formula.test.name);
      } else if (formula.test.kind === "rule") {
        for (const name of formula.test.rule.parameters.keys()) type.attributes.add(name);
      }
      break;
    case "node":
      break;
  }
}

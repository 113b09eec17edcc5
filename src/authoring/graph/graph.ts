import { must } from "../../base/assert.ts";
import type { EntityDefinition, Schema } from "../../language/schema.ts";
import { leavesOf, type LeafExpression } from "../leaf.ts";

/** A schema as a graph, in the order of its text. */
export interface SchemaGraph {
  readonly clusters: readonly GraphCluster[];
  readonly rules: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** An entity with its members. */
export interface GraphCluster {
  readonly entity: GraphNode;
  readonly members: readonly GraphNode[];
}

export interface GraphNode {
  /** Letters and digits, so that no name of a schema can be a word of the drawing language. */
  readonly id: string;
  readonly kind: "entity" | "relation" | "attribute" | "permission" | "rule";
  readonly label: string;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  /** `subject`: may stand in the relation. `operand`: is asked for the permission. */
  readonly kind: "subject" | "operand";
  /** The relation of a walk, or "". */
  readonly label: string;
  /** Whether it stands on the right side of `not`. */
  readonly isNegated: boolean;
}

/** The graph of a compiled schema. */
export function graphOf(schema: Schema): SchemaGraph {
  const nodes = new Map<string, GraphNode>();
  const add = (key: string, kind: GraphNode["kind"], label: string): GraphNode => {
    const node = { id: `n${nodes.size}`, kind, label };
    nodes.set(key, node);
    return node;
  };
  const clusters = [...schema.entities.values()].map((entity): GraphCluster => {
    const { name, relations, attributes, permissions } = entity;
    const member = (kind: GraphNode["kind"], label: string): GraphNode =>
      add(`${name}#${label}`, kind, label);
    return {
      entity: add(name, "entity", name),
      members: [
        ...[...relations.keys()].map((label) => member("relation", label)),
        ...[...attributes].map(([label]) => member("attribute", label)),
        ...[...permissions.keys()].map((label) => member("permission", label)),
      ],
    };
  });
  const rules = [...schema.rules.keys()].map((name) => add(name, "rule", name));
  const edges = new Map<string, GraphEdge>();
  for (const { from, to, ...rest } of linksOf(schema)) {
    const node = nodes.get(to);
    // A type without the name that a walk asks contributes nothing.
    if (node === undefined) continue;
    const start = must(nodes.get(from), "a link begins at a member");
    const edge = { from: start.id, to: node.id, ...rest };
    edges.set(JSON.stringify(edge), edge);
  }
  return { clusters, rules, edges: [...edges.values()] };
}

/** An edge by the keys of its nodes: `type`, `type#name`, or the name of a rule. */
function* linksOf({ entities }: Schema): Generator<GraphEdge> {
  for (const entity of entities.values()) {
    for (const { name, types } of entity.relations.values()) {
      for (const { type, relation } of types) {
        const to = relation === "" ? type : `${type}#${relation}`;
        const from = `${entity.name}#${name}`;
        yield { from, to, kind: "subject", label: "", isNegated: false };
      }
    }
    for (const { name, expression } of entity.permissions.values()) {
      const from = `${entity.name}#${name}`;
      for (const { leaf, isNegated } of leavesOf(expression)) {
        for (const [to, label] of targetsOf(entity, leaf)) {
          yield { from, to, kind: "operand", label, isNegated };
        }
      }
    }
  }
}

/** The keys of what an operand asks, each with the label of its edge. */
function targetsOf(
  entity: EntityDefinition,
  leaf: LeafExpression,
): readonly (readonly [key: string, label: string])[] {
  switch (leaf.kind) {
    case "walk":
      return (entity.relations.get(leaf.relation)?.types ?? []).map(
        ({ type }) => [`${type}#${leaf.name}`, leaf.relation] as const,
      );
    case "call":
      return [
        [leaf.rule, ""],
        ...leaf.arguments.map((name) => [`${entity.name}#${name}`, ""] as const),
      ];
    case "relation":
    case "permission":
    case "attribute":
      return [[`${entity.name}#${leaf.name}`, ""]];
  }
}

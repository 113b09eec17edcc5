import type { GraphEdge, GraphNode, SchemaGraph } from "./graph.ts";

/** The shapes of nodes, by what they stand for. */
const shapes: Readonly<Record<GraphNode["kind"], string>> = {
  entity: "box3d",
  relation: "box",
  attribute: "parallelogram",
  permission: "ellipse",
  rule: "hexagon",
};

/** A graph in the DOT language of Graphviz. */
export function dotOf({ clusters, rules, edges }: SchemaGraph): string {
  const lines = [
    "digraph schema {",
    "  rankdir=LR;",
    ...clusters.flatMap(({ entity, members }) =>
      members.length === 0
        ? [`  ${nodeText(entity)}`]
        : [
            `  subgraph cluster_${entity.id} {`,
            ...[entity, ...members].map((node) => `    ${nodeText(node)}`),
            "  }",
          ],
    ),
    ...rules.map((node) => `  ${nodeText(node)}`),
    ...edges.map((edge) => `  ${edge.from} -> ${edge.to}${attributesOf(edge)};`),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}

function nodeText({ id, kind, label }: GraphNode): string {
  return `${id} [shape=${shapes[kind]}, label=${quoted(label)}];`;
}

function attributesOf({ kind, label, isNegated }: GraphEdge): string {
  const text = [...(isNegated ? ["not"] : []), ...(label === "" ? [] : [label])].join(" ");
  const attributes = [
    ...(kind === "subject" ? ["style=dashed"] : []),
    ...(text === "" ? [] : [`label=${quoted(text)}`]),
  ];
  return attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

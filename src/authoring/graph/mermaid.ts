import type { GraphEdge, GraphNode, SchemaGraph } from "./graph.ts";

/** The shapes of nodes, by what they stand for. */
const brackets: Readonly<Record<GraphNode["kind"], readonly [string, string]>> = {
  entity: ["[[", "]]"],
  relation: ["[", "]"],
  attribute: ["[/", "/]"],
  permission: ["([", "])"],
  rule: ["{{", "}}"],
};

/** A graph as a flowchart of Mermaid. */
export function mermaidOf({ clusters, rules, edges }: SchemaGraph): string {
  const lines = [
    "flowchart LR",
    ...clusters.flatMap(({ entity, members }) =>
      members.length === 0
        ? [`  ${nodeText(entity)}`]
        : [
            `  subgraph ${entity.id}_members [" "]`,
            ...[entity, ...members].map((node) => `    ${nodeText(node)}`),
            "  end",
          ],
    ),
    ...rules.map((node) => `  ${nodeText(node)}`),
    ...edges.map((edge) => `  ${edge.from} ${arrowOf(edge)} ${edge.to}`),
  ];
  return `${lines.join("\n")}\n`;
}

function nodeText({ id, kind, label }: GraphNode): string {
  const [open, close] = brackets[kind];
  return `${id}${open}"${escaped(label)}"${close}`;
}

function arrowOf({ kind, label, isNegated }: GraphEdge): string {
  const text = [...(isNegated ? ["not"] : []), ...(label === "" ? [] : [label])].join(" ");
  const arrow = kind === "subject" ? "-.->" : "-->";
  return text === "" ? arrow : `${arrow}|"${escaped(text)}"|`;
}

function escaped(text: string): string {
  return text.replaceAll("#", "#35;").replaceAll('"', "#quot;");
}

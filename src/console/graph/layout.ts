import { graphlib, layout } from "@dagrejs/dagre";

import {
  type GraphEdge,
  graphOf,
  type GraphNode,
  type SchemaGraph,
} from "../../authoring/graph/graph.ts";
import { must } from "../../base/assert.ts";
import type { Schema } from "../../language/schema.ts";
import {
  type DrawnBox,
  type DrawnEdge,
  type DrawnGraph,
  type DrawnRow,
  headHeight,
  rowHeight,
} from "./drawn-graph.ts";

/** The width of a letter of the rows, which are of one width, and of what stands around the text. */
const letterWidth = 7.3;
const sideWidth = 44;
const boxMinWidth = 120;
const boxMaxWidth = 320;
const endHeight = 8;

const sideMargin = 12;
/** Left of the first boxes, for edges that stay within a box. */
const loopWidth = 36;

/** Beyond this many pairs of boxes a graph is large. */
const pairsMax = 60;

/** Lays out a schema: a box for each type with a row for each name, types of subjects to the right. */
export function drawGraph(schema: Schema): DrawnGraph {
  const graph = graphOf(schema);
  const keys = keysOf(graph);
  const placed = placeBoxes(graph, keys);
  const boxes = placed.boxes;
  const anchors = new Map<string, Anchor>(boxes.flatMap((box) => [...anchorsOf(box)]));
  const edges = graph.edges.map((edge) => drawnEdge(edge, keys, anchors));
  return { width: placed.width, height: placed.height, boxes, edges };
}

/** By the ids of the graph: `type`, `type#name` or the name of a rule, and the key of its box. */
type NodeKeys = ReadonlyMap<string, { readonly key: string; readonly box: string }>;

function keysOf({ clusters, rules }: SchemaGraph): NodeKeys {
  return new Map([
    ...clusters.flatMap(({ entity, members }) => [
      [entity.id, { key: entity.label, box: entity.label }] as const,
      ...members.map(
        (member) =>
          [member.id, { key: `${entity.label}#${member.label}`, box: entity.label }] as const,
      ),
    ]),
    ...rules.map((rule) => [rule.id, { key: rule.label, box: rule.label }] as const),
  ]);
}

function placeBoxes(
  graph: SchemaGraph,
  keys: NodeKeys,
): { readonly width: number; readonly height: number; readonly boxes: readonly DrawnBox[] } {
  const nodes = new graphlib.Graph();
  nodes.setGraph({ rankdir: "LR", nodesep: 28, ranksep: 44, marginx: sideMargin, marginy: 24 });
  nodes.setDefaultEdgeLabel(() => ({}));
  const sized = [
    ...graph.clusters.map(({ entity, members }) => ({ node: entity, members })),
    ...graph.rules.map((node) => ({ node, members: [] })),
  ];
  for (const { node, members } of sized) nodes.setNode(node.label, sizeOf(node, members));
  for (const [start, end] of pullingPairs(graph, keys)) nodes.setEdge(start, end);
  layout(nodes);
  const boxes = sized.map(({ node, members }) => {
    const { x, y, width, height } = nodes.node(node.label);
    return drawnBox(node, members, {
      x: (x ?? 0) - width / 2 + loopWidth,
      y: (y ?? 0) - height / 2,
      width,
      height,
    });
  });
  const { width = 0, height = 0 } = nodes.graph();
  return { width: width + loopWidth, height, boxes };
}

/**
 * The pairs of boxes whose edges decide where the boxes stand. The library takes seconds for some hundred edges,
 * so of a large graph only as many count as hold its boxes together, and edges to a type that many others
 * have as subject count last. All edges are drawn.
 */
function pullingPairs(
  graph: SchemaGraph,
  keys: NodeKeys,
): readonly (readonly [start: string, end: string])[] {
  const pairs = new Map<string, readonly [start: string, end: string]>();
  for (const { from, to } of graph.edges) {
    const pair = [boxOf(keys, from), boxOf(keys, to)] as const;
    if (pair[0] !== pair[1]) pairs.set(pair.join(" "), pair);
  }
  if (pairs.size <= pairsMax) return [...pairs.values()];
  const users = Map.groupBy(pairs.values(), ([, end]) => end);
  const popularity = ([, end]: readonly [string, string]): number => users.get(end)?.length ?? 0;
  const groups = new Groups();
  return [...pairs.values()]
    .toSorted((one, other) => popularity(one) - popularity(other))
    .filter(([start, end]) => groups.join(start, end));
}

/** Boxes that hold together, each known by one of them. */
class Groups {
  readonly #leaders = new Map<string, string>();

  /** Puts two boxes into one group. False if they are in one already. */
  join(one: string, other: string): boolean {
    const leader = this.#leaderOf(one);
    const second = this.#leaderOf(other);
    if (leader === second) return false;
    this.#leaders.set(second, leader);
    return true;
  }

  #leaderOf(box: string): string {
    let leader = box;
    for (let next = box; next !== ""; next = this.#leaders.get(next) ?? "") leader = next;
    if (leader !== box) this.#leaders.set(box, leader);
    return leader;
  }
}

function boxOf(keys: NodeKeys, id: string): string {
  return must(keys.get(id), "an edge ends at a node").box;
}

function sizeOf(
  node: GraphNode,
  members: readonly GraphNode[],
): { readonly width: number; readonly height: number } {
  const longest = Math.max(node.label.length, ...members.map(({ label }) => label.length));
  const width = Math.min(boxMaxWidth, Math.max(boxMinWidth, longest * letterWidth + sideWidth));
  const height = headHeight + members.length * rowHeight + (members.length === 0 ? 0 : endHeight);
  return { width, height };
}

function drawnBox(
  node: GraphNode,
  members: readonly GraphNode[],
  place: Pick<DrawnBox, "x" | "y" | "width" | "height">,
): DrawnBox {
  const rows = members.map(({ kind, label }, index): DrawnRow => {
    const y = place.y + headHeight + (index + 0.5) * rowHeight + endHeight / 2;
    return { key: `${node.label}#${label}`, kind: memberKind(kind), label, y };
  });
  const kind = node.kind === "rule" ? "rule" : "entity";
  return { key: node.label, kind, label: node.label, ...place, rows };
}

function memberKind(kind: GraphNode["kind"]): DrawnRow["kind"] {
  return kind === "relation" || kind === "attribute" ? kind : "permission";
}

/** Where edges begin and end. */
interface Anchor {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

function* anchorsOf({ key, x, y, width, rows }: DrawnBox): Generator<[string, Anchor]> {
  const sides = { left: x, right: x + width };
  yield [key, { ...sides, y: y + headHeight / 2 }];
  for (const row of rows) yield [row.key, { ...sides, y: row.y }];
}

function drawnEdge(
  { from, to, kind, isNegated }: GraphEdge,
  keys: NodeKeys,
  anchors: ReadonlyMap<string, Anchor>,
): DrawnEdge {
  const start = must(keys.get(from), "an edge begins at a node").key;
  const end = must(keys.get(to), "an edge ends at a node").key;
  const path = pathOf(
    must(anchors.get(start), "a node has a place"),
    must(anchors.get(end), "a node has a place"),
  );
  return { from: start, to: end, kind, isNegated, path };
}

/** A curve from the side of the one to the near side of the other; within a box around its left side, to itself as a loop. */
function pathOf(start: Anchor, end: Anchor): string {
  const isRightward = end.left > start.right;
  const isLeftward = end.right < start.left;
  if (start === end) {
    const x = start.left;
    return `M${x} ${start.y - 5}C${x - 26} ${start.y - 16} ${x - 26} ${end.y + 16} ${x} ${end.y + 5}`;
  }
  if (!isRightward && !isLeftward) {
    const reach = Math.min(start.left, end.left) - 18 - Math.min(40, Math.abs(end.y - start.y) / 6);
    return `M${start.left} ${start.y}C${reach} ${start.y} ${reach} ${end.y} ${end.left} ${end.y}`;
  }
  const x1 = isRightward ? start.right : start.left;
  const x2 = isRightward ? end.left : end.right;
  const bend = (x2 - x1) / 2;
  return `M${x1} ${start.y}C${x1 + bend} ${start.y} ${x2 - bend} ${end.y} ${x2} ${end.y}`;
}

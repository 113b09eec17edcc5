import type postgres from "postgres";
import { Type } from "typebox";
import { Parse } from "typebox/schema";

const PlanNode = Type.Cyclic(
  {
    Node: Type.Object({
      "Relation Name": Type.Optional(Type.String()),
      "Actual Rows": Type.Number(),
      "Actual Loops": Type.Number(),
      "Rows Removed by Filter": Type.Optional(Type.Number()),
      "Rows Removed by Index Recheck": Type.Optional(Type.Number()),
      Plans: Type.Optional(Type.Array(Type.Ref("Node"))),
    }),
  },
  "Node",
);

const Explained = Type.Array(
  Type.Object({
    Plan: Type.Intersect([
      Type.Object({ "Shared Hit Blocks": Type.Number(), "Shared Read Blocks": Type.Number() }),
      PlanNode,
    ]),
  }),
);

type Node = Type.Static<typeof PlanNode>;

/** What it took to run a statement once. */
export interface Effort {
  /** Rows of stored tables and their indexes, those included that a filter threw away. */
  readonly rows: number;
  /** Rows that the steps of the plan gave or threw away, wherever they came from. */
  readonly handled: number;
  /** Pages that were looked at, in memory or not. */
  readonly buffers: number;
}

/** Runs a statement with values and counts what the server read for it. */
export async function effortOf(
  client: postgres.Sql,
  statement: string,
  values: readonly (string | number)[],
): Promise<Effort> {
  const text = `explain (analyze, buffers, costs off, timing off, format json) ${statement}`;
  const rows = await client.unsafe(text, [...values]);
  const [explained] = Parse(Explained, rows[0]?.["QUERY PLAN"]);
  if (explained === undefined) throw new Error("explain says nothing");
  const { Plan } = explained;
  return {
    rows: rowsOf(Plan, (node) => node["Relation Name"] !== undefined),
    handled: rowsOf(Plan, () => true),
    buffers: Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"],
  };
}

function rowsOf(node: Node, counts: (node: Node) => boolean): number {
  const below = (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child, counts), 0);
  if (!counts(node)) return below;
  const removed =
    (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  return below + (node["Actual Rows"] + removed) * node["Actual Loops"];
}

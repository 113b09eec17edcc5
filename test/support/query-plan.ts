import type postgres from "postgres";
import { Type } from "typebox";
import { Parse } from "typebox/schema";

/** How a statement reaches a table. */
export interface Scan {
  readonly table: string;
  /** `Index Only Scan`, `Seq Scan` ... */
  readonly node: string;
  readonly index: string | undefined;
  /** What the index is asked for; "" when it is read from its start. */
  readonly condition: string;
  /** The index's first two columns: most selective first, they bound what is read. */
  readonly leading: readonly string[];
}

const PlanNode = Type.Cyclic(
  {
    Node: Type.Object({
      "Node Type": Type.String(),
      "Relation Name": Type.Optional(Type.String()),
      "Index Name": Type.Optional(Type.String()),
      "Index Cond": Type.Optional(Type.String()),
      Plans: Type.Optional(Type.Array(Type.Ref("Node"))),
    }),
  },
  "Node",
);

const Explained = Type.Array(Type.Object({ Plan: PlanNode }));

type Node = Type.Static<typeof PlanNode>;

/** The scans of a statement as the server plans it for any values, by the session's settings. */
export async function scansOf(client: postgres.Sql, statement: string): Promise<readonly Scan[]> {
  const leading = await leadingColumns(client);
  return nodesOf(await plannedRoot(client, statement)).flatMap((node) => {
    const table = node["Relation Name"];
    if (table === undefined) return [];
    const index = node["Index Name"];
    return [
      {
        table,
        node: node["Node Type"],
        index,
        condition: node["Index Cond"] ?? "",
        leading: leading.get(index ?? "") ?? [],
      },
    ];
  });
}

/**
 * The scans of stored data that are not bound by the tenant and the first two columns of an index. An
 * index by type begins with the tenant: there the type is the other column.
 */
export function unboundScans(scans: readonly Scan[]): readonly Scan[] {
  const stored = new Set(["relationships", "attributes", "changes"]);
  return scans.filter(({ table, node, condition, leading }) => {
    // A comparison of rows is where such a scan begins, and `<=` where it ends.
    const isBound = (column: string): boolean =>
      column === tenantColumn ||
      new RegExp(String.raw`\(${column} (=|>=) `).test(condition) ||
      new RegExp(String.raw`(?=.*\(${column} <= ).*ROW\(${column}, `).test(condition);
    const isByIndex = node.startsWith("Index") && leading.length === 2;
    const isOwn = /\(tenant( [+*] \d\))? = /.test(condition);
    return stored.has(table) && !(isByIndex && isOwn && leading.every(isBound));
  });
}

/** How the catalog names a column of an index that is an expression; `tenant * 1` is the only one. */
const tenantColumn = "expr";

async function plannedRoot(client: postgres.Sql, statement: string): Promise<Node> {
  const parameters = new Set(statement.match(/\$\d+/g)).size;
  const values = Array.from({ length: parameters }, () => "null").join(", ");
  await client.unsafe(`prepare planned as ${statement}`);
  try {
    const execute = parameters === 0 ? "execute planned" : `execute planned(${values})`;
    const rows = await client.unsafe(`explain (costs off, format json) ${execute}`);
    const [explained] = Parse(Explained, rows[0]?.["QUERY PLAN"]);
    if (explained === undefined) throw new Error("explain says nothing");
    return explained.Plan;
  } finally {
    await client.unsafe("deallocate planned");
  }
}

function nodesOf(root: Node): readonly Node[] {
  return [root, ...(root.Plans ?? []).flatMap(nodesOf)];
}

async function leadingColumns(
  client: postgres.Sql,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await client<{ index: string; columns: string[] }[]>`
    select c.relname as index, array_agg(a.attname::text order by a.attnum) as columns
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_attribute a on a.attrelid = i.indexrelid and a.attnum <= 2
    where c.relnamespace = 'public'::regnamespace
    group by c.relname`;
  return new Map(rows.map(({ index, columns }) => [index, columns]));
}

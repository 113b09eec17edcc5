import type { TableMap } from "../../sql/application/table-map.ts";

/** What the triggers of a map do, for those who read the migration. Plain lines, for comments. */
export function mapNotes(map: TableMap, isPartitioned: boolean): readonly string[] {
  const { schema, name } = map.table;
  return [
    `Permission data of the table ${schema}.${name}, by the map \`${map.name}\`.`,
    "",
    "The triggers run once for each statement, in its transaction: permission data and rows are committed",
    "together, or not at all. What the map derives cannot be written in another way.",
    "",
    "- Run this as the owner of the table, with the rights of `pemba sql grant --for map`. Triggers read the",
    "  table with the rights of the role that runs it.",
    "- Rows that are there already are taken by `pemba sql map FILE --load`, after this.",
    "- A transaction that changes a mapped column needs the isolation level read committed, and is run again",
    "  on 40001 and 40P01.",
    map.truncate === "refuse"
      ? "- `truncate` is refused."
      : "- `truncate` deletes all that the map derives, in the same transaction.",
    "- `insert ... returning` under row security is judged before the triggers run: let the policy also allow",
    "  a row by its own columns, such as `owner_id = ...`.",
    "- Rows that logical replication writes are not seen, also not if `enable always trigger` is said: it runs",
    "  no triggers of statements. Run `pemba sql reconcile --repair`.",
    ...(isPartitioned
      ? ["- A statement that names a partition, or attaches or detaches one, is not seen."]
      : []),
    "- What happened while triggers were disabled is found and mended by `pemba sql reconcile --repair`.",
  ];
}

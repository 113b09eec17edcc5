import { assert, must } from "../../../base/assert.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { tenantIdOf, textOf } from "../../postgres/connect/row.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import type { MoveDatabase } from "./notes.ts";
import type { ClusterLoad } from "./plan.ts";

const sizesStatement = statementFile("placement/move-sizes.sql");
const placedOnStatement = statementFile("placement/move-placed-on.sql");

/** More moves than this are not planned at a time. */
const tenantsMax = 10_000;
const pageMax = 1_000;

/** Counts the tuples of the tenants of a database, which reads all of them. */
export async function readLoad(
  database: MoveDatabase,
): Promise<Pick<ClusterLoad, "tuples" | "tenants">> {
  const [row] = await database.query(sizesStatement, [tenantsMax]);
  const counted = must(row, "a select without a table has one row");
  const lines: unknown = JSON.parse(textOf(counted, "tenants"));
  assert(Array.isArray(lines), "the tenants are a list");
  return { tuples: Number(textOf(counted, "total")), tenants: lines.map(tenantOf) };
}

/** The tenants that are placed on a cluster, in pages. Each page is read after the one before was dealt with. */
export async function* tenantsOn(
  directory: MoveDatabase,
  cluster: string,
): AsyncGenerator<TenantId> {
  for (let after = ""; ;) {
    const rows = await directory.query(placedOnStatement, [cluster, after, pageMax]);
    const page = rows.map((row) => tenantIdOf(row));
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

function tenantOf(line: unknown): ClusterLoad["tenants"][number] {
  assert(Array.isArray(line), "a line is a list");
  const [id, tuples]: unknown[] = line;
  assert(typeof tuples === "number", "a line has a number behind the id");
  return { id: tenantIdOf({ id }, "id"), tuples };
}

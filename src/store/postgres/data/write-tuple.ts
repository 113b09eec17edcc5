import { must } from "../../../base/assert.ts";
import type { SchemaVersion, SnapToken, TenantId, Tuple } from "../../../base/tuple.ts";
import type { DataWrite } from "../../store.ts";
import type { Database } from "../connect/database.ts";
import { optionalTextOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { Value } from "../connect/value.ts";
import type { SnapTokens } from "../token/snap-token.ts";

const statement = statementFile("data/write-tuple.sql");

interface Parts {
  readonly database: Database;
  readonly tokens: SnapTokens;
  readonly onChanged: () => void;
}

interface KnownPlace {
  /** The tenant's in the tables. */
  readonly number: string;
  /** One that is recorded. */
  readonly timeline: number;
  readonly head: SchemaVersion;
}

/** The tuple of a write that has nothing else and names no version of the schema. */
export function soleTuple(data: DataWrite): Tuple | undefined {
  const isSole = data.tuples.length === 1 && data.attributes.length === 0;
  return isSole && data.schemaVersion === undefined ? data.tuples[0] : undefined;
}

/**
 * Creates one tuple, for a third less than a write of any size. Undefined when nothing was done, since
 * what is known of the tenant and the server is no longer so.
 *
 * @param lockWait as `lockWait()` makes it
 */
export async function writeTuple(
  { database, tokens, onChanged }: Parts,
  tenant: TenantId,
  { entity, relation, subject }: Tuple,
  { number, timeline, head }: KnownPlace,
  lockWait: Value,
): Promise<SnapToken | undefined> {
  const key = [entity.type, entity.id, relation, subject.type, subject.id, subject.relation];
  const values = [tenant, number, timeline, head, ...key, lockWait];
  const rows = await database.write(statement, values);
  const written = optionalTextOf(must(rows[0], "the function returns one row"), "written");
  if (written === undefined) return undefined;
  onChanged();
  const [xid, snapshot] = written.split(" ");
  return await tokens.mintCommitted({
    xid: must(xid, "a transaction id comes first"),
    snapshot: must(snapshot, "a snapshot comes second"),
    timeline,
  });
}

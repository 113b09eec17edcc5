import { must } from "../../../base/assert.ts";
import type { SchemaVersion, SnapToken, TenantId, Tuple } from "../../../base/tuple.ts";
import type { DataWrite } from "../../store.ts";
import type { Database } from "../connect/database.ts";
import { optionalTextOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { ParameterValue } from "../connect/value.ts";
import type { SnapTokens } from "../token/snap-token.ts";

const writeTupleStatement = statementFile("data/write-tuple.sql");

export interface KnownPlace {
  /** The tenant's in the tables. */
  readonly number: string;
  /** One that is recorded. */
  readonly timeline: number;
  readonly head: SchemaVersion;
}

/** A write of one tuple into a tenant of which all is known that it needs. */
export interface SingleWrite {
  readonly tenant: TenantId;
  readonly tuple: Tuple;
  readonly place: KnownPlace;
}

export interface SingleWriteParts {
  readonly database: Pick<Database, "write" | "writeTogether">;
  readonly tokens: Pick<SnapTokens, "mint">;
  /** Called when a change is committed that streams of changes wait for. */
  readonly onChanged: () => void;
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
  { database, tokens, onChanged }: SingleWriteParts,
  { tenant, tuple, place }: SingleWrite,
  lockWait: ParameterValue,
): Promise<SnapToken | undefined> {
  const { entity, relation, subject } = tuple;
  const { number, timeline, head } = place;
  const key = [entity.type, entity.id, relation, subject.type, subject.id, subject.relation];
  const values = [tenant, number, timeline, head, ...key, lockWait];
  const rows = await database.write(writeTupleStatement, values);
  const written = optionalTextOf(must(rows[0], "the function returns one row"), "written");
  if (written === undefined) return undefined;
  const [xid = "", snapshot = "", durable] = written.split(" ");
  if (durable !== undefined) {
    return await tokens.mint({ snapshot, timeline, xid: undefined, durable });
  }
  onChanged();
  return await tokens.mint({ snapshot, timeline, xid });
}

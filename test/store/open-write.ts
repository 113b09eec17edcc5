import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

import postgres from "postgres";

import type { Attribute, TenantId } from "../../src/base/tuple.ts";
import { arrayLiteral } from "../../src/store/postgres/connect/value.ts";
import type { TokenSource } from "../../src/store/postgres/token/snap-token.ts";
import { tuple } from "./engines.ts";

/** A change by somebody else, whose transaction is open until it is committed. */
export interface OpenWrite {
  /** What the token is made of that the change gives once it is committed. */
  readonly source: TokenSource;
  commit(): Promise<void>;
  /** Ends it as if it had never been, unless it is over. */
  undo(): Promise<void>;
}

/** A connection of the test's own to the database of a store. */
export function connect(url: string, max = 4): postgres.Sql {
  return postgres(url, { max, onnotice: () => {} });
}

/** Writes as a store does, and leaves the transaction open. */
export async function beginWrite(
  sql: postgres.Sql,
  tenant: TenantId,
  data: { readonly tuples?: readonly string[]; readonly attributes?: readonly Attribute[] },
): Promise<OpenWrite> {
  const tuples = (data.tuples ?? []).map(tuple);
  const attributes = data.attributes ?? [];
  const heads = await sql<{ head: string }[]>`
    select head_version as head from tenants where id = ${tenant}
  `;
  return await begin(
    sql,
    `write_data($1, null, null, null, $2,
       $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::text[], $11::text[], $12::text[], $13::text[])`,
    [
      tenant,
      heads[0]?.head ?? assert.fail("no tenant"),
      arrayLiteral(tuples.map(({ entity }) => entity.type)),
      arrayLiteral(tuples.map(({ entity }) => entity.id)),
      arrayLiteral(tuples.map(({ relation }) => relation)),
      arrayLiteral(tuples.map(({ subject }) => subject.type)),
      arrayLiteral(tuples.map(({ subject }) => subject.id)),
      arrayLiteral(tuples.map(({ subject }) => subject.relation)),
      arrayLiteral(attributes.map(({ entity }) => entity.type)),
      arrayLiteral(attributes.map(({ entity }) => entity.id)),
      arrayLiteral(attributes.map(({ attribute }) => attribute)),
      arrayLiteral(attributes.map(({ value }) => value.type)),
      arrayLiteral(attributes.map(({ value }) => JSON.stringify(value.data))),
    ],
  );
}

/** Deletes one tuple by its name as a store does, and leaves the transaction open. */
export async function beginDelete(
  sql: postgres.Sql,
  tenant: TenantId,
  text: string,
): Promise<OpenWrite> {
  const { entity, relation, subject } = tuple(text);
  return await begin(
    sql,
    "delete_data($1, true, $2, $3::text[], $4, $5, $6::text[], $7, false, '', '{}', '{}')",
    [
      tenant,
      entity.type,
      arrayLiteral([entity.id]),
      relation,
      subject.type,
      arrayLiteral([subject.id]),
      subject.relation,
    ],
  );
}

/** Deletes all that is known of some documents, of all when there are none, and leaves it open. */
export async function beginDeleteOfDocs(
  sql: postgres.Sql,
  tenant: TenantId,
  ids: readonly string[],
): Promise<OpenWrite> {
  return await begin(
    sql,
    `delete_data($1, true, 'doc', $2::text[], '', '', '{}', '', true, 'doc', $2::text[], '{}')`,
    [tenant, arrayLiteral(ids)],
  );
}

async function begin(
  sql: postgres.Sql,
  call: string,
  values: readonly string[],
): Promise<OpenWrite> {
  const connection = await sql.reserve();
  await connection.unsafe("begin");
  const [row] = await connection.unsafe<
    {
      outcome: string;
      snapshot: string;
      xid: string;
      durable: string | null;
      timeline: number;
    }[]
  >(
    `select outcome, snapshot::text, xid::text, durable_unless_logged($1)::text as durable, timeline
     from ${call}`,
    [...values],
  );
  assert.ok(row?.outcome === "written");
  const { snapshot, timeline } = row;
  const change = row.durable === null ? { xid: row.xid } : { xid: undefined, durable: row.durable };
  let isOver = false;
  const end = async (statement: string): Promise<void> => {
    isOver = true;
    await connection.unsafe(statement);
    connection.release();
  };
  return {
    source: { snapshot, timeline, ...change },
    commit: async () => await end("commit"),
    undo: async () => {
      if (!isOver) await end("rollback");
    },
  };
}

/** Those who wait for a lock in this database: for what, and do they have a transaction id yet? */
export interface Waiting {
  readonly lock: string;
  readonly hasXid: boolean;
}

/** Resolves when `count` backends of the database wait for a lock. */
export async function untilWaiting(sql: postgres.Sql, count: number): Promise<readonly Waiting[]> {
  return await until(async () => {
    const rows = await sql<{ lock: string; hasXid: boolean }[]>`
      select wait_event as lock, backend_xid is not null as "hasXid"
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
    `;
    return rows.length === count ? [...rows] : undefined;
  });
}

/**
 * Resolves when everything in the log is older than a millisecond and than all open transactions:
 * other tests have transactions open on the same server.
 */
export async function untilLogIsOld(sql: postgres.Sql): Promise<void> {
  await until(async () => {
    const [row] = await sql<{ old: boolean }[]>`
      select bool_and(
        at < clock_timestamp() - interval '1 millisecond'
        and xid < pg_snapshot_xmin(pg_current_snapshot())
      ) as old
      from changes
    `;
    return row?.old === true ? true : undefined;
  });
}

/**
 * The first answer that is one; asks again and again, for two minutes: the machine may be busy, and other
 * tests may have transactions open for long.
 */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await setTimeout(5);
  }
  return assert.fail("waited in vain");
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type postgres from "postgres";

import type { SharingWay } from "../settings.ts";
import type { Pemba, Tuple } from "./pemba.ts";
import type { Rows, Sample } from "./sample.ts";

const root = join(import.meta.dirname, "../..");

/** Files of `sql/`, in the order in which they run. */
const scripts = [
  "tables.sql",
  "printed/documents-newest.sql",
  "printed/documents-title.sql",
  "role.sql",
  "printed/grant-ask.sql",
];
const scriptsOfWay: Readonly<Record<SharingWay, readonly string[]>> = {
  service: [],
  sql: ["printed/grant-write.sql"],
  maps: ["shares.sql", "role-of-shares.sql", "printed/maps.sql"],
};
const policyScripts = [
  "printed/policy-documents-view.sql",
  "printed/policy-documents-edit.sql",
  "printed/policy-folders-view.sql",
];

/** The most tuples and attributes that Pemba takes in one write, by default. */
const writeSize = 1_000;

/**
 * Makes the tables, the functions of lists and, if wanted, the policies; then writes the schema, the
 * rows and the tuples. Fails if there is a database schema `app` already, unless it `replaces` that.
 *
 * @param owner - The database, as the role that shall own the tables, by one connection: some files begin
 *   a transaction.
 */
export async function fill({
  owner,
  pemba,
  sample,
  hasRowSecurity,
  sharing,
  replaces,
}: {
  readonly owner: postgres.Sql;
  readonly pemba: Pemba;
  readonly sample: Sample;
  readonly hasRowSecurity: boolean;
  readonly sharing: SharingWay;
  readonly replaces: boolean;
}): Promise<void> {
  await pemba.writeSchema(await readFile(join(root, "schema.perm"), "utf8"));
  if (replaces) await dropAll(owner, pemba);
  const policies = hasRowSecurity ? policyScripts : [];
  for (const name of [...scripts, ...scriptsOfWay[sharing], ...policies]) await run(owner, name);
  await insertRows(owner, sample.rows);
  if (sharing === "maps") await insertShares(owner, sample);
  await owner`analyze app.documents`;
  const isDerived = sharing === "maps" ? isMapped : () => false;
  for (const tuples of batches(sample.tuples.filter((tuple) => !isDerived(tuple)))) {
    await pemba.write({ tuples });
  }
  // The map has a column for the flag, in the rows of the documents.
  if (sharing === "maps") return;
  for (const flags of batches(sample.flags)) await pemba.write({ flags });
}

/** Drops the tables, and the tuples and attributes. */
async function dropAll(owner: postgres.Sql, pemba: Pemba): Promise<void> {
  const [mapped] = await owner`select from pg_class where oid = to_regclass('app.shares')`;
  if (mapped !== undefined) await run(owner, "printed/drop-maps.sql");
  await owner`drop schema if exists app cascade`;
  for (const type of ["document", "folder", "group"]) await pemba.deleteEntities(type);
}

/** Runs a file, in the simple protocol, which takes several statements at once. */
async function run(owner: postgres.Sql, name: string): Promise<void> {
  await owner.unsafe(await readFile(join(root, "sql", name), "utf8")).simple();
}

/** Whether the maps derive a tuple from the rows: see `pemba.maps.yaml`. */
function isMapped({ entity, relation }: Tuple): boolean {
  return relation === "parent" || (entity.type === "document" && relation === "viewer");
}

/** With whom documents are shared, as rows. */
async function insertShares(sql: postgres.Sql, { tuples, flags }: Sample): Promise<void> {
  const shares = tuples
    .filter((tuple) => isMapped(tuple) && tuple.relation === "viewer")
    .map(({ entity, subject }) => ({ document_id: entity.id, user_id: subject.id }));
  await sql`
    insert into app.shares
    select * from jsonb_populate_recordset(null::app.shares, ${JSON.stringify(shares)}::text::jsonb)`;
  await sql`
    update app.documents set is_public = true
    where id = any(${flags.map(({ entity }) => entity.id)}::bigint[])`;
}

async function insertRows(sql: postgres.Sql, { users, folders, documents }: Rows): Promise<void> {
  // As text: the driver would make JSON of what is JSON already.
  await sql`
    insert into app.users
    select * from jsonb_populate_recordset(null::app.users, ${JSON.stringify(users)}::text::jsonb)`;
  await sql`
    insert into app.folders
    select * from jsonb_populate_recordset(null::app.folders, ${JSON.stringify(folders)}::text::jsonb)`;
  await sql`
    insert into app.documents (id, folder_id, title, body, created_at)
    select id, folder_id, title, body, created_at
    from jsonb_populate_recordset(null::app.documents, ${JSON.stringify(documents)}::text::jsonb)`;
}

function batches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const starts = Array.from({ length: Math.ceil(items.length / writeSize) }, (_, index) => index);
  return starts.map((start) => items.slice(start * writeSize, (start + 1) * writeSize));
}

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import type postgres from "postgres";

import type { Pemba } from "./pemba.ts";
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
  replaces,
}: {
  readonly owner: postgres.Sql;
  readonly pemba: Pemba;
  readonly sample: Sample;
  readonly hasRowSecurity: boolean;
  readonly replaces: boolean;
}): Promise<void> {
  await pemba.writeSchema(await readFile(join(root, "schema.perm"), "utf8"));
  if (replaces) await owner`drop schema if exists app cascade`;
  for (const name of [...scripts, ...(hasRowSecurity ? policyScripts : [])]) {
    // In the simple protocol, which takes several statements at once.
    await owner.unsafe(await readFile(join(root, "sql", name), "utf8")).simple();
  }
  await insertRows(owner, sample.rows);
  await owner`analyze app.documents`;
  if (replaces) {
    for (const type of ["document", "folder", "group"]) await pemba.deleteEntities(type);
  }
  for (const tuples of batches(sample.tuples)) await pemba.write({ tuples });
  for (const flags of batches(sample.flags)) await pemba.write({ flags });
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
    insert into app.documents
    select * from jsonb_populate_recordset(null::app.documents, ${JSON.stringify(documents)}::text::jsonb)`;
}

function batches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const starts = Array.from({ length: Math.ceil(items.length / writeSize) }, (_, index) => index);
  return starts.map((start) => items.slice(start * writeSize, (start + 1) * writeSize));
}

import { randomUUID } from "node:crypto";

import type postgres from "postgres";

import type { SqlInterfaceOptions } from "../../src/store/postgres/sql-interface/interface-options.ts";
import type { PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { openPostgres } from "../store/engines.ts";
import { connect } from "../store/open-write.ts";

/** The options as the configuration has them by default. */
export const interfaceOptions: SqlInterfaceOptions = {
  schema: "pemba",
  sync: "write",
  questions: [],
  depth: 100,
  subject: { kind: "setting", name: "pemba.subject" },
  bound: false,
  visibleMax: 200_000,
};

/** A store with the SQL interface over a database of its own. */
export interface InterfaceScene {
  readonly store: Store;
  readonly url: string;
  /** Connections of a role that may ask and nothing else. */
  readonly app: postgres.Sql;
  /** The same role with other settings, where some are given. */
  readonly strange: postgres.Sql;
  /** Its name. */
  readonly role: string;
  /** Connections of the owner of everything. */
  readonly owner: postgres.Sql;
  readonly close: () => Promise<void>;
}

export async function openInterface(
  options: Partial<SqlInterfaceOptions> = {},
  others: Partial<PostgresStoreOptions> = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<InterfaceScene> {
  const { store, url, close } = await openPostgres({
    ...others,
    sql: { ...interfaceOptions, ...options },
  });
  const owner = connect(url);
  const role = `app_${randomUUID().slice(0, 8)}`;
  await owner`create role ${owner(role)}`;
  await grantAll(owner, role, options.schema ?? interfaceOptions.schema);
  const app = connect(`${url}?role=${role}`);
  const query = new URLSearchParams({ role, ...settings });
  const strange = connect(`${url}?${query.toString().replaceAll("+", "%20")}`);
  return {
    store,
    url,
    app,
    strange,
    role,
    owner,
    close: async () => {
      await Promise.all([app.end({ timeout: 1 }), strange.end({ timeout: 1 })]);
      await owner`drop owned by ${owner(role)}`;
      await owner`drop role ${owner(role)}`;
      await owner.end({ timeout: 1 });
      await close();
    },
  };
}

/** Lets a role call what applications call. */
export async function grantAll(owner: postgres.Sql, role: string, schema: string): Promise<void> {
  await owner`grant usage on schema ${owner(schema)} to ${owner(role)}`;
  await owner`grant execute on all functions in schema ${owner(schema)} to ${owner(role)}`;
}

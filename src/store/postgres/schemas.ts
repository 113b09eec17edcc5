import { must, unreachable } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import type { SchemaVersion, TenantId } from "../../base/tuple.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import { pageOf } from "../page.ts";
import type { SchemaStore, StoredSchema } from "../schema-store.ts";
import { newSchemaVersion } from "../schema-version.ts";
import { schemaNotFound, tenantNotFound } from "../store-error.ts";
import type { Database } from "./connect/database.ts";
import { lacksSchema } from "./connect/driver-error.ts";
import { dateOf, oneOf, type Row, textOf, versionOf } from "./connect/row.ts";
import { statementFile } from "./connect/statement-file.ts";
import type { ParameterValue } from "./connect/value.ts";
import type { SqlInterface } from "./sql-interface/sql-interface.ts";

const writeStatement = statementFile("schemas/write.sql");
const readStatement = statementFile("schemas/read.sql");
const listStatement = statementFile("schemas/list.sql");

/** A new version is behind the head only when another instance wrote meanwhile with a faster clock. */
const attemptsMax = 10;

const outcomes = ["written", "no_tenant", "other_head", "behind"] as const;

/**
 * The schemas of a database. `compiled` learns of the heads that are written here. With a SQL interface
 * it gets what belongs to each version.
 */
export function createPostgresSchemas(
  database: Database,
  compiled: CompiledSchemas,
  sqlInterface: SqlInterface | undefined,
): SchemaStore {
  const writeVersion = async (text: string, values: readonly ParameterValue[]): Promise<Row> => {
    if (sqlInterface !== undefined) {
      return await sqlInterface.writeSchema(text, values).catch(unlessDropped);
    }
    const [row] = await database.write(writeStatement, values);
    return must(row, "the function returns one row");
  };
  return {
    write: async (tenant, { text, base }) => {
      let head = base === "" ? undefined : base;
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        const version = newSchemaVersion(head, new Date());
        const values = [tenant, version, text, base ?? null];
        const result = await writeVersion(text, values);
        const outcome = oneOf(result, "outcome", outcomes);
        switch (outcome) {
          case "written":
            compiled.seenHead(tenant, version, undefined);
            return version;
          case "no_tenant":
            compiled.forget(tenant);
            throw tenantNotFound(tenant);
          case "other_head":
            return undefined;
          case "behind":
            head = versionOf(result, "head");
            break;
          default:
            unreachable(outcome);
        }
      }
      throw new PembaError("SERIALIZATION", "other requests changed the schema each time, retry");
    },

    read: (tenant, version) => readSchema(database, tenant, version),

    list: async (tenant, { before, limit }) => {
      const rows = await database.read(listStatement, [tenant, before ?? null, limit + 1]);
      const [first] = rows;
      if (first === undefined) throw tenantNotFound(tenant);
      const found = rows.flatMap((row) => {
        const version = versionOf(row, "version");
        return version === undefined ? [] : [{ version, createdAt: dateOf(row, "created_at") }];
      });
      return {
        ...pageOf(found, limit, ({ version }) => version),
        head: versionOf(first, "head"),
      };
    },

    knownHead: (tenant) => compiled.knownHead(tenant),

    learnHead: (tenant, version) => compiled.seenHead(tenant, version, undefined),
  };
}

/** What a schema write fails with. Another process may drop the interface that this one was started with. */
function unlessDropped(error: unknown): never {
  if (!lacksSchema(error)) throw error;
  throw new PembaError(
    "MIGRATION",
    "`database.sql.enabled` is true, but the SQL interface was dropped: run `pemba sql enable`, or set the key to false and restart the server",
    { cause: error },
  );
}

/** The given version, or the head. Fails with TENANT_NOT_FOUND or SCHEMA_NOT_FOUND. */
export async function readSchema(
  database: Database,
  tenant: TenantId,
  version: SchemaVersion | undefined,
): Promise<StoredSchema> {
  const [row] = await database.read(readStatement, [tenant, version ?? null]);
  if (row === undefined) throw tenantNotFound(tenant);
  const found = versionOf(row, "version");
  if (found === undefined) throw schemaNotFound(tenant, version);
  return { version: found, text: textOf(row, "text"), createdAt: dateOf(row, "created_at") };
}

import { assert, must } from "../../../base/assert.ts";
import type { TenantId } from "../../../base/tuple.ts";
import type { BundleStore } from "../../bundle-store.ts";
import {
  type Bundle,
  bundleNotFound,
  type BundleOperation,
  type DataOperation,
  validateOperations,
  writesAnything,
} from "../../bundle.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import { untilHeadStands } from "../../head-changes.ts";
import { pageOf } from "../../page.ts";
import { tenantNotFound } from "../../store-error.ts";
import type { Database } from "../connect/database.ts";
import { booleanOf, textOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { arrayLiteral } from "../connect/value.ts";
import type { SnapTokens } from "../token/snap-token.ts";
import { lockWait, settleChange } from "./change-outcome.ts";
import { attributeColumns, attributeNameColumns, tupleColumns } from "./columns.ts";
import { derivedAttributes, derivedTuples, namingDerived } from "./derived.ts";
import { fittingSchema } from "./fitting-schema.ts";

const writeStatement = statementFile("bundles/write.sql");
const readStatement = statementFile("bundles/read.sql");
const listStatement = statementFile("bundles/list.sql");
const deleteStatement = statementFile("bundles/delete.sql");
const runStatement = statementFile("bundles/run.sql");

interface PostgresBundleParts {
  readonly database: Database;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  readonly onChanged: () => void;
  /** See `PostgresStoreOptions`. */
  readonly lockWaitMs: number | undefined;
}

/** The bundles of a database. */
export function createPostgresBundles(parts: PostgresBundleParts): BundleStore {
  const { database, schemas } = parts;
  return {
    write: async (tenant, bundles) => {
      const names = arrayLiteral(bundles.map(({ name }) => name));
      const payloads = arrayLiteral(bundles.map(payloadOf));
      const rows = await database.write(writeStatement, [tenant, names, payloads]);
      if (rows.length === 0) throw tenantNotFound(tenant);
    },

    read: async (tenant, name) => (await readBundle(database, tenant, name)).bundle,

    list: async (tenant, { after, limit }) => {
      // Every name comes after the empty text.
      const rows = await database.read(listStatement, [tenant, after ?? "", limit + 1]);
      if (rows.length === 0) throw tenantNotFound(tenant);
      const names = rows.filter((row) => row["name"] !== null).map((row) => textOf(row, "name"));
      return pageOf(names, limit, (name) => name);
    },

    delete: async (tenant, name) => {
      const [row] = await database.write(deleteStatement, [tenant, name]);
      if (row === undefined) throw tenantNotFound(tenant);
      if (!booleanOf(row, "deleted")) throw bundleNotFound(name);
    },

    run: async (tenant, name, render) =>
      await untilHeadStands("write", async () => {
        const { bundle, tenantNumber } = await readBundle(database, tenant, name);
        const operations = await render(bundle);
        const fitting = writesAnything(operations)
          ? await fittingSchema(schemas, tenant, undefined, (schema) =>
              validateOperations(schema, name, operations),
            )
          : undefined;
        const json = JSON.stringify(operations.map(operationJson));
        const wait = lockWait(parts.lockWaitMs);
        const values = [tenant, tenantNumber, fitting?.version ?? null, json, wait];
        const rows = await namingDerived(
          async () => await database.write(runStatement, values),
          () => namedParts(operations),
        );
        const row = must(rows[0], "the function returns one row");
        return await settleChange(parts, {
          tenant,
          version: undefined,
          fitting: fitting?.version,
          row,
        });
      }),
  };
}

async function readBundle(
  database: Database,
  tenant: TenantId,
  name: string,
): Promise<{ readonly bundle: Bundle; readonly tenantNumber: string }> {
  const [row] = await database.read(readStatement, [tenant, name]);
  if (row === undefined) throw tenantNotFound(tenant);
  const payload = row["payload"];
  if (payload === null) throw bundleNotFound(name);
  const bundle = {
    name,
    arguments: textsOf(payload, "arguments"),
    operations: listOf(payload, "operations").map(operationOf),
  };
  return { bundle, tenantNumber: textOf(row, "number") };
}

function payloadOf(bundle: Bundle): string {
  return JSON.stringify({ arguments: bundle.arguments, operations: bundle.operations });
}

function operationOf(operation: unknown): BundleOperation {
  return {
    relationshipsWrite: textsOf(operation, "relationshipsWrite"),
    relationshipsDelete: textsOf(operation, "relationshipsDelete"),
    attributesWrite: textsOf(operation, "attributesWrite"),
    attributesDelete: textsOf(operation, "attributesDelete"),
  };
}

function textsOf(stored: unknown, key: string): readonly string[] {
  return listOf(stored, key).map((text) => {
    assert(typeof text === "string", "a stored bundle holds texts");
    return text;
  });
}

function listOf(stored: unknown, key: string): readonly unknown[] {
  assert(typeof stored === "object" && stored !== null, "a stored bundle is an object");
  const list: unknown = Reflect.get(stored, key);
  assert(Array.isArray(list), "a stored bundle holds lists");
  return list;
}

/** What the operations name, as their errors call it. */
function namedParts(operations: readonly DataOperation[]): ReturnType<typeof derivedTuples> {
  return operations.flatMap((operation, index) => {
    const place = (list: string) => (item: number) => `operations[${index}].${list}[${item}]`;
    return [
      ...derivedTuples(operation.tuples, place("relationships_write")),
      ...derivedAttributes(operation.attributes, place("attributes_write")),
      ...derivedTuples(operation.deletedTuples, place("relationships_delete")),
      ...derivedAttributes(operation.deletedAttributes, place("attributes_delete")),
    ];
  });
}

/** As the function `run_bundle` takes it. */
function operationJson(operation: DataOperation): object {
  return {
    create_tuples: tupleColumns(operation.tuples),
    set_attributes: attributeColumns(operation.attributes),
    delete_tuples: tupleColumns(operation.deletedTuples),
    delete_attributes: attributeNameColumns(operation.deletedAttributes),
  };
}

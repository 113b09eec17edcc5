import { must } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import type { Attribute, SchemaVersion, TenantId, Tuple } from "../../base/tuple.ts";
import { attributeJson } from "../attribute-value.ts";
import type { CompiledSchemas } from "../compiled-schemas.ts";
import type { DataFilters, DataStore, DataWrite } from "../store.ts";
import { attributeKey, validateData } from "../validate-data.ts";
import { arrayLiteral } from "./array-literal.ts";
import { settleChange } from "./change-outcome.ts";
import type { Database, Value } from "./database.ts";
import { fittingSchema, headChangesMax } from "./fitting-schema.ts";
import { readAttributes, readTuples } from "./read-data.ts";
import { repeatOnConflict } from "./repeat.ts";
import type { SnapTokens } from "./snap-token.ts";
import { statementFile } from "./statement-file.ts";

const writeStatement = statementFile("data/write.sql");
const deleteStatement = statementFile("data/delete.sql");

interface Parts {
  readonly database: Database;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  /** How often a write is repeated that collided with others. */
  readonly maxRetries: number;
}

/** The tuples and attributes of a database. */
export function createPostgresData(parts: Parts): DataStore {
  return {
    write: async (tenant, data) => {
      for (let attempt = 1; attempt <= headChangesMax; attempt++) {
        const { version } = await fittingSchema(
          parts.schemas,
          tenant,
          data.schemaVersion,
          (schema) => validateData(schema, data),
        );
        const values = valuesOf(tenant, data, version);
        const rows = await repeatOnConflict(parts.maxRetries, () =>
          parts.database.query(writeStatement, values),
        );
        const row = must(rows[0], "the function returns one row");
        const token = settleChange(parts, { tenant, version: data.schemaVersion, row });
        if (token !== undefined) return token;
      }
      throw new PembaError("SERIALIZATION", "the schema keeps changing under the write, retry");
    },

    delete: async (tenant, filters) => {
      const values = deleteValues(tenant, filters);
      const rows = await repeatOnConflict(parts.maxRetries, () =>
        parts.database.query(deleteStatement, values),
      );
      const row = must(rows[0], "the function returns one row");
      const token = settleChange(parts, { tenant, version: undefined, row });
      return must(token, "a delete goes with any head");
    },

    readTuples: async (tenant, read) => await readTuples(parts, tenant, read),
    readAttributes: async (tenant, read) => await readAttributes(parts, tenant, read),
  };
}

function valuesOf(tenant: TenantId, data: DataWrite, version: SchemaVersion): readonly Value[] {
  const { tuples } = data;
  const attributes = distinctAttributes(data.attributes);
  const tupleColumn = (read: (tuple: Tuple) => string): string => arrayLiteral(tuples.map(read));
  const attributeColumn = (read: (attribute: Attribute) => string): string =>
    arrayLiteral(attributes.map(read));
  return [
    tenant,
    data.schemaVersion ?? null,
    version,
    tupleColumn(({ entity }) => entity.type),
    tupleColumn(({ entity }) => entity.id),
    tupleColumn(({ relation }) => relation),
    tupleColumn(({ subject }) => subject.type),
    tupleColumn(({ subject }) => subject.id),
    tupleColumn(({ subject }) => subject.relation),
    attributeColumn(({ entity }) => entity.type),
    attributeColumn(({ entity }) => entity.id),
    attributeColumn(({ attribute }) => attribute),
    attributeColumn(({ value }) => value.type),
    attributeColumn(({ value }) => JSON.stringify(attributeJson(value))),
  ];
}

function deleteValues(tenant: TenantId, { tuples, attributes }: DataFilters): readonly Value[] {
  return [
    tenant,
    tuples !== undefined,
    tuples?.entity.type ?? "",
    arrayLiteral(tuples?.entity.ids ?? []),
    tuples?.relation ?? "",
    tuples?.subject.type ?? "",
    arrayLiteral(tuples?.subject.ids ?? []),
    tuples?.subject.relation ?? "",
    attributes !== undefined,
    attributes?.entity.type ?? "",
    arrayLiteral(attributes?.entity.ids ?? []),
    arrayLiteral(attributes?.attributes ?? []),
  ];
}

/** Attributes with the same key have the same value, or the data would not be valid. */
function distinctAttributes(attributes: readonly Attribute[]): readonly Attribute[] {
  return [...new Map(attributes.map((attribute) => [attributeKey(attribute), attribute])).values()];
}

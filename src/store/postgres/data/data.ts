import { LRUCache } from "lru-cache";

import { must } from "../../../base/assert.ts";
import type { Telemetry } from "../../../base/telemetry.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import { untilHeadStands } from "../../head-changes.ts";
import type { DataFilters, DataStore, DataWrite } from "../../store.ts";
import { validateData } from "../../validate-data.ts";
import type { Database } from "../connect/database.ts";
import { numberOf, optionalTextOf } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import { type ParameterValue, arrayLiteral } from "../connect/value.ts";
import type { Reads } from "../replicas/reads.ts";
import type { SnapTokens } from "../token/snap-token.ts";
import { changeData } from "./change-data.ts";
import { lockWait, settleChange } from "./change-outcome.ts";
import { attributeColumns, tupleColumns } from "./columns.ts";
import {
  derivedAttributes,
  derivedByAttributeFilter,
  derivedByFilter,
  derivedTuples,
  namingDerived,
} from "./derived.ts";
import { fittingSchema } from "./fitting-schema.ts";
import { readAttributes, readTuples } from "./read-data.ts";
import { soleTuple } from "./single-write.ts";
import { WriteBatches } from "./write-batches.ts";

const writeStatement = statementFile("data/write.sql");
const deleteStatement = statementFile("data/delete.sql");

/**
 * Numbers of tenants take some tens of bytes each. A limit of sizes, since for a limit of entries the
 * cache takes its space at once: 10 ms and a megabyte.
 */
const manyTenants = { maxSize: 100_000, sizeCalculation: () => 1 };

interface PostgresDataParts {
  readonly database: Database;
  readonly reads: Reads;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  readonly onChanged: () => void;
  /** See `PostgresStoreOptions`. */
  readonly lockWaitMs: number | undefined;
  readonly telemetry: Telemetry;
  /** There are streams of changes. */
  readonly isWatched: boolean;
}

/** The tuples and attributes of a database. */
export function createPostgresData(parts: PostgresDataParts): DataStore {
  /** As they were last seen: what is no longer so, a write finds out for itself. */
  const numbers = new LRUCache<TenantId, string>(manyTenants);
  let recordedTimeline: number | null = null;
  const batches = new WriteBatches({ ...parts, lockWait: lockWait(parts.lockWaitMs) });
  const writeKnown = async (
    tenant: TenantId,
    data: DataWrite,
    head: SchemaVersion,
  ): Promise<SnapToken | undefined> => {
    const tuple = soleTuple(data);
    const number = numbers.get(tenant);
    if (tuple === undefined || number === undefined || recordedTimeline === null) return undefined;
    const place = { number, timeline: recordedTimeline, head };
    return await batches.write({ tenant, tuple, place });
  };

  const writeAny = async (
    tenant: TenantId,
    data: DataWrite,
    fitting: SchemaVersion,
  ): Promise<SnapToken | undefined> => {
    const known = [numbers.get(tenant) ?? null, recordedTimeline];
    const values = [tenant, ...known, ...valuesOf(data, fitting), lockWait(parts.lockWaitMs)];
    const rows = await namingDerived(
      async () => await parts.database.write(writeStatement, values),
      () => [
        ...derivedTuples(data.tuples, (index) => `tuples[${index}]`),
        ...derivedAttributes(data.attributes, (index) => `attributes[${index}]`),
      ],
    );
    const row = must(rows[0], "the function returns one row");
    numbers.set(tenant, optionalTextOf(row, "number"));
    const asked = { tenant, version: data.schemaVersion, fitting };
    const token = await settleChange(parts, { ...asked, row });
    if (token !== undefined) recordedTimeline = numberOf(row, "timeline");
    return token;
  };

  return {
    write: async (tenant, data) =>
      await untilHeadStands("write", async () => {
        const { version } = await fittingSchema(
          parts.schemas,
          tenant,
          data.schemaVersion,
          (schema) => validateData(schema, data),
        );
        return (await writeKnown(tenant, data, version)) ?? (await writeAny(tenant, data, version));
      }),

    delete: async (tenant, filters) => await deleteData(parts, tenant, filters),
    change: async (tenant, change) => await changeData(parts, tenant, change),

    readTuples: async (tenant, read) => await readTuples(parts, tenant, read),
    readAttributes: async (tenant, read) => await readAttributes(parts, tenant, read),
  };
}

function valuesOf(data: DataWrite, version: SchemaVersion): readonly ParameterValue[] {
  return [
    data.schemaVersion ?? null,
    version,
    ...tupleColumns(data.tuples).map(arrayLiteral),
    ...attributeColumns(data.attributes).map(arrayLiteral),
  ];
}

/** See `DataStore`. */
async function deleteData(
  parts: PostgresDataParts,
  tenant: TenantId,
  filters: DataFilters,
): Promise<SnapToken> {
  const { tuples, attributes } = filters;
  const values = [...deleteValues(tenant, filters), lockWait(parts.lockWaitMs)];
  const rows = await namingDerived(
    async () => await parts.database.write(deleteStatement, values),
    () => [
      ...(tuples === undefined ? [] : derivedByFilter(tuples, "tuple_filter")),
      ...(attributes === undefined ? [] : derivedByAttributeFilter(attributes, "attribute_filter")),
    ],
  );
  const row = must(rows[0], "the function returns one row");
  const asked = { tenant, version: undefined, fitting: undefined };
  const token = await settleChange(parts, { ...asked, row });
  return must(token, "a delete goes with any head");
}

function deleteValues(
  tenant: TenantId,
  { tuples, attributes }: DataFilters,
): readonly ParameterValue[] {
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

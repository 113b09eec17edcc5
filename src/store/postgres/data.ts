import { must, unreachable } from "../../base/assert.ts";
import { PembaError } from "../../base/error.ts";
import type { Attribute, SchemaVersion, SnapToken, TenantId, Tuple } from "../../base/tuple.ts";
import { attributeJson } from "../attribute-value.ts";
import type { CompiledSchema, CompiledSchemas } from "../compiled-schemas.ts";
import { schemaNotFound, tenantNotFound } from "../store-error.ts";
import type { DataStore, DataWrite } from "../store.ts";
import { attributeKey, validateData } from "../validate-data.ts";
import { arrayLiteral } from "./array-literal.ts";
import type { Database, Value } from "./database.ts";
import { repeatOnConflict } from "./repeat.ts";
import { numberOf, optionalTextOf, type Row, textOf } from "./row.ts";
import type { SnapTokens } from "./snap-token.ts";
import { statementFile } from "./statement-file.ts";

const writeStatement = statementFile("data/write.sql");

/** How often in a row the head may turn out to be another one than the data was validated against. */
const headChangesMax = 10;

type Outcome = "written" | "no_tenant" | "no_version" | "other_head";

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
        const { version } = await validated(parts.schemas, tenant, data);
        const values = valuesOf(tenant, data, version);
        const rows = await repeatOnConflict(parts.maxRetries, () =>
          parts.database.query(writeStatement, values),
        );
        const row = must(rows[0], "the function returns one row");
        const token = settle(parts, { tenant, data, row });
        if (token !== undefined) return token;
      }
      throw new PembaError("SERIALIZATION", "the schema keeps changing under the write, retry");
    },
  };
}

/**
 * The schema that the data fits. What does not fit the head as it was last seen may fit the head as
 * it is, and an error must not come from a schema that is gone.
 */
async function validated(
  schemas: CompiledSchemas,
  tenant: TenantId,
  data: DataWrite,
): Promise<CompiledSchema> {
  const known =
    data.schemaVersion === undefined
      ? await schemas.guessHead(tenant)
      : await schemas.at(tenant, data.schemaVersion);
  try {
    validateData(known.schema, data);
    return known;
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    const current = await schemas.reload(tenant, data.schemaVersion);
    if (current.version === known.version) throw error;
    validateData(current.schema, data);
    return current;
  }
}

/** The token of the write, or undefined when the head is another one and nothing was written. */
function settle(
  { schemas, tokens }: Parts,
  { tenant, data, row }: { readonly tenant: TenantId; readonly data: DataWrite; readonly row: Row },
): SnapToken | undefined {
  const outcome = outcomeOf(row);
  switch (outcome) {
    case "written":
      return tokens.mint({
        snapshot: textOf(row, "snapshot"),
        xid: optionalTextOf(row, "xid"),
        timeline: numberOf(row, "timeline"),
      });
    case "no_tenant":
      schemas.forget(tenant);
      throw tenantNotFound(tenant);
    case "no_version":
      schemas.forget(tenant);
      throw schemaNotFound(tenant, data.schemaVersion);
    case "other_head":
      // It was a version when it was stored.
      schemas.seenHead(tenant, optionalTextOf(row, "head") as SchemaVersion | undefined);
      return undefined;
    default:
      return unreachable(outcome);
  }
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

/** Attributes with the same key have the same value, or the data would not be valid. */
function distinctAttributes(attributes: readonly Attribute[]): readonly Attribute[] {
  return [...new Map(attributes.map((attribute) => [attributeKey(attribute), attribute])).values()];
}

function outcomeOf(row: Row): Outcome {
  const outcomes: readonly Outcome[] = ["written", "no_tenant", "no_version", "other_head"];
  const text = textOf(row, "outcome");
  return must(
    outcomes.find((outcome) => outcome === text),
    `unexpected outcome ${text}`,
  );
}

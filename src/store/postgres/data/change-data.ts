import { assert, must } from "../../../base/assert.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../../base/tuple.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import {
  type DataChange,
  needsSchema,
  preconditionFailed,
  type StatedTuples,
  statedState,
  statedTuples,
  tokenField,
  validateChange,
} from "../../data-change.ts";
import type { AttributeFilter, TupleFilter } from "../../filter.ts";
import { untilHeadStands } from "../../head-changes.ts";
import { withTokenIn } from "../../store-error.ts";
import type { Database } from "../connect/database.ts";
import { booleanOf, type Row } from "../connect/row.ts";
import { statementFile } from "../connect/statement-file.ts";
import type { ParameterValue } from "../connect/value.ts";
import { type PinnedState, type SnapTokens, stateList } from "../token/snap-token.ts";
import { refuseSnapshot } from "../token/snapshot.ts";
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

const changeStatement = statementFile("data/change.sql");

interface ChangingParts {
  readonly database: Database;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
  readonly onChanged: () => void;
  /** See `PostgresStoreOptions`. */
  readonly lockWaitMs: number | undefined;
}

/** See `DataChangeStore`. */
export async function changeData(
  parts: ChangingParts,
  tenant: TenantId,
  change: DataChange,
): Promise<SnapToken> {
  const { schemas, database } = parts;
  const version = change.schemaVersion;
  const json = JSON.stringify(changeJson(change));
  return await untilHeadStands("change", async () => {
    const fitting = needsSchema(change)
      ? await fittingSchema(schemas, tenant, version, (schema) => validateChange(schema, change))
      : undefined;
    const values = [
      tenant,
      ...versionValues(version, fitting?.version),
      ...stateList(seenState(parts.tokens, change)),
      json,
      lockWait(parts.lockWaitMs),
    ];
    const rows = await namingDerived(
      async () => await database.write(changeStatement, values),
      () => namedParts(change),
    );
    const row = must(rows[0], "the function returns one row");
    refuseUnmet(change, row);
    const asked = { tenant, version, fitting: fitting?.version };
    return await settleChange(parts, { ...asked, row });
  });
}

/** What the change names, as its errors call it. */
function namedParts(change: DataChange): ReturnType<typeof derivedTuples> {
  return [
    ...change.tupleFilters.flatMap((filter, index) =>
      derivedByFilter(filter, `delete.tuple_filters[${index}]`),
    ),
    ...change.attributeFilters.flatMap((filter, index) =>
      derivedByAttributeFilter(filter, `delete.attribute_filters[${index}]`),
    ),
    ...derivedTuples(change.tuples, (index) => `write.tuples[${index}]`),
    ...derivedAttributes(change.attributes, (index) => `write.attributes[${index}]`),
  ];
}

/** A version that must exist, and the head that must still be. */
function versionValues(
  pinned: SchemaVersion | undefined,
  fitting: SchemaVersion | undefined,
): readonly ParameterValue[] {
  return pinned === undefined ? [null, fitting ?? null] : [pinned, null];
}

function seenState(tokens: SnapTokens, change: DataChange): PinnedState | undefined {
  const stated = statedState(change);
  return stated && withTokenIn(tokenField(stated.place), () => tokens.read(stated.since));
}

/** As the function `change_data` takes it. */
function changeJson(change: DataChange): object {
  return {
    required_tuples: tupleColumns(statedTuples(change, true).tuples),
    absent_tuples: tupleColumns(statedTuples(change, false).tuples),
    tuple_filters: change.tupleFilters.map(tupleFilterJson),
    attribute_filters: change.attributeFilters.map(attributeFilterJson),
    create_tuples: tupleColumns(change.tuples),
    set_attributes: attributeColumns(change.attributes),
  };
}

function tupleFilterJson({ entity, relation, subject }: TupleFilter): object {
  return {
    entity_type: entity.type,
    entity_ids: entity.ids,
    relation,
    subject_type: subject.type,
    subject_ids: subject.ids,
    subject_relation: subject.relation,
  };
}

function attributeFilterJson({ entity, attributes }: AttributeFilter): object {
  return { entity_type: entity.type, entity_ids: entity.ids, names: attributes };
}

/** Fails when the row says that a precondition does not hold, or that its state cannot be read. */
function refuseUnmet(change: DataChange, row: Row): void {
  const stated = statedState(change);
  const outcome = row["outcome"];
  if (outcome === "unreadable") {
    const { place } = must(stated, "only a precondition names a state");
    withTokenIn(tokenField(place), () => refuseSnapshot(row));
  }
  if (outcome !== "failed") return;
  const changed = stated !== undefined && booleanOf(row, "is_changed") ? [stated.place] : [];
  const places = [
    ...changed,
    ...placesIn(statedTuples(change, true), row, "missing"),
    ...placesIn(statedTuples(change, false), row, "present"),
  ];
  throw preconditionFailed(
    change,
    places.toSorted((a, b) => a - b),
  );
}

/** The places of the preconditions whose tuples a column lists, counted from 1. */
function placesIn({ places }: StatedTuples, row: Row, column: string): readonly number[] {
  const positions = row[column];
  assert(Array.isArray(positions), `column ${column} is no list`);
  return positions.map((position: unknown) => {
    assert(typeof position === "number", `column ${column} lists no positions`);
    return must(places[position - 1], "a position is that of a precondition");
  });
}

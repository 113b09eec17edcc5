import { must } from "../../../base/assert.ts";
import type { Attribute, TenantId, Tuple } from "../../../base/tuple.ts";
import { type PageShape, pageStatement } from "../../../sql/state/page.ts";
import type { Statement } from "../../../sql/text/fragment.ts";
import { attributeValueOf } from "../../attribute-value.ts";
import type { CompiledSchemas } from "../../compiled-schemas.ts";
import {
  type AttributeFilter,
  attributePlace,
  leadingEnd,
  type TupleFilter,
  tuplePlace,
} from "../../filter.ts";
import { attributeSizes, countWithin, pageOf, tupleSizes } from "../../page.ts";
import { tenantNotFound } from "../../store-error.ts";
import type { DataPage, DataRead } from "../../store.ts";
import { type Row, textOf } from "../connect/row.ts";
import { type ParameterValue, arrayLiteral } from "../connect/value.ts";
import type { Reads } from "../replicas/reads.ts";
import { type PinnedState, type SnapTokens, stateValues } from "../token/snap-token.ts";
import { refuseSnapshot } from "../token/snapshot.ts";

interface DataReadParts {
  readonly reads: Reads;
  readonly schemas: CompiledSchemas;
  readonly tokens: SnapTokens;
}

/** A filter in the terms of the tables. */
interface TableFilter {
  readonly source: PageShape["source"];
  /** Values of the first column of the order; empty: any. */
  readonly ids: readonly string[];
  /** By column; the empty ones do not count. */
  readonly equal: Readonly<Record<string, string>>;
  readonly among: Readonly<Record<string, readonly string[]>>;
}

/** A page of tuples. Fails with TENANT_NOT_FOUND and as tokens do. */
export async function readTuples(
  parts: DataReadParts,
  tenant: TenantId,
  read: DataRead<TupleFilter>,
): Promise<DataPage<Tuple>> {
  const { entity, relation, subject } = read.filter;
  const end = leadingEnd(read.filter);
  const wanted: TableFilter = {
    source: end === "entity" ? "tuples_by_entity" : "tuples_by_subject",
    ids: read.filter[end].ids,
    equal: {
      entity_type: entity.type,
      relation,
      subject_type: subject.type,
      subject_relation: subject.relation,
    },
    among: { subject_id: end === "entity" ? subject.ids : [] },
  };
  const placeOf = (tuple: Tuple): readonly string[] => tuplePlace(tuple, end);
  return await readPage(parts, tenant, {
    read,
    wanted,
    itemOf: tupleOf,
    placeOf,
    countWithin: (tuples) => countWithin(tuples, tupleSizes),
  });
}

/** A page of attributes. Fails with TENANT_NOT_FOUND and as tokens do. */
export async function readAttributes(
  parts: DataReadParts,
  tenant: TenantId,
  read: DataRead<AttributeFilter>,
): Promise<DataPage<Attribute>> {
  const { entity, attributes } = read.filter;
  const wanted: TableFilter = {
    source: "attributes",
    ids: entity.ids,
    equal: { entity_type: entity.type },
    among: { attribute: attributes },
  };
  return await readPage(parts, tenant, {
    read,
    wanted,
    itemOf: attributeOf,
    placeOf: attributePlace,
    // The statement ends before the value that is too much.
    countWithin: (attributes) => attributes.length,
  });
}

async function readPage<T>(
  { reads, schemas, tokens }: DataReadParts,
  tenant: TenantId,
  page: {
    readonly read: DataRead<unknown>;
    readonly wanted: TableFilter;
    readonly itemOf: (row: Row) => T;
    readonly placeOf: (item: T) => readonly string[];
    /** How many of the items are on one page for their size. */
    readonly countWithin: (items: readonly T[]) => number;
  },
): Promise<DataPage<T>> {
  const { read, wanted } = page;
  const shape: PageShape = {
    source: wanted.source,
    pinned: read.snapToken !== undefined,
    after: read.after !== undefined,
    byIds: wanted.ids.length > 0,
    equal: keysWith(wanted.equal),
    among: keysWith(wanted.among),
  };
  const { text, params } = statementOf(shape);
  const state = read.snapToken && tokens.read(read.snapToken);
  const values = valuesOf(tenant, { read, wanted, state });
  const rows = await reads.read(
    text,
    params.map((key) => must(values.get(key), `the parameter ${key} has a value`)),
    { state, head: undefined, signal: read.signal },
  );
  const [first] = rows;
  if (first === undefined) {
    schemas.forget(tenant);
    throw tenantNotFound(tenant);
  }
  if (read.snapToken !== undefined) refuseSnapshot(first);
  // A page of nothing is a row of nulls.
  const found = rows.filter((row) => row["entity_id"] !== null).map(page.itemOf);
  const beyond = rows.findIndex((row) => row["is_beyond"] === true);
  const most = beyond < 0 ? read.limit : Math.min(read.limit, beyond);
  const limit = page.countWithin(found.slice(0, most));
  return {
    ...pageOf(found, limit, page.placeOf),
    snapToken: read.snapToken ?? tokens.mintOfRow(first),
  };
}

/** There are as many texts as shapes: some hundred at most. */
const statements = new Map<string, Statement>();

function statementOf(shape: PageShape): Statement {
  const key = JSON.stringify(shape);
  let statement = statements.get(key);
  if (statement === undefined) {
    statement = pageStatement(shape);
    statements.set(key, statement);
  }
  return statement;
}

function valuesOf(
  tenant: TenantId,
  page: {
    readonly read: DataRead<unknown>;
    readonly wanted: TableFilter;
    readonly state: PinnedState | undefined;
  },
): ReadonlyMap<string, ParameterValue> {
  const { ids, equal, among } = page.wanted;
  const { after, limit } = page.read;
  const values = new Map<string, ParameterValue>([
    ["tenant", tenant],
    // One more than fits says that there is another page.
    ["limit", limit + 1],
    ["max_bytes", attributeSizes.bytesMax],
    ...Object.entries(equal),
  ]);
  for (const [column, list] of Object.entries(among)) values.set(column, arrayLiteral(list));
  // What comes before the place was on the pages before.
  const from = after?.[0] ?? "";
  const left = [...new Set(ids)].filter((id) => id >= from);
  values.set("ids", arrayLiteral(left.toSorted((a, b) => (a < b ? -1 : 1))));
  after?.forEach((part, index) => values.set(`after_${index}`, part));
  const { state } = page;
  for (const [key, value] of state === undefined ? [] : stateValues(state)) values.set(key, value);
  return values;
}

function keysWith(parts: Readonly<Record<string, string | readonly string[]>>): readonly string[] {
  return Object.keys(parts).filter((key) => (parts[key] ?? "").length > 0);
}

function tupleOf(row: Row): Tuple {
  return {
    entity: { type: textOf(row, "entity_type"), id: textOf(row, "entity_id") },
    relation: textOf(row, "relation"),
    subject: {
      type: textOf(row, "subject_type"),
      id: textOf(row, "subject_id"),
      relation: textOf(row, "subject_relation"),
    },
  };
}

function attributeOf(row: Row): Attribute {
  return {
    entity: { type: textOf(row, "entity_type"), id: textOf(row, "entity_id") },
    attribute: textOf(row, "attribute"),
    value: attributeValueOf(textOf(row, "value_type"), row["value"]),
  };
}

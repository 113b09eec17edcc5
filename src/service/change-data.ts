import { fieldError } from "../base/error.ts";
import type { Entity, SnapToken } from "../base/tuple.ts";
import type { Precondition } from "../store/data-change.ts";
import {
  type AttributeFilter,
  isEmptyAttributeFilter,
  isEmptyTupleFilter,
  type TupleFilter,
} from "../store/filter.ts";
import { nothingNamed } from "./delete-data.ts";
import {
  type Absent,
  invalidField,
  missingField,
  parseSchemaVersion,
  parseSnapToken,
  parseTenantId,
} from "./field.ts";
import {
  parseElements,
  parseEntity,
  parseTuple,
  type RawAttribute,
  type RawEntity,
  type RawTuple,
  refuseOversize,
} from "./request-data.ts";
import {
  parseAttributeFilter,
  parseTupleFilter,
  type RawAttributeFilter,
  type RawTupleFilter,
} from "./request-filter.ts";
import type { Service } from "./service.ts";

export interface ChangeDataRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly schemaVersion?: string | Absent } | Absent;
  readonly preconditions?: readonly RawPrecondition[] | Absent;
  readonly write?: RawWrites | Absent;
  readonly delete?: RawDeletes | Absent;
}

/** Either `tuple` and `exists`, or `snapToken` and `unchanged`. */
export interface RawPrecondition {
  readonly tuple?: RawTuple | Absent;
  readonly exists?: boolean | Absent;
  readonly snapToken?: string | Absent;
  readonly unchanged?: boolean | Absent;
}

interface RawWrites {
  readonly tuples?: readonly RawTuple[] | Absent;
  readonly attributes?: readonly RawAttribute[] | Absent;
}

interface RawDeletes {
  readonly tupleFilters?: readonly RawTupleFilter[] | Absent;
  readonly attributeFilters?: readonly RawAttributeFilter[] | Absent;
  readonly entities?: readonly RawEntity[] | Absent;
}

/** Each filter may read a whole table. */
export const filtersMax = 100;

/**
 * Deletes, then writes, in one transaction, if all preconditions hold. A request without anything to
 * delete or write is an error. The token names the state right after.
 */
export async function changeData(service: Service, request: ChangeDataRequest): Promise<SnapToken> {
  const tenant = parseTenantId(request.tenantId);
  const schemaVersion = parseSchemaVersion(tenant, request.metadata?.schemaVersion);
  const max = service.maxDataPerWrite;
  const preconditions = parsePreconditions(request.preconditions ?? [], max);
  const deletes = parseDeletes(request.delete ?? {}, max);
  const { tuples, attributes } = request.write ?? {};
  const elements = parseElements({ tuples, attributes }, "write.");
  refuseOversize(elements, max, "write.");
  const change = { schemaVersion, preconditions, ...deletes, ...elements };
  const lists = [...Object.values(deletes), ...Object.values(elements)];
  if (lists.every(({ length }) => length === 0)) {
    const expected = "expected at least one tuple, attribute, filter or entity";
    throw invalidField("write", `is empty like \`delete\`, ${expected}: nothing would be changed`);
  }
  return await service.store.data.change(tenant, change);
}

function parsePreconditions(raw: readonly RawPrecondition[], max: number): readonly Precondition[] {
  refuseMore(raw.length, max, "preconditions");
  let stated: string | undefined;
  return raw.map((one, index) => {
    const field = `preconditions[${index}]`;
    const precondition = parsePrecondition(one, field);
    if (precondition.kind === "unchanged") {
      if (stated !== undefined) {
        const problem = `another state is at ${stated}, expected at most one`;
        throw invalidField(`${field}.snap_token`, problem);
      }
      stated = `${field}.snap_token`;
    }
    return precondition;
  });
}

function parsePrecondition(raw: RawPrecondition, field: string): Precondition {
  const { tuple, exists, unchanged } = raw;
  const since = parseSnapToken(raw.snapToken, `${field}.snap_token`);
  if (tuple === undefined || tuple === null) {
    if (since === undefined) throw missingField(`${field}.tuple`, "a tuple, or a `snap_token`");
    if (isPresent(exists)) throw invalidField(`${field}.exists`, "belongs to a `tuple`");
    if (unchanged !== true) throw invalidField(`${field}.unchanged`, "is not true, expected true");
    return { kind: "unchanged", since };
  }
  if (since !== undefined) {
    throw invalidField(`${field}.snap_token`, "stands beside a `tuple`, expected one of them");
  }
  if (isPresent(unchanged)) throw invalidField(`${field}.unchanged`, "belongs to a `snap_token`");
  if (!isPresent(exists)) throw missingField(`${field}.exists`, "true or false");
  return { kind: "tuple", tuple: parseTuple(tuple, `${field}.tuple`), exists };
}

function isPresent<T>(value: T | Absent): value is T {
  return value !== undefined && value !== null;
}

interface ParsedDeletes {
  readonly tupleFilters: readonly TupleFilter[];
  readonly attributeFilters: readonly AttributeFilter[];
}

function parseDeletes(raw: RawDeletes, max: number): ParsedDeletes {
  const tuples = raw.tupleFilters ?? [];
  const attributes = raw.attributeFilters ?? [];
  const entities = raw.entities ?? [];
  const filters = tuples.length + attributes.length;
  if (filters > filtersMax) {
    const field = tuples.length > 0 ? "delete.tuple_filters" : "delete.attribute_filters";
    throw invalidField(field, `${filters} filters in one change, expected at most ${filtersMax}`);
  }
  refuseMore(entities.length, max, "delete.entities");
  const about = allAbout(
    entities.map((entity, index) => parseEntity(entity, `delete.entities[${index}]`)),
  );
  return {
    tupleFilters: [...tuples.map(parseListedTupleFilter), ...about.tupleFilters],
    attributeFilters: [...attributes.map(parseListedAttributeFilter), ...about.attributeFilters],
  };
}

function parseListedTupleFilter(raw: RawTupleFilter, index: number): TupleFilter {
  const field = `delete.tuple_filters[${index}]`;
  const filter = parseTupleFilter(raw, field);
  if (isEmptyTupleFilter(filter)) throw invalidField(field, nothingNamed);
  return filter;
}

function parseListedAttributeFilter(raw: RawAttributeFilter, index: number): AttributeFilter {
  const field = `delete.attribute_filters[${index}]`;
  const filter = parseAttributeFilter(raw, field);
  if (isEmptyAttributeFilter(filter)) throw invalidField(field, nothingNamed);
  return filter;
}

/** Filters for all that is known of entities: as entity and as subject of tuples, and attributes. */
function allAbout(entities: readonly Entity[]): ParsedDeletes {
  const byType = Map.groupBy(entities, ({ type }) => type);
  const ends = [...byType].map(([type, ofType]) => ({ type, ids: ofType.map(({ id }) => id) }));
  const anyEnd = { type: "", ids: [] };
  return {
    tupleFilters: ends.flatMap((end) => [
      { entity: end, relation: "", subject: { ...anyEnd, relation: "" } },
      { entity: anyEnd, relation: "", subject: { ...end, relation: "" } },
    ]),
    attributeFilters: ends.map((end) => ({ entity: end, attributes: [] })),
  };
}

function refuseMore(count: number, max: number, field: string): void {
  if (count <= max) return;
  const limit = `at most ${max} (\`database.max_data_per_write\`)`;
  throw fieldError(
    "MAX_DATA_PER_WRITE_EXCEEDED",
    field,
    `${count} in one change, expected ${limit}`,
  );
}

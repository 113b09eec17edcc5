import type { Attribute, JsonValue, SnapToken, Tuple } from "../base/tuple.ts";
import {
  type AttributeFilter,
  type TupleFilter,
  attributeAt,
  attributeMatcher,
  leadingEnd,
  tupleAt,
  tupleMatcher,
} from "../store/filter.ts";
import type { DataPage, DataRead } from "../store/store.ts";
import {
  continuousToken,
  pageError,
  parseTextsCursor,
  stateOfPages,
  type TokenScope,
} from "./continuous-token.ts";
import {
  type Absent,
  defaultPageSize,
  parsePageSize,
  parseSnapToken,
  parseTenantId,
  requireObject,
  idPattern,
  namePattern,
} from "./field.ts";
import {
  parseAttributeFilter,
  parseTupleFilter,
  type RawAttributeFilter,
  type RawTupleFilter,
} from "./request-filter.ts";
import type { Service } from "./service.ts";

interface ReadRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly snapToken?: string | Absent } | Absent;
  readonly pageSize?: number | Absent;
  readonly continuousToken?: string | Absent;
  /** Aborted when the caller has left. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadRelationshipsRequest extends ReadRequest {
  readonly filter?: RawTupleFilter | Absent;
}

export interface ReadAttributesRequest extends ReadRequest {
  readonly filter?: RawAttributeFilter | Absent;
}

/** A page of the tuples that match the filter. An empty filter matches all. */
export async function readRelationships(
  service: Service,
  request: ReadRelationshipsRequest,
): Promise<{ readonly tuples: readonly Tuple[]; readonly continuousToken: string }> {
  const tenant = parseTenantId(request.tenantId);
  const snapToken = snapTokenOf(request);
  const filter = parseTupleFilter(request.filter, "filter");
  const scope: TokenScope = {
    mac: service.store.pageMac,
    operation: "data/relationships/read",
    tenant,
    query: [snapToken ?? null, tupleQuery(filter)],
  };
  const isPlace = (place: readonly string[]): boolean => isTuplePlace(filter, place);
  const page = await readPage({ request, scope, snapToken, isPlace }, (read) =>
    service.store.data.readTuples(tenant, { ...read, filter }),
  );
  return { tuples: page.items, continuousToken: page.continuousToken };
}

/** A page of the attributes that match the filter. An empty filter matches all. */
export async function readAttributes(
  service: Service,
  request: ReadAttributesRequest,
): Promise<{ readonly attributes: readonly Attribute[]; readonly continuousToken: string }> {
  const tenant = parseTenantId(request.tenantId);
  const snapToken = snapTokenOf(request);
  const filter = parseAttributeFilter(request.filter, "filter");
  const scope: TokenScope = {
    mac: service.store.pageMac,
    operation: "data/attributes/read",
    tenant,
    query: [snapToken ?? null, attributeQuery(filter)],
  };
  const isPlace = (place: readonly string[]): boolean => isAttributePlace(filter, place);
  const page = await readPage({ request, scope, snapToken, isPlace }, (read) =>
    service.store.data.readAttributes(tenant, { ...read, filter }),
  );
  return { attributes: page.items, continuousToken: page.continuousToken };
}

async function readPage<T>(
  page: {
    readonly request: ReadRequest;
    readonly scope: TokenScope;
    readonly snapToken: SnapToken | undefined;
    /** Whether the texts are the position of an item (see `tuplePlace`, `attributePlace`). */
    readonly isPlace: (texts: readonly string[]) => boolean;
  },
  read: (page: Omit<DataRead<unknown>, "filter">) => Promise<DataPage<T>>,
): Promise<{ readonly items: readonly T[]; readonly continuousToken: string }> {
  const { request, scope } = page;
  const limit = parsePageSize(request.pageSize, defaultPageSize);
  const cursor = parseTextsCursor(scope, request.continuousToken, ([state, ...after]) => {
    const snapToken = stateOfPages(page.snapToken, state);
    return snapToken !== undefined && page.isPlace(after) ? { snapToken, after } : undefined;
  });
  try {
    const { items, next, ...state } = await read({
      snapToken: cursor === undefined ? page.snapToken : cursor.snapToken,
      after: cursor?.after,
      limit,
      signal: request.signal,
    });
    const place = next === undefined ? undefined : [state.snapToken, ...next];
    return { items, continuousToken: continuousToken(scope, place) };
  } catch (error) {
    throw cursor === undefined ? error : pageError(error);
  }
}

function snapTokenOf({ metadata }: ReadRequest): SnapToken | undefined {
  return parseSnapToken(requireObject(metadata, "metadata").snapToken);
}

function tupleQuery({ entity, relation, subject }: TupleFilter): JsonValue {
  return [entity.type, entity.ids, relation, subject.type, subject.ids, subject.relation];
}

function attributeQuery({ entity, attributes }: AttributeFilter): JsonValue {
  return [entity.type, entity.ids, attributes];
}

/** Whether a page of the tuples that match a filter can end at this position. */
function isTuplePlace(filter: TupleFilter, place: readonly string[]): boolean {
  const tuple = tupleAt(place, leadingEnd(filter));
  return tuple !== undefined && isTuple(tuple) && tupleMatcher(filter)(tuple);
}

/** The same for attributes. */
function isAttributePlace(filter: AttributeFilter, place: readonly string[]): boolean {
  const name = attributeAt(place);
  return (
    name !== undefined &&
    idPattern.test(name.entity.id) &&
    namePattern.test(name.entity.type) &&
    namePattern.test(name.attribute) &&
    attributeMatcher(filter)(name)
  );
}

function isTuple({ entity, relation, subject }: Tuple): boolean {
  return (
    [entity.id, subject.id].every((id) => idPattern.test(id)) &&
    [entity.type, relation, subject.type].every((name) => namePattern.test(name)) &&
    (subject.relation === "" || namePattern.test(subject.relation))
  );
}

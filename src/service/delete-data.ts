import type { SnapToken } from "../base/tuple.ts";
import { isEmptyAttributeFilter, isEmptyTupleFilter } from "../store/filter.ts";
import { type Absent, invalidField, parseTenantId } from "./field.ts";
import {
  parseAttributeFilter,
  parseTupleFilter,
  type RawAttributeFilter,
  type RawTupleFilter,
} from "./request-filter.ts";
import type { Service } from "./service.ts";

export interface DeleteDataRequest {
  readonly tenantId: string;
  readonly tupleFilter?: RawTupleFilter | Absent;
  readonly attributeFilter?: RawAttributeFilter | Absent;
}

export interface DeleteRelationshipsRequest {
  readonly tenantId: string;
  readonly filter?: RawTupleFilter | Absent;
}

/** What is wrong with an empty filter. */
export const nothingNamed =
  "names no type, id, relation or attribute, expected at least one: nothing would be deleted";

/**
 * Deletes the tuples and attributes that match the filters, in one transaction. An empty filter
 * matches nothing. Both filters empty are an error. The token names the state right after.
 */
export async function deleteData(service: Service, request: DeleteDataRequest): Promise<SnapToken> {
  const tenant = parseTenantId(request.tenantId);
  const tuples = parseTupleFilter(request.tupleFilter, "tuple_filter");
  const attributes = parseAttributeFilter(request.attributeFilter, "attribute_filter");
  const filters = {
    tuples: isEmptyTupleFilter(tuples) ? undefined : tuples,
    attributes: isEmptyAttributeFilter(attributes) ? undefined : attributes,
  };
  if (filters.tuples === undefined && filters.attributes === undefined) {
    const expected = "expected a type, an id, a relation or an attribute in one of them";
    const problem = `is empty like \`attribute_filter\`, ${expected}: nothing would be deleted`;
    throw invalidField("tuple_filter", problem);
  }
  return await service.store.data.delete(tenant, filters);
}

/** The older form of delete, for tuples only. */
export async function deleteRelationships(
  service: Service,
  request: DeleteRelationshipsRequest,
): Promise<SnapToken> {
  const tenant = parseTenantId(request.tenantId);
  const tuples = parseTupleFilter(request.filter, "filter");
  if (isEmptyTupleFilter(tuples)) throw invalidField("filter", nothingNamed);
  return await service.store.data.delete(tenant, { tuples, attributes: undefined });
}

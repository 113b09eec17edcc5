import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { AttributeFilter, TupleFilter } from "../../src/store/filter.ts";
import type { DataStore } from "../../src/store/store.ts";

/** The parts of a tuple filter that are not empty. */
export interface TupleParts {
  readonly type?: string;
  readonly ids?: readonly string[];
  readonly relation?: string;
  readonly subjectType?: string;
  readonly subjectIds?: readonly string[];
  readonly subjectRelation?: string;
}

export interface AttributeParts {
  readonly type?: string;
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
}

export function tupleFilter(parts: TupleParts): TupleFilter {
  return {
    entity: { type: parts.type ?? "", ids: parts.ids ?? [] },
    relation: parts.relation ?? "",
    subject: {
      type: parts.subjectType ?? "",
      ids: parts.subjectIds ?? [],
      relation: parts.subjectRelation ?? "",
    },
  };
}

export function attributeFilter(parts: AttributeParts): AttributeFilter {
  return {
    entity: { type: parts.type ?? "", ids: parts.ids ?? [] },
    attributes: parts.names ?? [],
  };
}

/** Deletes what the filters let through; a side that is left out lets nothing through. */
export async function remove(
  store: { readonly data: Pick<DataStore, "delete"> },
  tenant: TenantId,
  filters: { readonly tuples?: TupleParts; readonly attributes?: AttributeParts },
): Promise<SnapToken> {
  return await store.data.delete(tenant, {
    tuples: filters.tuples && tupleFilter(filters.tuples),
    attributes: filters.attributes && attributeFilter(filters.attributes),
  });
}

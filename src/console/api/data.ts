import type { Static } from "typebox";

import type { readAttributesAnswer, readRelationshipsAnswer } from "../../http/shapes/data.ts";
import { send, tenantPath } from "./send.ts";

export type TupleAnswer = Static<typeof readRelationshipsAnswer>["tuples"][number];
export type AttributeAnswer = Static<typeof readAttributesAnswer>["attributes"][number];

/** A filter as it is sent: keys that are absent are open. */
export interface TupleFilterBody {
  readonly entity?: { readonly type: string; readonly ids?: readonly string[] };
  readonly relation?: string;
  readonly subject?: {
    readonly type: string;
    readonly ids?: readonly string[];
    readonly relation?: string;
  };
}

export interface AttributeFilterBody {
  readonly entity?: { readonly type: string; readonly ids?: readonly string[] };
  readonly attributes?: readonly string[];
}

const dataPageSize = 100;

async function readPage<T>(
  tenant: string,
  kind: "relationships" | "attributes",
  page: { readonly filter: object; readonly after: string; readonly signal?: AbortSignal },
): Promise<T> {
  return await send<T>({
    method: "POST",
    path: tenantPath(tenant, `data/${kind}/read`),
    body: {
      metadata: {},
      filter: page.filter,
      page_size: dataPageSize,
      continuous_token: page.after,
    },
    signal: page.signal,
  });
}

export async function readTuples(
  tenant: string,
  page: { readonly filter: TupleFilterBody; readonly after: string; readonly signal?: AbortSignal },
): Promise<Static<typeof readRelationshipsAnswer>> {
  return await readPage(tenant, "relationships", page);
}

export async function readAttributes(
  tenant: string,
  page: {
    readonly filter: AttributeFilterBody;
    readonly after: string;
    readonly signal?: AbortSignal;
  },
): Promise<Static<typeof readAttributesAnswer>> {
  return await readPage(tenant, "attributes", page);
}

export async function writeData(
  tenant: string,
  data: {
    readonly tuples: readonly TupleAnswer[];
    readonly attributes: readonly AttributeAnswer[];
  },
): Promise<void> {
  const body = { metadata: {}, tuples: data.tuples, attributes: data.attributes };
  await send({ method: "POST", path: tenantPath(tenant, "data/write"), body });
}

/** Deletes what the filters name. */
export async function deleteData(
  tenant: string,
  filters: {
    readonly tupleFilters: readonly TupleFilterBody[];
    readonly attributeFilters: readonly AttributeFilterBody[];
  },
): Promise<void> {
  const body = {
    delete: { tuple_filters: filters.tupleFilters, attribute_filters: filters.attributeFilters },
  };
  await send({ method: "POST", path: tenantPath(tenant, "data/change"), body });
}

import type { SnapToken } from "../base/tuple.ts";
import {
  type Absent,
  parseSchemaVersion,
  parseTenantId,
  requireObject,
  missingField,
} from "./field.ts";
import { parseElements, type RawAttribute, type RawTuple, refuseOversize } from "./request-data.ts";
import type { Service } from "./service.ts";

export interface WriteDataRequest {
  readonly tenantId: string;
  readonly metadata?: { readonly schemaVersion?: string | Absent } | Absent;
  readonly tuples?: readonly RawTuple[] | Absent;
  readonly attributes?: readonly RawAttribute[] | Absent;
}

/**
 * Writes all of the tuples and attributes or none. An empty write is accepted. The token names the
 * state right after the write.
 */
export async function writeData(service: Service, request: WriteDataRequest): Promise<SnapToken> {
  const tenant = parseTenantId(request.tenantId);
  const metadata = requireObject(request.metadata, "metadata");
  const schemaVersion = parseSchemaVersion(tenant, metadata.schemaVersion);
  const elements = parseElements({ tuples: request.tuples, attributes: request.attributes });
  refuseOversize(elements, service.maxDataPerWrite);
  return await service.store.data.write(tenant, { schemaVersion, ...elements });
}

/** The older form of write, for tuples only. It needs at least one. */
export async function writeRelationships(
  service: Service,
  request: Omit<WriteDataRequest, "attributes">,
): Promise<SnapToken> {
  if ((request.tuples ?? []).length === 0) throw missingField("tuples", "at least one tuple");
  return await writeData(service, request);
}

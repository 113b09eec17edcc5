import type { Service } from "../../service/service.ts";
import { writeData } from "../../service/write-data.ts";
import { writeRelationships } from "../../service/write-relationships.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { decodeAttributes, writeDataBody, writeRelationshipsBody } from "../shapes/data.ts";

export function dataRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/data/write`,
    { schema: { params: tenantParams, body: writeDataBody } },
    async ({ params, body }) => ({
      snap_token: await writeData(service, {
        tenantId: params.tenant_id,
        metadata: body.metadata && { schemaVersion: body.metadata.schema_version },
        tuples: body.tuples,
        attributes: decodeAttributes(body.attributes, "attributes"),
      }),
    }),
  );

  app.post(
    `${tenantPath}/relationships/write`,
    { schema: { params: tenantParams, body: writeRelationshipsBody } },
    async ({ params, body }) => ({
      snap_token: await writeRelationships(service, {
        tenantId: params.tenant_id,
        metadata: body.metadata && { schemaVersion: body.metadata.schema_version },
        tuples: body.tuples,
      }),
    }),
  );
}

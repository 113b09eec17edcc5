import { changeData } from "../../service/change-data.ts";
import { deleteData, deleteRelationships } from "../../service/delete-data.ts";
import { readAttributes, readRelationships } from "../../service/read-data.ts";
import type { Service } from "../../service/service.ts";
import { writeData, writeRelationships } from "../../service/write-data.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { clientGone } from "../client-gone.ts";
import { snapTokenAnswer } from "../shapes/answer.ts";
import { changeDataBody, decodeChange } from "../shapes/data-change.ts";
import {
  decodeAttributes,
  decodeRead,
  deleteDataBody,
  deleteRelationshipsBody,
  encodeAttribute,
  encodeTuple,
  readAttributesAnswer,
  readAttributesBody,
  readRelationshipsAnswer,
  readRelationshipsBody,
  writeDataBody,
  writeRelationshipsBody,
} from "../shapes/data.ts";

export function dataRoutes(app: HttpApp, service: Service): void {
  changeRoutes(app, service);
  conditionalRoutes(app, service);
  readRoutes(app, service);
}

function changeRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/data/write`,
    { schema: { params: tenantParams, body: writeDataBody, response: { 200: snapTokenAnswer } } },
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
    {
      schema: {
        params: tenantParams,
        body: writeRelationshipsBody,
        response: { 200: snapTokenAnswer },
      },
    },
    async ({ params, body }) => ({
      snap_token: await writeRelationships(service, {
        tenantId: params.tenant_id,
        metadata: body.metadata && { schemaVersion: body.metadata.schema_version },
        tuples: body.tuples,
      }),
    }),
  );

  app.post(
    `${tenantPath}/data/delete`,
    { schema: { params: tenantParams, body: deleteDataBody, response: { 200: snapTokenAnswer } } },
    async ({ params, body }) => ({
      snap_token: await deleteData(service, {
        tenantId: params.tenant_id,
        tupleFilter: body.tuple_filter,
        attributeFilter: body.attribute_filter,
      }),
    }),
  );

  app.post(
    `${tenantPath}/relationships/delete`,
    {
      schema: {
        params: tenantParams,
        body: deleteRelationshipsBody,
        response: { 200: snapTokenAnswer },
      },
    },
    async ({ params, body }) => ({
      snap_token: await deleteRelationships(service, {
        tenantId: params.tenant_id,
        filter: body.filter,
      }),
    }),
  );
}

function conditionalRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/data/change`,
    { schema: { params: tenantParams, body: changeDataBody, response: { 200: snapTokenAnswer } } },
    async ({ params, body }) => ({
      snap_token: await changeData(service, {
        tenantId: params.tenant_id,
        ...decodeChange(body),
      }),
    }),
  );
}

function readRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/data/relationships/read`,
    {
      schema: {
        params: tenantParams,
        body: readRelationshipsBody,
        response: { 200: readRelationshipsAnswer },
      },
    },
    async ({ params, body }, reply) => {
      const { tuples, continuousToken } = await readRelationships(service, {
        ...decodeRead(params.tenant_id, body),
        signal: clientGone(reply),
        filter: body.filter,
      });
      return { tuples: tuples.map(encodeTuple), continuous_token: continuousToken };
    },
  );

  app.post(
    `${tenantPath}/data/attributes/read`,
    {
      schema: {
        params: tenantParams,
        body: readAttributesBody,
        response: { 200: readAttributesAnswer },
      },
    },
    async ({ params, body }, reply) => {
      const { attributes, continuousToken } = await readAttributes(service, {
        ...decodeRead(params.tenant_id, body),
        signal: clientGone(reply),
        filter: body.filter,
      });
      return { attributes: attributes.map(encodeAttribute), continuous_token: continuousToken };
    },
  );
}

import { activateSchema, changeSchema } from "../../service/change-schema.ts";
import {
  listSchemas,
  partialWriteSchema,
  readSchema,
  readSchemaText,
  writeSchema,
} from "../../service/schemas.ts";
import type { Service } from "../../service/service.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { schemaVersionAnswer } from "../shapes/answer.ts";
import {
  activateSchemaBody,
  changeSchemaBody,
  decodePartials,
  encodeSchema,
  listSchemasAnswer,
  partialWriteSchemaBody,
  readSchemaAnswer,
  readSchemaBody,
  readSchemaTextBody,
  schemaTextAnswer,
  writeSchemaBody,
} from "../shapes/schema.ts";
import { decodePage, pageBody } from "../shapes/value-fields.ts";

export function schemaRoutes(app: HttpApp, service: Service): void {
  writeRoutes(app, service);
  conditionalRoutes(app, service);
  readRoutes(app, service);
}

function conditionalRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/schemas/change`,
    {
      schema: {
        params: tenantParams,
        body: changeSchemaBody,
        response: { 200: schemaVersionAnswer },
      },
    },
    async ({ params, body }) => ({
      schema_version: await changeSchema(service, {
        tenantId: params.tenant_id,
        schema: body.schema,
        expectedHead: body.expected_head,
      }),
    }),
  );

  app.post(
    `${tenantPath}/schemas/activate`,
    {
      schema: {
        params: tenantParams,
        body: activateSchemaBody,
        response: { 200: schemaVersionAnswer },
      },
    },
    async ({ params, body }) => ({
      schema_version: await activateSchema(service, {
        tenantId: params.tenant_id,
        schemaVersion: body.schema_version,
        expectedHead: body.expected_head,
      }),
    }),
  );
}

function writeRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/schemas/write`,
    {
      schema: {
        params: tenantParams,
        body: writeSchemaBody,
        response: { 200: schemaVersionAnswer },
      },
    },
    async ({ params, body }) => ({
      schema_version: await writeSchema(service, {
        tenantId: params.tenant_id,
        schema: body.schema,
      }),
    }),
  );

  app.patch(
    `${tenantPath}/schemas/partial-write`,
    {
      schema: {
        params: tenantParams,
        body: partialWriteSchemaBody,
        response: { 200: schemaVersionAnswer },
      },
    },
    async ({ params, body }) => ({
      schema_version: await partialWriteSchema(service, {
        tenantId: params.tenant_id,
        metadata: body.metadata && { schemaVersion: body.metadata.schema_version },
        partials: decodePartials(body.partials),
      }),
    }),
  );
}

function readRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/schemas/read`,
    { schema: { params: tenantParams, body: readSchemaBody, response: { 200: readSchemaAnswer } } },
    async ({ params, body }) => {
      const { schema } = await readSchema(service, {
        tenantId: params.tenant_id,
        metadata: body.metadata && { schemaVersion: body.metadata.schema_version },
      });
      return { schema: encodeSchema(schema) };
    },
  );

  app.post(
    `${tenantPath}/schemas/read-text`,
    {
      schema: {
        params: tenantParams,
        body: readSchemaTextBody,
        response: { 200: schemaTextAnswer },
      },
    },
    async ({ params, body }) => {
      const { version, text } = await readSchemaText(service, {
        tenantId: params.tenant_id,
        schemaVersion: body.schema_version,
      });
      return { schema_version: version, schema: text };
    },
  );

  app.post(
    `${tenantPath}/schemas/list`,
    { schema: { params: tenantParams, body: pageBody, response: { 200: listSchemasAnswer } } },
    async ({ params, body }) => {
      const listed = await listSchemas(service, {
        tenantId: params.tenant_id,
        ...decodePage(body),
      });
      return {
        head: listed.head ?? "",
        schemas: listed.schemas.map(({ version, createdAt }) => ({
          version,
          created_at: createdAt.toISOString(),
        })),
        continuous_token: listed.continuousToken,
      };
    },
  );
}

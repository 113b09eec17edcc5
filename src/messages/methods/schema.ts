import { Schema } from "../../gen/base/v1/schema_pb.ts";
import { Schema as PembaSchema } from "../../gen/pemba/v1/schema_pb.ts";
import { activateSchema, changeSchema } from "../../service/change-schema.ts";
import {
  listSchemas,
  partialWriteSchema,
  readSchema,
  readSchemaText,
  writeSchema,
} from "../../service/schemas.ts";
import type { Service } from "../../service/service.ts";
import { encodeSchema } from "../definition.ts";
import { type MessageMethod, unary } from "../method.ts";
import { decodePage } from "../request.ts";

export function schemaMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Schema.method.write, async ({ tenantId, schema }) => ({
      schemaVersion: await writeSchema(service, { tenantId, schema }),
    })),
    unary(Schema.method.partialWrite, async ({ tenantId, metadata, partials }) => ({
      schemaVersion: await partialWriteSchema(service, {
        tenantId,
        metadata,
        partials: new Map(Object.entries(partials)),
      }),
    })),
    unary(PembaSchema.method.write, async ({ tenantId, schema, expectedHead }) => ({
      schemaVersion: await changeSchema(service, { tenantId, schema, expectedHead }),
    })),
    unary(PembaSchema.method.activate, async ({ tenantId, schemaVersion, expectedHead }) => ({
      schemaVersion: await activateSchema(service, { tenantId, schemaVersion, expectedHead }),
    })),
    unary(PembaSchema.method.readText, async ({ tenantId, schemaVersion }) => {
      const { version, text } = await readSchemaText(service, { tenantId, schemaVersion });
      return { schemaVersion: version, schema: text };
    }),
    unary(Schema.method.read, async ({ tenantId, metadata }) => {
      const { schema } = await readSchema(service, { tenantId, metadata });
      return { schema: encodeSchema(schema) };
    }),
    unary(Schema.method.list, async (request) => {
      const listed = await listSchemas(service, {
        tenantId: request.tenantId,
        ...decodePage(request),
      });
      return {
        head: listed.head ?? "",
        schemas: listed.schemas.map(({ version, createdAt }) => ({
          version,
          createdAt: createdAt.toISOString(),
        })),
        continuousToken: listed.continuousToken,
      };
    }),
  ];
}

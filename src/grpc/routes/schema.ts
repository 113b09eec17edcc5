import { Schema } from "../../gen/base/v1/schema_pb.ts";
import { listSchemas } from "../../service/list-schemas.ts";
import { partialWriteSchema } from "../../service/partial-write-schema.ts";
import { readSchema } from "../../service/read-schema.ts";
import type { Service } from "../../service/service.ts";
import { writeSchema } from "../../service/write-schema.ts";
import { encodeSchema } from "../messages/definition.ts";
import { decodePage } from "../messages/page.ts";
import { type ServedMethod, unary } from "../method.ts";

export function schemaMethods(service: Service): readonly ServedMethod[] {
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

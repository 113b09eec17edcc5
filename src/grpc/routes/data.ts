import { Data } from "../../gen/base/v1/data_pb.ts";
import type { Service } from "../../service/service.ts";
import { writeData } from "../../service/write-data.ts";
import { writeRelationships } from "../../service/write-relationships.ts";
import { decodeAttributes } from "../messages/data.ts";
import { type ServedMethod, unary } from "../method.ts";

export function dataMethods(service: Service): readonly ServedMethod[] {
  return [
    unary(Data.method.write, async ({ tenantId, metadata, tuples, attributes }) => ({
      snapToken: await writeData(service, {
        tenantId,
        metadata,
        tuples,
        attributes: decodeAttributes(attributes, "attributes"),
      }),
    })),
    unary(Data.method.writeRelationships, async ({ tenantId, metadata, tuples }) => ({
      snapToken: await writeRelationships(service, { tenantId, metadata, tuples }),
    })),
  ];
}

import { Data } from "../../gen/base/v1/data_pb.ts";
import { Data as PembaData } from "../../gen/pemba/v1/data_pb.ts";
import { changeData } from "../../service/change-data.ts";
import { deleteData, deleteRelationships } from "../../service/delete-data.ts";
import { readAttributes, readRelationships } from "../../service/read-data.ts";
import { runBundle } from "../../service/run-bundle.ts";
import type { Service } from "../../service/service.ts";
import { writeData, writeRelationships } from "../../service/write-data.ts";
import { decodeAttributes, encodeAttribute, encodeTuple } from "../data.ts";
import { type MessageMethod, unary } from "../method.ts";
import { decodePage } from "../request.ts";

export function dataMethods(service: Service): readonly MessageMethod[] {
  return [...writes(service), ...reads(service)];
}

function writes(service: Service): readonly MessageMethod[] {
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
    unary(Data.method.delete, async ({ tenantId, tupleFilter, attributeFilter }) => ({
      snapToken: await deleteData(service, { tenantId, tupleFilter, attributeFilter }),
    })),
    unary(Data.method.deleteRelationships, async ({ tenantId, filter }) => ({
      snapToken: await deleteRelationships(service, { tenantId, filter }),
    })),
    unary(PembaData.method.change, async ({ tenantId, metadata, preconditions, ...request }) => ({
      snapToken: await changeData(service, {
        tenantId,
        metadata,
        preconditions,
        write: request.write && {
          tuples: request.write.tuples,
          attributes: decodeAttributes(request.write.attributes, "write.attributes"),
        },
        delete: request.delete,
      }),
    })),
    unary(Data.method.runBundle, async ({ tenantId, name, arguments: given }) => ({
      snapToken: await runBundle(service, { tenantId, name, arguments: given }),
    })),
  ];
}

function reads(service: Service): readonly MessageMethod[] {
  return [
    unary(Data.method.readRelationships, async (request, { signal }) => {
      const { tenantId, metadata, filter } = request;
      const { tuples, continuousToken } = await readRelationships(service, {
        tenantId,
        metadata,
        filter,
        ...decodePage(request),
        signal,
      });
      return { tuples: tuples.map(encodeTuple), continuousToken };
    }),
    unary(Data.method.readAttributes, async (request, { signal }) => {
      const { tenantId, metadata, filter } = request;
      const { attributes, continuousToken } = await readAttributes(service, {
        tenantId,
        metadata,
        filter,
        ...decodePage(request),
        signal,
      });
      return { attributes: attributes.map(encodeAttribute), continuousToken };
    }),
  ];
}

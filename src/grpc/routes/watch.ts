import type { MessageInitShape } from "@bufbuild/protobuf";

import {
  DataChange_Operation as Operation,
  type DataChangeSchema,
  Watch,
} from "../../gen/base/v1/watch_pb.ts";
import type { Service } from "../../service/service.ts";
import { watch } from "../../service/watch.ts";
import type { Change } from "../../store/change.ts";
import { encodeAttribute, encodeTuple } from "../messages/data.ts";
import { type ServedMethod, serverStreaming } from "../method.ts";

export function watchMethods(service: Service): readonly ServedMethod[] {
  return [
    serverStreaming(Watch.method.watch, async function* (request, { signal }) {
      const { tenantId, snapToken } = request;
      const { messages } = await watch(service, { tenantId, snapToken, signal });
      for await (const message of messages) {
        const dataChanges = message.changes.map(encodeChange);
        yield { changes: { snapToken: message.snapToken, dataChanges } };
      }
    }),
  ];
}

function encodeChange(change: Change): MessageInitShape<typeof DataChangeSchema> {
  const operation = change.operation === "create" ? Operation.CREATE : Operation.DELETE;
  return change.kind === "tuple"
    ? { operation, type: { case: "tuple", value: encodeTuple(change.tuple) } }
    : { operation, type: { case: "attribute", value: encodeAttribute(change.attribute) } };
}

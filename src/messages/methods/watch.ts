import type { MessageInitShape } from "@bufbuild/protobuf";

import {
  DataChange_Operation as Operation,
  type DataChangeSchema,
  Watch,
  type WatchResponseSchema,
} from "../../gen/base/v1/watch_pb.ts";
import type { Service } from "../../service/service.ts";
import { watch } from "../../service/watch.ts";
import type { Change, ChangeMessage } from "../../store/change.ts";
import { encodeAttribute, encodeTuple } from "../data.ts";
import { type MessageMethod, serverStreaming } from "../method.ts";

export function watchMethods(service: Service): readonly MessageMethod[] {
  return [
    serverStreaming(Watch.method.watch, async ({ tenantId, snapToken }, { signal }) => {
      const { messages } = await watch(service, { tenantId, snapToken, signal });
      return encodeMessages(messages);
    }),
  ];
}

async function* encodeMessages(
  messages: AsyncIterable<ChangeMessage>,
): AsyncGenerator<readonly MessageInitShape<typeof WatchResponseSchema>[]> {
  for await (const { snapToken, changes } of messages) {
    yield [{ changes: { snapToken, dataChanges: changes.map(encodeChange) } }];
  }
}

function encodeChange(change: Change): MessageInitShape<typeof DataChangeSchema> {
  const operation = change.operation === "create" ? Operation.CREATE : Operation.DELETE;
  return change.kind === "tuple"
    ? { operation, type: { case: "tuple", value: encodeTuple(change.tuple) } }
    : { operation, type: { case: "attribute", value: encodeAttribute(change.attribute) } };
}

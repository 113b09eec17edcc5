import type { MessageInitShape } from "@bufbuild/protobuf";

import { afterFirst } from "../../base/after-first.ts";
import {
  Permission,
  type PermissionLookupEntityRequest,
  type PermissionLookupEntityStreamResponseSchema,
} from "../../gen/base/v1/permission_pb.ts";
import type { LookupResult } from "../../service/lookup-page.ts";
import {
  lookupEntity,
  type LookupEntityRequest,
  lookupEntityStream,
  lookupSubject,
} from "../../service/lookups.ts";
import type { Service } from "../../service/service.ts";
import { type CallContext, type MessageMethod, serverStreaming, unary } from "../method.ts";
import { decodePage, decodeQuestion } from "../request.ts";

export function lookupMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Permission.method.lookupEntity, async (request, call) => {
      const { entityIds, continuousToken } = await lookupEntity(
        service,
        decodeLookupEntity(request, call),
      );
      return { entityIds: [...entityIds], continuousToken };
    }),
    serverStreaming(Permission.method.lookupEntityStream, async (request, call) => {
      const groups = lookupEntityStream(service, decodeLookupEntity(request, call));
      return encodeResults(await afterFirst(groups));
    }),
    unary(Permission.method.lookupSubject, async (request, call) => {
      const { entity, permission, subjectReference } = request;
      const { subjectIds, continuousToken } = await lookupSubject(service, {
        ...decodeQuestion(request, call),
        ...decodePage(request),
        entity,
        permission,
        subjectReference,
      });
      return { subjectIds: [...subjectIds], continuousToken };
    }),
  ];
}

async function* encodeResults(
  groups: AsyncIterable<readonly LookupResult[]>,
): AsyncGenerator<readonly MessageInitShape<typeof PermissionLookupEntityStreamResponseSchema>[]> {
  for await (const results of groups) {
    yield results.map(({ id, continuousToken }) => ({ entityId: id, continuousToken }));
  }
}

function decodeLookupEntity(
  request: PermissionLookupEntityRequest,
  call: CallContext,
): LookupEntityRequest {
  const { entityType, permission, subject, scope } = request;
  return {
    ...decodeQuestion(request, call),
    ...decodePage(request),
    entityType,
    permission,
    subject,
    scope,
  };
}

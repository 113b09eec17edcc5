import { Permission, type PermissionLookupEntityRequest } from "../../gen/base/v1/permission_pb.ts";
import {
  lookupEntity,
  type LookupEntityRequest,
  lookupEntityStream,
  lookupSubject,
} from "../../service/lookups.ts";
import type { Service } from "../../service/service.ts";
import { decodePage, decodeQuestion } from "../messages/request.ts";
import { type CallContext, type ServedMethod, serverStreaming, unary } from "../method.ts";

export function lookupMethods(service: Service): readonly ServedMethod[] {
  return [
    unary(Permission.method.lookupEntity, async (request, call) => {
      const { entityIds, continuousToken } = await lookupEntity(
        service,
        decodeLookupEntity(request, call),
      );
      return { entityIds: [...entityIds], continuousToken };
    }),
    serverStreaming(Permission.method.lookupEntityStream, async function* (request, call) {
      const results = lookupEntityStream(service, decodeLookupEntity(request, call));
      for await (const { id, continuousToken } of results) {
        yield { entityId: id, continuousToken };
      }
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

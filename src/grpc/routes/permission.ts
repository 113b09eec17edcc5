import type { MessageInitShape } from "@bufbuild/protobuf";

import {
  CheckResult,
  Permission,
  type PermissionCheckRequest,
  type PermissionCheckResponseSchema,
} from "../../gen/base/v1/permission_pb.ts";
import { bulkCheck } from "../../service/bulk-check.ts";
import { check } from "../../service/check.ts";
import { expand } from "../../service/expand.ts";
import type { Service } from "../../service/service.ts";
import { subjectPermission } from "../../service/subject-permission.ts";
import type { CheckAnswer } from "../../store/store.ts";
import { encodeTree } from "../messages/expand.ts";
import { decodeQuestion } from "../messages/question.ts";
import { type CallContext, type ServedMethod, unary } from "../method.ts";

export function permissionMethods(service: Service): readonly ServedMethod[] {
  return [
    unary(
      Permission.method.check,
      async (request, call) => await answerCheck(service, request, call),
    ),
    unary(Permission.method.bulkCheck, async (request, call) => {
      const answers = await bulkCheck(service, {
        ...decodeQuestion(request, call),
        items: request.items,
      });
      return { results: answers.map(encodeAnswer) };
    }),
    unary(Permission.method.expand, async (request, call) => {
      const { entity, permission } = request;
      const tree = await expand(service, {
        ...decodeQuestion(request, call),
        entity,
        permission,
      });
      return { tree: encodeTree(tree) };
    }),
    unary(Permission.method.subjectPermission, async (request, call) => {
      const { entity, subject, metadata } = request;
      const answers = await subjectPermission(service, {
        ...decodeQuestion(request, call),
        entity,
        subject,
        onlyPermission: metadata?.onlyPermission,
      });
      const results = [...answers].map(([name, answer]) => [name, resultOf(answer)] as const);
      return { results: Object.fromEntries(results) };
    }),
  ];
}

/** The answer to a check, for whoever asks it over gRPC. Fails as the check does. */
export async function answerCheck(
  service: Service,
  request: PermissionCheckRequest,
  call: CallContext,
): Promise<MessageInitShape<typeof PermissionCheckResponseSchema>> {
  const { entity, permission, subject } = request;
  return encodeAnswer(
    await check(service, { ...decodeQuestion(request, call), entity, permission, subject }),
  );
}

function encodeAnswer(answer: CheckAnswer): MessageInitShape<typeof PermissionCheckResponseSchema> {
  return {
    can: resultOf(answer),
    metadata: { checkCount: answer.nodes },
  };
}

function resultOf({ allowed }: CheckAnswer): CheckResult {
  return allowed ? CheckResult.ALLOWED : CheckResult.DENIED;
}

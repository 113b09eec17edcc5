import type { Static } from "typebox";

import { runInSlices } from "../../base/time-slice.ts";
import { bulkCheck, check, expand, subjectPermission } from "../../service/permissions.ts";
import type { Service } from "../../service/service.ts";
import type { CheckAnswer } from "../../store/store.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { clientGone } from "../client-gone.ts";
import { replyInSlices } from "../large-reply.ts";
import { encodeExpansion, expandAnswer } from "../shapes/expand.ts";
import {
  bulkCheckAnswer,
  bulkCheckBody,
  checkAnswer,
  checkBody,
  decodeQuestion,
  expandBody,
  type ResultAnswer,
  subjectPermissionAnswer,
  subjectPermissionBody,
} from "../shapes/permission.ts";

export function permissionRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/permissions/check`,
    { schema: { params: tenantParams, body: checkBody, response: { 200: checkAnswer } } },
    async ({ params, body }, reply) =>
      encodeAnswer(
        await check(service, {
          ...decodeQuestion(params.tenant_id, body),
          signal: clientGone(reply),
          entity: body.entity,
          permission: body.permission,
          subject: body.subject,
        }),
      ),
  );

  app.post(
    `${tenantPath}/permissions/bulk-check`,
    { schema: { params: tenantParams, body: bulkCheckBody, response: { 200: bulkCheckAnswer } } },
    async ({ params, body }, reply) => {
      const answers = await bulkCheck(service, {
        ...decodeQuestion(params.tenant_id, body),
        signal: clientGone(reply),
        items: body.items,
      });
      return { results: answers.map(encodeAnswer) };
    },
  );

  app.post(
    `${tenantPath}/permissions/expand`,
    { schema: { params: tenantParams, body: expandBody, response: { 200: expandAnswer } } },
    async ({ params, body }, reply) => {
      const signal = clientGone(reply);
      const tree = await expand(service, {
        ...decodeQuestion(params.tenant_id, body),
        signal,
        entity: body.entity,
        permission: body.permission,
      });
      return await replyInSlices(reply, await runInSlices(encodeExpansion(tree), signal));
    },
  );

  app.post(
    `${tenantPath}/permissions/subject-permission`,
    {
      schema: {
        params: tenantParams,
        body: subjectPermissionBody,
        response: { 200: subjectPermissionAnswer },
      },
    },
    async ({ params, body }, reply) => {
      const answers = await subjectPermission(service, {
        ...decodeQuestion(params.tenant_id, body),
        signal: clientGone(reply),
        entity: body.entity,
        subject: body.subject,
        onlyPermission: body.metadata?.only_permission,
      });
      const results = [...answers].map(([name, answer]) => [name, resultOf(answer)] as const);
      return { results: Object.fromEntries(results) };
    },
  );
}

function encodeAnswer(answer: CheckAnswer): Static<typeof checkAnswer> {
  return {
    can: resultOf(answer),
    metadata: { check_count: answer.nodes },
  };
}

function resultOf(answer: CheckAnswer): ResultAnswer {
  return answer.allowed ? "RESULT_ALLOWED" : "RESULT_DENIED";
}

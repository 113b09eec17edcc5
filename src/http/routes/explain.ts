import { runInSlices } from "../../base/time-slice.ts";
import { explain } from "../../service/permissions.ts";
import type { Service } from "../../service/service.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { clientGone } from "../client-gone.ts";
import { replyInSlices } from "../large-reply.ts";
import { encodeExplanation, explainAnswer } from "../shapes/explain.ts";
import { checkBody, decodeQuestion } from "../shapes/permission.ts";

export function explainRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/permissions/explain`,
    { schema: { params: tenantParams, body: checkBody, response: { 200: explainAnswer } } },
    async ({ params, body }, reply) => {
      const signal = clientGone(reply);
      const answer = await explain(service, {
        ...decodeQuestion(params.tenant_id, body),
        signal,
        entity: body.entity,
        permission: body.permission,
        subject: body.subject,
      });
      return await replyInSlices(reply, await runInSlices(encodeExplanation(answer), signal));
    },
  );
}

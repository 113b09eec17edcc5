import { afterFirst } from "../../base/after-first.ts";
import { lookupEntity, lookupEntityStream, lookupSubject } from "../../service/lookups.ts";
import type { Service } from "../../service/service.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { clientGone } from "../client-gone.ts";
import { replyWithStreamError } from "../error-reply.ts";
import {
  decodeLookupEntity,
  decodeQuestion,
  lookupEntityAnswer,
  lookupEntityBody,
  lookupEntityStreamAnswer,
  lookupEntityStreamBody,
  lookupSubjectAnswer,
  lookupSubjectBody,
} from "../shapes/permission.ts";
import { decodePage } from "../shapes/value-fields.ts";
import { jsonLines, replyWithStream, streamAnswer } from "../stream-reply.ts";

export function lookupRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/permissions/lookup-entity`,
    {
      schema: {
        params: tenantParams,
        body: lookupEntityBody,
        response: { 200: lookupEntityAnswer },
      },
    },
    async ({ params, body }, reply) => {
      const lookup = decodeLookupEntity(params.tenant_id, body);
      const page = await lookupEntity(service, { ...lookup, signal: clientGone(reply) });
      return { entity_ids: page.entityIds, continuous_token: page.continuousToken };
    },
  );

  app.post(
    `${tenantPath}/permissions/lookup-entity-stream`,
    {
      schema: {
        params: tenantParams,
        body: lookupEntityStreamBody,
        response: { 200: streamAnswer(lookupEntityStreamAnswer, [jsonLines]) },
      },
      errorHandler: replyWithStreamError,
    },
    async (request, reply) =>
      await replyWithStream(request, reply, {
        format: jsonLines,
        open: async (signal) => {
          const { params, body } = request;
          const lookup = { ...decodeLookupEntity(params.tenant_id, body), signal };
          return await afterFirst(resultsOf(lookupEntityStream(service, lookup)));
        },
      }),
  );

  app.post(
    `${tenantPath}/permissions/lookup-subject`,
    {
      schema: {
        params: tenantParams,
        body: lookupSubjectBody,
        response: { 200: lookupSubjectAnswer },
      },
    },
    async ({ params, body }, reply) => {
      const page = await lookupSubject(service, {
        ...decodeQuestion(params.tenant_id, body),
        signal: clientGone(reply),
        ...decodePage(body),
        entity: body.entity,
        permission: body.permission,
        subjectReference: body.subject_reference,
      });
      return { subject_ids: page.subjectIds, continuous_token: page.continuousToken };
    },
  );
}

async function* resultsOf(
  groups: ReturnType<typeof lookupEntityStream>,
): AsyncGenerator<readonly object[]> {
  for await (const results of groups) {
    yield results.map(({ id, continuousToken }) => ({
      result: { entity_id: id, continuous_token: continuousToken },
    }));
  }
}

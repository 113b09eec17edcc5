import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";

import { fullCredential } from "../../auth/credential.ts";
import { must } from "../../base/assert.ts";
import { runInSlices } from "../../base/time-slice.ts";
import { apiMethods } from "../../messages/api-methods.ts";
import { mayBeLarge } from "../../messages/binary-steps.ts";
import { isJsonObject } from "../../messages/json-fault.ts";
import { decodeJson, encodeJson } from "../../messages/json.ts";
import type { CallContext, MessageCodec } from "../../messages/method.ts";
import { operationNames } from "../../messages/operations.ts";
import { permitTenantOf } from "../../messages/tenant-of.ts";
import type { Service } from "../../service/service.ts";
import type { HttpApp } from "../app.ts";
import { clientGone } from "../client-gone.ts";
import { statusBody } from "../error-body.ts";
import { replyWithStreamError } from "../error-reply.ts";
import { jsonConstraint } from "../json-form.ts";
import { replyInSlices } from "../large-reply.ts";
import { operationOf } from "../observe.ts";
import type { DescribedRoute } from "../openapi/describe-api.ts";
import { replyWithStream, type StreamFormat } from "../stream-reply.ts";

interface MessageRoute {
  Body: JsonValue | undefined;
  Querystring: JsonObject;
  Params: JsonObject;
}

type MessageRequest = FastifyRequest<MessageRoute>;

/** As gateways to gRPC send a stream. */
const envelopes: StreamFormat<JsonValue> = {
  contentType: "application/json",
  item: (result) => `${JSON.stringify({ result })}\n`,
  error: (error) => `${JSON.stringify({ error: statusBody(error) })}\n`,
};

/**
 * Serves the API on the same paths for requests that choose the canonical JSON of protobuf, by the methods
 * that gRPC serves. `routes` are those of the documented form.
 */
export function messageRoutes(
  app: HttpApp,
  service: Service,
  routes: readonly DescribedRoute[],
): void {
  const methods = new Map(
    apiMethods(service).map((one) => [must(operationNames.get(one.method), "a name"), one]),
  );
  for (const { method: verb, url } of routes) {
    const one = methods.get(operationOf({ url, method: verb }));
    if (one === undefined) continue;
    app.route<MessageRoute>({
      method: verb,
      url,
      exposeHeadRoute: false,
      constraints: { [jsonConstraint]: "protobuf" },
      config: { json: "protobuf" },
      ...(one.kind === "server_streaming" && { errorHandler: replyWithStreamError }),
      async handler(request, reply) {
        const context = contextOf(request, reply);
        const codec = codecOf(request, context);
        if (one.kind === "unary") {
          const answer = await one.answer(codec, context);
          return mayBeLarge(one.method.output) ? await replyInSlices(reply, answer) : answer;
        }
        return await replyWithStream(request, reply, {
          format: envelopes,
          open: async () => await one.answers(codec, context),
        });
      },
    });
  }
}

function contextOf({ credential }: MessageRequest, reply: FastifyReply): CallContext {
  // Without a credential, the server needs no token.
  return { signal: clientGone(reply), credential: credential ?? fullCredential() };
}

function codecOf(request: MessageRequest, context: CallContext): MessageCodec<JsonValue> {
  return {
    async read(method) {
      const decoding = decodeJson(method.input, jsonOf(request));
      const message = await runInSlices(decoding, context.signal);
      permitTenantOf(method, message, context.credential);
      return message;
    },
    write: (schema, message) => runInSlices(encodeJson(schema, message), context.signal),
  };
}

/** The fields of the request. Those in the path come before those in the body. */
function jsonOf({ method, params, query, body }: MessageRequest): JsonValue {
  const given = method === "DELETE" ? {} : (body ?? {});
  if (!isJsonObject(given)) return given;
  return { ...(method === "GET" && query), ...given, ...params };
}

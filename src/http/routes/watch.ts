import type { FastifyReply, FastifyRequest } from "fastify";

import type { SnapToken } from "../../base/tuple.ts";
import type { Service } from "../../service/service.ts";
import { watch } from "../../service/watch.ts";
import type { ChangeMessage } from "../../store/change.ts";
import type { ChangeStream } from "../../store/store.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { errorBody } from "../error-body.ts";
import { encodeMessage, watchAnswer, watchRequest } from "../shapes/watch.ts";
import { jsonLines, replyWithStream, streamAnswer, type StreamFormat } from "../stream-reply.ts";

const lines: StreamFormat<ChangeMessage> = {
  ...jsonLines,
  item: (message) => jsonLines.item(encodeMessage(message)),
};

/**
 * Server-sent events. A browser that reconnects sends the last id. The first event carries only the
 * id of the start, so that reconnecting also works before any change.
 */
const events: StreamFormat<ChangeMessage | SnapToken> = {
  contentType: "text/event-stream",
  item: (item) =>
    typeof item === "string"
      ? `id: ${item}\n\n`
      : `id: ${item.snapToken}\ndata: ${JSON.stringify(encodeMessage(item))}\n\n`,
  error: (error) => `data: ${JSON.stringify({ error: errorBody(error) })}\n\n`,
  heartbeat: ":\n\n",
};

export function watchRoutes(app: HttpApp, service: Service): void {
  const path = `${tenantPath}/watch`;
  const schema = {
    params: tenantParams,
    body: watchRequest,
    response: { 200: streamAnswer(watchAnswer, [lines, events]) },
  };

  app.get(
    path,
    // No HEAD route, because its answer would never end.
    { schema: { ...schema, querystring: watchRequest }, exposeHeadRoute: false },
    async (request, reply) => {
      const snapToken = request.body.snap_token ?? request.query.snap_token;
      return await watchReply(service, { request, reply, snapToken });
    },
  );

  app.post(path, { schema }, async (request, reply) => {
    const snapToken = request.body.snap_token;
    return await watchReply(service, { request, reply, snapToken });
  });
}

async function watchReply(
  service: Service,
  call: {
    readonly request: FastifyRequest<{ Params: { tenant_id: string } }>;
    readonly reply: FastifyReply;
    readonly snapToken: string | null | undefined;
  },
): Promise<FastifyReply> {
  const { request, reply, snapToken } = call;
  const tenantId = request.params.tenant_id;
  if (!wantsEvents(request)) {
    return await replyWithStream(request, reply, {
      format: lines,
      open: async (signal) =>
        oneByOne((await watch(service, { tenantId, snapToken, signal })).messages),
    });
  }
  const last = lastEventId(request) ?? snapToken;
  return await replyWithStream(request, reply, {
    format: events,
    open: async (signal) => fromStart(await watch(service, { tenantId, snapToken: last, signal })),
  });
}

async function* fromStart({
  start,
  messages,
}: ChangeStream): AsyncGenerator<readonly (ChangeMessage | SnapToken)[]> {
  yield [start];
  yield* oneByOne(messages);
}

/** A message may have many changes. */
async function* oneByOne(
  messages: AsyncIterable<ChangeMessage>,
): AsyncGenerator<readonly ChangeMessage[]> {
  for await (const message of messages) yield [message];
}

function wantsEvents({ headers }: FastifyRequest): boolean {
  const types = (headers.accept ?? "").split(",").map((type) => type.split(";", 1)[0]?.trim());
  return types.includes("text/event-stream");
}

/** The state that the client reached before it reconnected. */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers["last-event-id"];
  return typeof id === "string" && id !== "" ? id : undefined;
}

import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";

import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { answerOf, openGrpc, openRest } from "./connections.ts";
import { type AbuseTarget, grpcMessage, grpcPath, restRequest, tupleOf } from "./requests.ts";
import { type Count, Reopened, rounds } from "./rounds.ts";

const streamsOfTransport = 100;
const writersAtOnce = 4;
const tuplesOfWrite = 500;
/** The longest that an id may be. */
const idLength = 128;
const textLength = 1_000;

/** Opens streams of changes, reads none of them, and writes as much as it can. */
export async function watchUnread(
  target: AbuseTarget,
  count: Count,
  signal: AbortSignal,
): Promise<void> {
  const sockets = await Promise.all(
    Array.from({ length: streamsOfTransport }, async () => await watchRest(target)),
  );
  const session = await openGrpc(target);
  for (let nth = 0; nth < streamsOfTransport; nth++) watchGrpc(session, target, count);
  let written = 0;
  const writers = new Reopened(
    async () => await openRest(target),
    (socket) => !socket.destroyed,
  );
  await rounds(count, signal, {
    at: writersAtOnce,
    work: async (nth) =>
      await answerOf(
        await writers.at(nth),
        restRequest(target, "data/write", JSON.stringify(largeWrite(++written))),
      ),
  });
  for (const socket of sockets) socket.destroy();
  session.destroy();
}

async function watchRest(target: AbuseTarget): Promise<Socket> {
  const socket = await openRest(target);
  socket.write(restRequest(target, "watch", "{}"));
  socket.pause();
  return socket;
}

function watchGrpc(session: ClientHttp2Session, { tenant }: AbuseTarget, count: Count): void {
  const method = Watch.method.watch;
  const stream = session.request({
    ":method": "POST",
    ":path": grpcPath(method),
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => undefined);
  stream.on("response", (headers) => {
    if (headers["grpc-status"] !== undefined) {
      count(`stream: ${String(headers["grpc-status"])} ${String(headers["grpc-message"])}`);
    }
  });
  stream.end(grpcMessage(method, { tenantId: tenant }));
}

/** As large as the limits of values allow, each time other ones. */
function largeWrite(nth: number) {
  const long = (text: string): string => text.padEnd(idLength, "x");
  return {
    metadata: {},
    tuples: Array.from({ length: tuplesOfWrite }, (_, index) =>
      tupleOf(`document:${long(`${nth}.${index}.`)}#owner@user:${long(`${nth}.${index}.`)}`),
    ),
    attributes: Array.from({ length: tuplesOfWrite }, (_, index) => ({
      entity: { type: "document", id: long(`${nth}.${index}.`) },
      attribute: "title",
      value: { "@type": "base.v1.StringValue", data: "x".repeat(textLength) },
    })),
  };
}

import { setTimeout as wait } from "node:timers/promises";

import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { answerOf, openGrpc, openRest, statusOf } from "./connections.ts";
import {
  type AbuseTarget,
  grpcCheck,
  grpcMessage,
  grpcPath,
  restHead,
  restRequest,
  sceneCheck,
} from "./requests.ts";
import { type Count, Reopened, rounds } from "./rounds.ts";

const heldAtOnce = 10_000;

/** So many are opened at a time: more would fill the queue of the system for new ones. */
const openingAtOnce = 200;

/** Opens connections that each ask once and are then idle; those that are closed are opened anew. */
export async function holdConnections(
  target: AbuseTarget,
  count: Count,
  signal: AbortSignal,
): Promise<void> {
  const check = restRequest(target, "permissions/check", JSON.stringify(sceneCheck));
  await hold(count, signal, async () => {
    const socket = await openRest(target);
    count(await answerOf(socket, check));
    return { isOpen: () => !socket.destroyed };
  });
}

/** The same over gRPC. */
export async function holdSessions(
  target: AbuseTarget,
  count: Count,
  signal: AbortSignal,
): Promise<void> {
  const method = Permission.method.check;
  const message = grpcMessage(method, grpcCheck(target.tenant));
  await hold(count, signal, async () => {
    const session = await openGrpc(target);
    count(await statusOf(session, grpcPath(method), message));
    return { isOpen: () => !session.destroyed && !session.closed };
  });
}

async function hold(
  count: Count,
  signal: AbortSignal,
  open: () => Promise<{ isOpen(): boolean }>,
): Promise<void> {
  let next = 0;
  const held: ({ isOpen(): boolean } | undefined)[] = Array.from({ length: heldAtOnce });
  const keepOpen = async (): Promise<void> => {
    while (!signal.aborted) {
      const nth = next++ % heldAtOnce;
      if (nth === 0 && next > 1) await wait(1_000);
      if (held[nth]?.isOpen() === true) continue;
      held[nth] = await open().catch((error: unknown) => {
        count(`not opened: ${String(error).slice(0, 60)}`);
        return undefined;
      });
    }
  };
  await Promise.all(Array.from({ length: openingAtOnce }, keepOpen));
  count(`open at the end: ${held.filter((each) => each?.isOpen() === true).length}`);
}

/** How long the last bytes of a body are apart. */
const trickleMs = 1_000;
const trickledBytes = 30;

/** Sends bodies whose end comes byte by byte, on a connection each. */
export async function trickleBodies(
  target: AbuseTarget,
  count: Count,
  signal: AbortSignal,
  { at, bytes }: { readonly at: number; readonly bytes: number },
): Promise<void> {
  const empty = Buffer.from(`{"metadata":{}}`.padEnd(bytes, " "));
  const begin = Buffer.concat([
    restHead(target, "data/write", bytes),
    empty.subarray(0, bytes - trickledBytes),
  ]);
  const sockets = new Reopened(
    async () => await openRest(target),
    (socket) => !socket.destroyed && socket.writable,
  );
  await rounds(count, signal, {
    at,
    work: async (nth) => {
      const socket = await sockets.at(nth);
      const timer = setInterval(() => socket.write(" "), trickleMs);
      try {
        return await answerOf(socket, begin);
      } finally {
        clearInterval(timer);
        // What it sent after a refusal would be taken for another request.
        socket.destroy();
      }
    },
  });
}

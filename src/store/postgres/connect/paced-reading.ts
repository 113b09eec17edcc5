import type { Duplex } from "node:stream";

import { loopRound } from "../../../base/loop-round.ts";
import { TimeSlice } from "../../../base/time-slice.ts";

/** Of bytes that come in a round of the event loop. Fewer of them are the end of an answer, or a small one. */
const longReadBytes = 32_768;

/**
 * What comes in the clear comes in large chunks. Over TLS a chunk is what the server encrypted at once: 8 KiB, and 4 KiB
 * behind a pooler. So a smaller one is not looked at.
 */
const chunkBytes = 4_096;

/**
 * Lets a socket read until the time slice of the round of the event loop is over, and then waits for a turn. The
 * loop reads up to two megabytes of each socket in a round, which the driver takes apart at once: those of ten
 * sockets would hold it for too long.
 */
export function readInSlices(socket: Duplex): void {
  let last = { round: -1, bytes: 0 };
  socket.on("data", ({ length }: Buffer) => {
    if (length < chunkBytes) return;
    const round = loopRound();
    const bytes = round === last.round ? last.bytes + length : length;
    last = { round, bytes };
    if (bytes < longReadBytes) return;
    const slice = TimeSlice.begin();
    if (slice.isOver) void wait(socket, slice);
  });
}

async function wait(socket: Duplex, slice: TimeSlice): Promise<void> {
  socket.pause();
  await slice.renew(undefined);
  socket.resume();
}

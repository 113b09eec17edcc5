import type { Duplex } from "node:stream";

import { TimeSlice } from "../../../base/time-slice.ts";

/** Of bytes that come at once. Fewer of them are the end of an answer, or a small one. */
const longReadBytes = 32_768;

/**
 * Lets a socket read until the time slice of the round of the event loop is over, and then waits for a turn. The
 * loop reads up to two megabytes of each socket in a round, which the driver takes apart at once: those of ten
 * sockets would hold it for too long.
 */
export function readInSlices(socket: Duplex): void {
  socket.on("data", ({ length }: Buffer) => {
    if (length < longReadBytes) return;
    const slice = TimeSlice.begin();
    if (slice.isOver) void wait(socket, slice);
  });
}

async function wait(socket: Duplex, slice: TimeSlice): Promise<void> {
  socket.pause();
  await slice.renew(undefined);
  socket.resume();
}

import { holdFor } from "../intake/held.ts";
import { type Intake, largeBytes } from "../intake/intake.ts";
import type { HttpApp } from "./app.ts";
import { tenantOf } from "./take-in.ts";

/** Counts large answers until they have gone, and closes connections of which too much is not read. */
export function limitUnread(app: HttpApp, { unread }: Intake): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    const bytes = lengthOf(payload);
    if (bytes > largeBytes) {
      const { socket } = request.raw;
      holdFor(reply.raw, unread.add(tenantOf(request), { bytes, cut: () => socket.destroy() }));
    }
    done();
  });
}

/** Of streams nothing more is read while the client does not. */
function lengthOf(payload: unknown): number {
  return typeof payload === "string" || Buffer.isBuffer(payload) ? payload.length : 0;
}

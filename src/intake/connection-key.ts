import type { Socket } from "node:net";

/** A key that a connection shares with the TLS socket on it, which is another object. */
export function connectionKey(
  socket: Pick<Socket, "remoteAddress" | "remotePort" | "localAddress">,
): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
}

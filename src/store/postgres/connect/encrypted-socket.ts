import { once } from "node:events";
import { isIP, type Socket } from "node:net";
import { connect } from "node:tls";

import { coded } from "./driver-error.ts";
import type { DriverTarget } from "./driver-target.ts";

/** Asks the server whether it encrypts: its length and its code, in the place of a version. */
const sslRequest = Buffer.from("0000000804d2162f", "hex");

/**
 * A connected socket, encrypted as `ssl` says. With `isDirect` the server is not asked whether it encrypts. Fails as
 * TLS does, or with `CONNECTION_CLOSED` as code.
 */
export async function encryptedSocket(
  socket: Socket,
  ssl: DriverTarget["ssl"],
  { host, isDirect }: { readonly host: string | undefined; readonly isDirect: boolean },
): Promise<Socket> {
  if (ssl === false) return socket;
  if (!isDirect && !(await encrypts(socket))) {
    if (ssl === "prefer") return socket;
    throw coded("CONNECTION_CLOSED", "the server does not encrypt connections");
  }
  const encrypted = connect({
    socket,
    // A server is asked by a name, and an address is none.
    ...(host !== undefined && isIP(host) === 0 && { servername: host }),
    ...(isDirect && { ALPNProtocols: ["postgresql"] }),
    ...(typeof ssl === "string" ? { rejectUnauthorized: false } : ssl),
  });
  await once(encrypted, "secureConnect");
  return encrypted;
}

async function encrypts(socket: Socket): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const closed = (): void =>
    reject(coded("CONNECTION_CLOSED", "the server closed the connection before it was open"));
  socket.once("data", (answer: Buffer) => resolve(answer.toString("latin1")));
  socket.once("error", reject).once("close", closed);
  socket.write(sslRequest);
  try {
    const answer = await promise;
    if (answer === "S" || answer === "N") return answer === "S";
    // A server says nothing more before it encrypts: the rest would be of another one, in the clear.
    throw coded("CONNECTION_CLOSED", "the server does not answer as Postgres does");
  } finally {
    socket.removeAllListeners();
  }
}

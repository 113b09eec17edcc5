import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { must } from "../../src/base/assert.ts";
import type { Ask } from "../measure.ts";
import type { Transport } from "./client.ts";
import type { LightConnection } from "./light-connection.ts";
import { askOverGrpc } from "./light-grpc.ts";
import { askOverRest } from "./light-rest.ts";

/** Opens connections one after the other. */
export async function connectLight(
  transport: Transport,
  server: { readonly url: string; readonly grpc: string },
  count: number,
): Promise<readonly LightConnection[]> {
  const address = transport === "rest" ? new URL(server.url).host : server.grpc;
  const askOver = transport === "rest" ? askOverRest : askOverGrpc;
  const connections: LightConnection[] = [];
  while (connections.length < count) {
    connections.push(askOver(await connectSocket(address), address));
  }
  return connections;
}

/** Asks so many questions at most at once, as many on each connection; over REST one on each. */
export function askOn(connections: readonly LightConnection[], inFlight: number): Ask {
  const onEach = Math.ceil(inFlight / connections.length);
  const free = Array.from({ length: onEach }, () => connections).flat();
  return async (question) => {
    const connection = must(free.shift(), "no more questions are under way");
    try {
      return await connection.ask(question);
    } finally {
      free.push(connection);
    }
  };
}

/** `address` is host and port. Small packets are sent at once. */
async function connectSocket(address: string): Promise<Socket> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  return socket;
}

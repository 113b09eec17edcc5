import type { Client } from "./client.ts";
import { connectGrpc } from "./grpc.ts";
import { connectRest } from "./rest.ts";

/** A client of each transport of one server. */
export interface BothClients {
  readonly rest: Client;
  readonly grpc: Client;
  readonly close: () => Promise<void>;
}

/** @param connections of REST; gRPC has one */
export function connectBoth(
  server: { readonly url: string; readonly grpc: string },
  connections: number,
): BothClients {
  const rest = connectRest(server.url, connections);
  const grpc = connectGrpc(server.grpc);
  return {
    rest,
    grpc,
    close: async () => {
      await rest.close();
      await grpc.close();
    },
  };
}

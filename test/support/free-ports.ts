import { once } from "node:events";
import { createServer } from "node:net";

/** Ports of this machine on which nobody listens yet. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  return await Promise.all(
    servers.map(async (server) => {
      await once(server, "listening");
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close();
      return port;
    }),
  );
}

import { once } from "node:events";
import { createServer } from "node:net";

/** Free ports of this machine. */
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

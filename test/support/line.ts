import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A way to a database server that can be broken, or lead to another server. */
export interface Line {
  readonly url: string;
  /** Breaks all connections, and refuses new ones. */
  readonly cut: () => Promise<void>;
  /** Passes nothing on any more, and says nothing of it: over the connections that there are, or any. */
  readonly silence: (which: "present" | "all") => void;
  /** Lets connections through again, to the server of the address if one is given. */
  readonly mend: (target?: string) => Promise<void>;
}

/** A line to the server of an address; it is cut when the test ends. */
export async function openLine(t: TestContext, address: string): Promise<Line> {
  let target = new URL(address);
  let isSilent = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [near, far].forEach((end) => end.destroy()));
    }
    if (!isSilent) near.pipe(far).pipe(near);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const cut = async (): Promise<void> => {
    const isClosed = server.listening ? once(server, "close") : undefined;
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await isClosed;
  };
  t.after(cut);
  await listen(0);
  const place = server.address();
  assert.ok(typeof place === "object" && place !== null);
  const url = new URL(address);
  url.hostname = "127.0.0.1";
  url.port = String(place.port);
  return {
    url: url.href,
    cut,
    silence: (which) => {
      isSilent = which === "all";
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: async (other) => {
      if (other !== undefined) target = new URL(other);
      await listen(place.port);
    },
  };
}

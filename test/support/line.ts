import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

import { freePort } from "./free-ports.ts";

/** A route to a database server that can be broken, or lead to another server. */
export interface Line {
  readonly url: string;
  /** Breaks all connections, and refuses new ones. */
  readonly cut: () => Promise<void>;
  /** Breaks all connections, and each new one, as a proxy does whose server is away: as it is made, or begins. */
  readonly hangUp: (when: "made" | "begun") => void;
  /** Breaks the one of the present connections that was made first; `reset`: as a system that does not know it. */
  readonly cutOldest: (how?: "reset") => void;
  /**
   * Passes nothing on any more, or no answers, and says nothing of it: over the connections that there
   * are, those that are made from now on, or any.
   */
  readonly silence: (which: "present" | "new" | "all", what?: Silence) => void;
  /** Has each connection that is made from now on fall silent when the text is sent over it, which is lost. */
  readonly silenceAt: (text: string) => void;
  /** How many connections there are. */
  readonly connections: () => number;
  /** Lets connections through again, to the server of the address if one is given. */
  readonly mend: (target?: string) => Promise<void>;
}

type Silence = "everything" | "answers";

/** A line to the server of an address; it is cut when the test ends. */
export async function openLine(t: TestContext, address: string): Promise<Line> {
  let target = new URL(address);
  let silenceOfNew: Silence | undefined;
  let lastText: string | undefined;
  let hangsUp: "made" | "begun" | undefined;
  const sockets = new Set<Socket>();
  const ends = new Map<Socket, Socket>();
  const server = createServer((near) => {
    if (hangsUp !== undefined) {
      near.on("error", () => {});
      if (hangsUp === "made") near.destroy();
      else near.once("data", () => near.end());
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [near, far].forEach((end) => end.destroy()));
    }
    if (silenceOfNew !== "everything") {
      if (lastText === undefined) near.pipe(far);
      else passUntil(lastText, near, far);
    }
    if (silenceOfNew === undefined) far.pipe(near);
    ends.set(near, far);
    near.on("close", () => ends.delete(near));
  });
  // It stays the port of this line while the line is cut.
  const port = await freePort();
  const listen = async (): Promise<void> => {
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
  await listen();
  const url = new URL(address);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    url: url.href,
    cut,
    hangUp: (when) => {
      hangsUp = when;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    cutOldest: (how) => {
      const [oldest] = ends.keys();
      if (how === "reset") oldest?.resetAndDestroy();
      else oldest?.destroy();
    },
    connections: () => ends.size,
    silenceAt: (text) => {
      lastText = text;
    },
    silence: (which, what = "everything") => {
      silenceOfNew = which === "present" ? undefined : what;
      if (which === "new") return;
      for (const [near, far] of ends) {
        far.unpipe().pause();
        if (what === "everything") near.unpipe().pause();
      }
    },
    mend: async (other) => {
      silenceOfNew = undefined;
      lastText = undefined;
      hangsUp = undefined;
      if (other !== undefined) target = new URL(other);
      if (!server.listening) await listen();
    },
  };
}

function passUntil(text: string, near: Socket, far: Socket): void {
  near.on("data", (chunk: Buffer) => {
    if (chunk.includes(text)) near.removeAllListeners("data").pause();
    else far.write(chunk);
  });
}

import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Systems hand out ports from 32768 or later. No other program is given one of these while a server
 * has not started yet, or is away for a while.
 */
const portMin = 11_000;
const portMax = 32_767;

/** What this process was given. */
const given = new Set<number>();

/** A port of this machine that nothing listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(portMin, portMax + 1);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

/** Different ones. */
export async function freePorts(count: number): Promise<readonly number[]> {
  return await Promise.all(Array.from({ length: count }, freePort));
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
    throw error;
  }
  server.close();
  await once(server, "close");
  return true;
}

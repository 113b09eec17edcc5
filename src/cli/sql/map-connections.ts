import { openRoute } from "../../store/postgres/connect/connection-route.ts";
import type { Connection } from "../../store/postgres/connect/connection.ts";

const connectTimeoutMs = 30_000;

/** Runs work on two connections: one that holds a state, and one that changes. */
export async function onTwoConnections<T>(
  url: string,
  work: (reading: Connection, changing: Connection) => Promise<T>,
): Promise<T> {
  const { first, open } = await openRoute({ url, timeoutMs: connectTimeoutMs, warn: () => {} });
  try {
    const second = await open();
    try {
      return await work(first, second);
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

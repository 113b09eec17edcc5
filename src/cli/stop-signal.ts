import { once } from "node:events";

/** Resolves with the first signal to stop. A second one ends the process as it does any other. */
export async function stopSignal(): Promise<string> {
  const heard = new AbortController();
  const signals = ["SIGTERM", "SIGINT"].map(async (signal) => {
    await once(process, signal, { signal: heard.signal });
    return signal;
  });
  try {
    return await Promise.race(signals);
  } finally {
    heard.abort();
  }
}

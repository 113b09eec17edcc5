import { once } from "node:events";
import { constants } from "node:os";

const stopSignals = ["SIGTERM", "SIGINT"] as const;

/** Resolves with the first stop signal. A second one ends the process at once. */
export async function stopSignal(): Promise<string> {
  const heard = new AbortController();
  const signals = stopSignals.map(async (signal) => {
    await once(process, signal, { signal: heard.signal });
    return signal;
  });
  try {
    return await Promise.race(signals);
  } finally {
    heard.abort();
    // Explicitly, because the first process of a container ignores signals without a listener.
    for (const signal of stopSignals) {
      process.once(signal, () => process.exit(128 + constants.signals[signal]));
    }
  }
}

import { once } from "node:events";
import { constants } from "node:os";

import { complain } from "./output.ts";

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

/**
 * Disables signals that would harm a running process: one opens the debugger to all local users,
 * the other ends the process during its work.
 */
export function ignoreSignals(): void {
  for (const signal of ["SIGUSR1", "SIGUSR2"] as const) process.on(signal, () => {});
}

/**
 * Ends the process with status 1 if an error is not caught, because the state is then unknown.
 * Prints a line with the error and its position.
 */
export function endOnFault(): void {
  process.on("uncaughtException", (fault) => {
    const text = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    process.exit(
      complain(
        `pemba ended because of a fault in the program: ${text.replaceAll(/\s*\n\s*/g, " ")}`,
      ),
    );
  });
}

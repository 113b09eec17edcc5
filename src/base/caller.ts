import { AsyncLocalStorage } from "node:async_hooks";

const signals = new AsyncLocalStorage<AbortSignal>();

/** Does work for a caller, who has left or given up once the signal is aborted. */
export function forCaller<T>(signal: AbortSignal, work: () => T): T {
  return signals.run(signal, work);
}

/** The signal of the caller whose work is under way: what waits for its turn waits for nobody then. */
export function callerSignal(): AbortSignal | undefined {
  return signals.getStore();
}

import { AsyncResource } from "node:async_hooks";

/**
 * The context of the work that makes it: its caller, and its trace. A snapshot of `AsyncLocalStorage` is the same, and
 * takes 4 µs in place of 0.2.
 */
export class AsyncContext {
  readonly #resource = new AsyncResource("AsyncContext");

  /** Does work in the context. */
  run<T>(work: () => T): T {
    return this.#resource.runInAsyncScope(work);
  }
}

/** Of no request: it is made as this file is loaded. */
const outside = new AsyncContext();

/**
 * Does work in no caller's name and in no trace: work that goes on for others when the request that begins it is
 * over.
 */
export function outsideRequests<T>(work: () => T): T {
  return outside.run(work);
}

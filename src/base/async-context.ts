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

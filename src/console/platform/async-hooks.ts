/** Stands in for Node's: in the browser no work has a caller that could leave. */
export class AsyncLocalStorage<T> {
  getStore(): T | undefined {
    return undefined;
  }

  run<R>(_store: T, work: () => R): R {
    return work();
  }
}

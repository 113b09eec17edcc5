/*
 * Loaded before each test file. Node's runner must know which test an error belongs to, also a late one. For this it
 * listens to the begin and the end of every promise and every other resource of the process (`async_hooks`), which
 * takes an eighth of the processor time of a run. The context that Node keeps for each of them anyway
 * (`AsyncLocalStorage`) says the same: while the runner is loaded, it gets parts of `async_hooks` that look there. A
 * runner that does not take these parts is not changed.
 */
import asyncHooks, {
  AsyncLocalStorage,
  AsyncResource,
  type AsyncResourceOptions,
  executionAsyncId,
  type HookCallbacks,
} from "node:async_hooks";

/** The test whose code runs, by its number. */
const current = new AsyncLocalStorage<number>();

let callbacks: HookCallbacks | undefined;

/** What the tests of the runner are made of. */
class Scope extends AsyncResource {
  constructor(type: string, options?: number | AsyncResourceOptions) {
    super(type, options);
    callbacks?.init?.(this.asyncId(), type, this.triggerAsyncId(), this);
  }

  override runInAsyncScope<This, Result>(
    work: (this: This, ...args: unknown[]) => Result,
    self: This,
    ...args: unknown[]
  ): Result {
    // Inside, as this brings back the context in which the test was made.
    return super.runInAsyncScope(() =>
      current.run(this.asyncId(), () => Reflect.apply(work, self, args)),
    );
  }
}

const given = {
  AsyncResource: Scope,
  executionAsyncId: () => current.getStore() ?? executionAsyncId(),
  createHook: (wanted: HookCallbacks) => {
    callbacks = wanted;
    return { enable: () => {}, disable: () => {} };
  },
};

const own = { ...asyncHooks };
for (const [name, part] of Object.entries(given)) Reflect.set(asyncHooks, name, part);
await import("node:test");
for (const name of Object.keys(given)) Reflect.set(asyncHooks, name, Reflect.get(own, name));

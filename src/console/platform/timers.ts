import { setImmediate as callNext } from "./immediate.ts";

/** Stands in for Node's, without a signal: nothing of the page waits for one. */
export async function setTimeout<T>(milliseconds: number, value?: T): Promise<T | undefined> {
  return await new Promise((resolve) => {
    globalThis.setTimeout(() => resolve(value), milliseconds);
  });
}

/** Resolves after what waits already. */
export async function setImmediate(): Promise<void> {
  await new Promise<void>((resolve) => callNext(resolve));
}

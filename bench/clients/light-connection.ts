import type { Ask } from "../measure.ts";

/**
 * One connection that asks checks as the first tenant, and takes as little processor time as it can: the
 * bytes of a request are made once for each question, and of an answer only the result is read.
 */
export interface LightConnection {
  readonly ask: Ask;
  readonly close: () => void;
}

/** What is made once for each key, such as the bytes of a question. */
export function keptFor<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const kept = new WeakMap<K, V>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = make(key);
    kept.set(key, made);
    return made;
  };
}

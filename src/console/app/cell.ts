import { useEffect, useState } from "preact/hooks";

/** A value that views follow. */
export class Cell<T> {
  #value: T;
  readonly #followers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const follower of this.#followers) follower();
  }

  /** Calls `follower` after each change. Returns what ends that. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }
}

/** The value of a cell, for a component that is drawn again when it changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [value, setValue] = useState(cell.value);
  useEffect(() => {
    const take = (): void => setValue(() => cell.value);
    take();
    return cell.follow(take);
  }, [cell]);
  return value;
}

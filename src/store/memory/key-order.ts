import { compareTexts, mergeInSteps, sortInSteps } from "../../base/sort-steps.ts";
import { Pace, type Steps } from "../../base/steps.ts";

/** So many that have come or gone are never too many. */
const slack = 1_000;

/**
 * The keys of a map in their order, for reads that go through all of them page by page. They are sorted
 * when a read first asks for them; those that came since are merged in by the next read. It forgets them
 * when many others have come or many have gone, so that it holds no more than the map does.
 */
export class KeyOrder {
  readonly #map: ReadonlyMap<string, unknown>;
  #sorted: readonly string[] | undefined;
  /** Keys that came since these were sorted. Undefined while no read wants to know. */
  #added: string[] | undefined;
  #gone = 0;

  constructor(map: ReadonlyMap<string, unknown>) {
    this.#map = map;
  }

  /** To be called when the map has got a key. */
  added(key: string): void {
    if (this.#added === undefined) return;
    this.#added.push(key);
    if (this.#added.length > this.#map.size / 2 + slack) this.#forget();
  }

  /** To be called when the map has lost a key. */
  removed(): void {
    if (this.#added === undefined) return;
    this.#gone += 1;
    if (this.#gone > this.#map.size / 2 + slack) this.#forget();
  }

  /** The keys from this one on, without repeats; some may have gone. */
  *from(first: string): Steps<Iterable<string>> {
    const keys = yield* this.#inOrder();
    return keysFrom(keys, first);
  }

  /** Those that come meanwhile are left to the next one who asks. */
  *#inOrder(): Steps<readonly string[]> {
    const before = this.#sorted;
    const added = (this.#added ??= []);
    const count = added.length;
    if (before !== undefined && count === 0) return before;
    const unsorted = before === undefined ? yield* this.#keys() : added.slice(0, count);
    const come = yield* sortInSteps(unsorted, compareTexts);
    const sorted = before === undefined ? come : yield* mergeInSteps(before, come, compareTexts);
    if (this.#sorted === before && this.#added === added) {
      this.#sorted = sorted;
      this.#added = added.slice(count);
    }
    return sorted;
  }

  *#keys(): Steps<readonly string[]> {
    const pace = new Pace();
    const keys: string[] = [];
    for (const key of this.#map.keys()) {
      if (pace.step()) yield;
      keys.push(key);
    }
    return keys;
  }

  #forget(): void {
    this.#sorted = undefined;
    this.#added = undefined;
    this.#gone = 0;
  }
}

function* keysFrom(keys: readonly string[], first: string): Iterable<string> {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTexts(keys[middle] ?? "", first) < 0) low = middle + 1;
    else high = middle;
  }
  let last: string | undefined;
  for (let index = low; index < keys.length; index += 1) {
    const key = keys[index];
    if (key !== undefined && key !== last) yield key;
    last = key;
  }
}

/** What a page wants to see of items that are ordered by an id first. */
export interface PageVisitor<T> {
  /** Items with a lesser id are not on the page. */
  readonly firstId: string;
  readonly take: (item: T) => void;
  /** Whether items with a greater id than those that it took are not on the page. */
  readonly hasEnough: () => boolean;
}

/** The values of the ids, which ascend, as far as the page needs them. */
export function* ofIds<V>(
  map: ReadonlyMap<string, V>,
  ids: Iterable<string>,
  { hasEnough }: Pick<PageVisitor<unknown>, "hasEnough">,
): Iterable<V> {
  for (const id of ids) {
    if (hasEnough()) return;
    const value = map.get(id);
    if (value !== undefined) yield value;
  }
}

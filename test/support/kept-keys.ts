import type { TestContext } from "node:test";

/** Watches maps, those inside of caches included, until the test ends: gives the texts they hold now. */
export function watchKeys(context: TestContext): () => readonly string[] {
  const used: (readonly [map: Map<unknown, unknown>, key: string])[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the map it is meant for.
  const { set } = Map.prototype;
  context.mock.method(
    Map.prototype,
    "set",
    function watched(this: Map<unknown, unknown>, key: unknown, value: unknown) {
      if (typeof key === "string") used.push([this, key]);
      return set.call(this, key, value);
    },
  );
  return () => used.filter(([map, key]) => map.has(key)).map(([, key]) => key);
}

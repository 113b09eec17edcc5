import type { Telemetry } from "../base/telemetry.ts";
import type { GarbageCollectionOptions, GarbagePass } from "./garbage-collection.ts";

/** Has collections of history told. Returns who is to be told of each pass. */
export function observeGarbage(
  { add, observe }: Pick<Telemetry, "add" | "observe">,
  { windowMs }: Pick<GarbageCollectionOptions, "windowMs">,
): (pass: GarbagePass) => void {
  let began: number | undefined;
  // Where no pass comes to its end, that is known as well.
  let ended = performance.now();
  const since = (time: number | undefined, more: number) =>
    time === undefined ? [] : [{ value: (performance.now() - time + more) / 1_000, labels: {} }];
  observe("pemba.history.horizon.age", () => since(began, windowMs));
  observe("pemba.history.collected.age", () => since(ended, 0));
  return ({ removed, isComplete, milliseconds }) => {
    add("pemba.history.removed", removed, {});
    began = performance.now() - milliseconds;
    if (isComplete) ended = performance.now();
  };
}

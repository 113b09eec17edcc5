import type { Steps } from "../base/steps.ts";
import type { Comprehension, ConditionTree, Transform } from "./tree.ts";
import { fault, isFault, listValue, typeOf } from "./value.ts";
import type { Fault, Outcome, Value } from "./value.ts";

/** Evaluates a part of the rule with the variable of the comprehension set to a value. */
type Run = (part: ConditionTree, value: Value) => Steps<Outcome>;

/**
 * Evaluates `all`, `exists`, `exists_one` and `filter` over the elements of a list or the keys of a
 * map.
 */
export function* comprehend(node: Comprehension, range: Outcome, run: Run): Steps<Outcome> {
  const items = itemsOf(range);
  if ("kind" in items) return items;
  const test = (value: Value): Steps<boolean | Fault> => verdict(node.predicate, run, value);
  switch (node.macro) {
    case "all":
      return yield* quantify(items, test, false);
    case "exists":
      return yield* quantify(items, test, true);
    case "exists_one": {
      const met = yield* meeting(items, test);
      return "kind" in met ? met : met.length === 1;
    }
    case "filter": {
      const met = yield* meeting(items, test);
      return "kind" in met ? met : listValue(met);
    }
  }
}

/** Evaluates `map`: the results for all elements, or for those that match the predicate. */
export function* transform(node: Transform, range: Outcome, run: Run): Steps<Outcome> {
  const items = itemsOf(range);
  if ("kind" in items) return items;
  const results: Value[] = [];
  for (const item of items) {
    if (node.predicate !== undefined) {
      const met = yield* verdict(node.predicate, run, item);
      if (typeof met !== "boolean") return met;
      if (!met) continue;
    }
    const result = yield* run(node.result, item);
    if (isFault(result)) return result;
    results.push(result);
  }
  return listValue(results);
}

/** An element that decides the result takes precedence over a fault in another element. */
function* quantify(
  items: readonly Value[],
  test: (value: Value) => Steps<boolean | Fault>,
  deciding: boolean,
): Steps<Outcome> {
  let first: Fault | undefined;
  for (const item of items) {
    const met = yield* test(item);
    if (met === deciding) return deciding;
    if (typeof met !== "boolean") first ??= met;
  }
  return first ?? !deciding;
}

function* meeting(
  items: readonly Value[],
  test: (value: Value) => Steps<boolean | Fault>,
): Steps<readonly Value[] | Fault> {
  const found: Value[] = [];
  for (const item of items) {
    const met = yield* test(item);
    if (typeof met !== "boolean") return met;
    if (met) found.push(item);
  }
  return found;
}

function itemsOf(range: Outcome): readonly Value[] | Fault {
  if (isFault(range)) return range;
  if (typeof range === "object" && range !== null) {
    if (range.kind === "list") return range.items;
    if (range.kind === "map") return [...range.keys()];
  }
  return fault(`expected a list or a map, found ${typeOf(range)}`);
}

function* verdict(predicate: ConditionTree, run: Run, value: Value): Steps<boolean | Fault> {
  const outcome = yield* run(predicate, value);
  if (typeof outcome === "boolean" || isFault(outcome)) return outcome;
  return { ...fault(`expected a boolean, found ${typeOf(outcome)}`), node: predicate };
}

import assert from "node:assert/strict";
import { test } from "node:test";

import { runThrough, type Steps } from "../../src/base/steps.ts";
import { AttributeIndex } from "../../src/store/memory/attribute-index.ts";
import { KeyOrder } from "../../src/store/memory/key-order.ts";
import { TupleIndex } from "../../src/store/memory/tuple-index.ts";
import { dice } from "../support/dice.ts";
import { tuple } from "./engines.ts";
import { attributeFilter, tupleFilter } from "./filters.ts";

/** A map whose keys come and go, and their order. */
function makeOrdered() {
  const map = new Map<string, true>();
  const order = new KeyOrder(map);
  return {
    map,
    order,
    add: (key: string) => {
      if (!map.has(key)) order.added(key);
      map.set(key, true);
    },
    remove: (key: string) => {
      if (map.delete(key)) order.removed();
    },
    /** What a read finds from a key on. */
    from: (first: string): readonly string[] =>
      [...runThrough(order.from(first))].filter(isKey(map)),
  };
}

function isKey(map: ReadonlyMap<string, true>): (key: string) => boolean {
  return (key) => map.has(key);
}

test("random keys that come and go are found in their order, from any key on", () => {
  const { upTo, happens } = dice(1);
  const ordered = makeOrdered();
  for (let step = 0; step < 20_000; step++) {
    const key = `k${upTo(5_000)}`;
    if (happens(0.001)) {
      const found = ordered.from(key);
      const expected = [...ordered.map.keys()].filter((one) => one >= key).toSorted();
      assert.deepEqual(found, expected);
    } else if (happens(step % 4_000 < 2_000 ? 0.8 : 0.2)) ordered.add(key);
    else ordered.remove(key);
  }
});

test("keys that come while others are sorted are found by the next read, once", () => {
  const ordered = makeOrdered();
  for (let nth = 0; nth < 5_000; nth++) ordered.add(`k${nth}`);
  for (const before of ["first", "again"]) {
    const sorting: Steps<Iterable<string>>[] = [ordered.order.from(""), ordered.order.from("")];
    ordered.add(`${before} 1`);
    for (const one of sorting) one.next();
    ordered.add(`${before} 2`);
    ordered.remove("k7");
    for (const one of sorting) runThrough(one);
    assert.deepEqual(ordered.from(""), [...ordered.map.keys()].toSorted());
    ordered.add("k7");
    assert.deepEqual(ordered.from("k7").at(0), "k7");
  }
});

test("keys are sorted once, not by each read", () => {
  const ordered = makeOrdered();
  for (let nth = 0; nth < 50_000; nth++) ordered.add(`k${nth}`);
  assert.ok(stepsOf(ordered.order.from("k3")) > 100);
  assert.ok(stepsOf(ordered.order.from("k5")) === 1);
});

function stepsOf(steps: Steps<unknown>): number {
  let count = 1;
  while (steps.next().done !== true) count += 1;
  return count;
}

test("a page of all that a tenant has looks at no more than it shows", () => {
  const tuples = new TupleIndex();
  const attributes = new AttributeIndex();
  const value = { type: "boolean", data: true } as const;
  for (let nth = 0; nth < 1_000; nth++) {
    const created = tuple(`doc:${1_000 + nth}#owner@user:ada`);
    tuples.create(created, { revision: 1 });
    attributes.set({ entity: created.entity, attribute: "public", value }, { revision: 1 });
  }
  const seen: string[] = [];
  const page = {
    firstId: "1500",
    hasEnough: () => seen.length === 3,
    take: ({ entity: { id } }: { readonly entity: { readonly id: string } }) => seen.push(id),
  };
  runThrough(tuples.visit(tupleFilter({}), 1, page));
  assert.deepEqual(seen.splice(0), ["1500", "1501", "1502"]);
  runThrough(attributes.visit(attributeFilter({}), 1, page));
  assert.deepEqual(seen, ["1500", "1501", "1502"]);
});

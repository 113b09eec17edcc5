import assert from "node:assert/strict";
import { test } from "node:test";

import { type BatchLimits, batchWriter } from "../../src/cli/import-batch.ts";
import type { WriteOutcome } from "../../src/cli/import-client.ts";
import type { Element } from "../../src/cli/import-line.ts";

function element(line: number, given: Partial<Element> = {}): Element {
  const json = `{"line":${line}}`;
  return { kind: "tuple", place: { file: "f", line }, json, key: `key ${line}`, ...given };
}

/** Runs the elements through a writer and tells what was sent and what became of each. */
async function run(
  elements: readonly Element[],
  answer: (lines: readonly number[]) => WriteOutcome = () => ({ kind: "accepted" }),
  limits: BatchLimits = { elements: 100, bytes: 10_000 },
): Promise<{
  sent: (readonly number[])[];
  accepted: number;
  refused: number[];
  duplicates: number;
}> {
  const seen = { sent: [] as (readonly number[])[], accepted: 0, refused: [] as number[] };
  const writer = batchWriter({
    limits,
    send: async (batch) => {
      const lines = batch.map(({ place }) => place.line);
      seen.sent.push(lines);
      return answer(lines);
    },
    accepted: (count) => (seen.accepted += count),
    refused: ({ place }) => seen.refused.push(place.line),
  });
  let duplicates = 0;
  for (const one of elements) if ((await writer.add(one)) === "duplicate") duplicates += 1;
  await writer.flush();
  return { ...seen, duplicates };
}

const refusedAt = (...indexes: readonly number[]): WriteOutcome => ({
  kind: "refused",
  message: "no",
  reasons: new Map(indexes.map((index) => [index, "no"])),
});

test("a batch is sent when it is full, and what is left at the end", async () => {
  const elements = [1, 2, 3, 4, 5].map((line) => element(line));
  const { sent, accepted } = await run(elements, undefined, { elements: 2, bytes: 1_000 });
  assert.deepEqual(sent, [[1, 2], [3, 4], [5]]);
  assert.equal(accepted, 5);
});

test("a batch is sent before it grows beyond its bytes, also when one element does alone", async () => {
  const elements = [element(1), element(2, { json: "x".repeat(99) }), element(3), element(4)];
  const { sent } = await run(elements, undefined, { elements: 10, bytes: 30 });
  assert.deepEqual(sent, [[1], [2], [3, 4]]);
});

test("the elements that a refusal names are reported, and the others are sent again", async () => {
  const { sent, accepted, refused } = await run(
    [1, 2, 3, 4].map((line) => element(line)),
    (lines) => {
      const bad = lines.flatMap((line, index) => (line % 2 === 0 ? [index] : []));
      return bad.length > 0 ? refusedAt(...bad) : { kind: "accepted" };
    },
  );
  assert.deepEqual(sent, [
    [1, 2, 3, 4],
    [1, 3],
  ]);
  assert.deepEqual(refused, [2, 4]);
  assert.equal(accepted, 2);
});

test("a refusal that names no element is narrowed down by halves", async () => {
  const { sent, accepted, refused } = await run(
    [1, 2, 3, 4, 5].map((line) => element(line)),
    (lines) => (lines.includes(4) ? refusedAt() : { kind: "accepted" }),
  );
  assert.deepEqual(refused, [4]);
  assert.equal(accepted, 4);
  assert.ok(sent.every((lines, index) => index === 0 || lines.length < 5));
});

test("refusals by the client and the server are reported in the order of the lines", async () => {
  const reported: number[] = [];
  const writer = batchWriter({
    limits: { elements: 3, bytes: 1_000 },
    send: async (batch) => {
      const [first] = batch;
      return batch.length === 1 && first?.place.line === 7
        ? { kind: "accepted" }
        : refusedAt(...[...batch.keys()].toReversed());
    },
    accepted: () => assert.equal(reported.length, 4),
    refused: ({ place }) => reported.push(place.line),
  });
  const refuse = async (line: number): Promise<void> =>
    await writer.refuse({ place: { file: "f", line }, reason: "no" });
  await refuse(1);
  assert.deepEqual(reported, [1], "nothing is held back that waits for nothing");
  await writer.add(element(2));
  await refuse(3);
  await writer.add(element(4));
  assert.deepEqual(reported, [1]);
  await writer.flush();
  assert.deepEqual(reported, [1, 2, 3, 4]);
  await writer.add(element(7));
  await refuse(8);
  await refuse(9);
  assert.deepEqual(reported, [1, 2, 3, 4]);
  await refuse(10);
  assert.deepEqual(reported, [1, 2, 3, 4, 8, 9, 10], "only so many are held back");
});

test("a tuple that stands twice in a batch is sent once", async () => {
  const { sent, duplicates } = await run([element(1), element(2, { key: "key 1" })]);
  assert.deepEqual(sent, [[1]]);
  assert.equal(duplicates, 1);
});

test("an attribute that gets another value gets it in a later write", async () => {
  const attribute = (line: number, json: string): Element =>
    element(line, { kind: "attribute", key: "same", json });
  const { sent, duplicates } = await run([
    attribute(1, "true"),
    attribute(2, "true"),
    element(3),
    attribute(4, "false"),
    attribute(5, "true"),
  ]);
  assert.deepEqual(sent, [[1, 3], [4], [5]]);
  assert.equal(duplicates, 1);
});

test("an error that ends the import is passed on", async () => {
  const stop = (): WriteOutcome => {
    throw new Error("gone");
  };
  await assert.rejects(run([element(1)], stop), /gone/);
});

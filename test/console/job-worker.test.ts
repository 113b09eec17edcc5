import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { JobWorker } from "../../src/console/worker/client.ts";
import type { JobMessage, JobReply } from "../../src/console/worker/jobs.ts";

type Listener = (event: MessageEvent<JobReply>) => void;

/** What the thread was sent, and how it answers. */
const messages: JobMessage[] = [];
let listener: Listener | undefined;

/** A thread of a browser, which answers when it is told to. */
const standIn = {
  addEventListener: (name: string, follower: Listener) => {
    if (name === "message") listener = follower;
  },
  postMessage: (message: JobMessage) => messages.push(message),
};

function reply(data: JobReply): void {
  listener?.(new MessageEvent("message", { data }));
}

function makeStandIn(): typeof standIn {
  return standIn;
}

/** What is there in a browser alone, and what was there before. */
const page = { Worker: makeStandIn, document: { body: { dataset: {} } } };
const former = new Map<string, unknown>();

beforeEach(() => {
  messages.length = 0;
  for (const [name, value] of Object.entries(page)) {
    former.set(name, Reflect.get(globalThis, name));
    Reflect.set(globalThis, name, value);
  }
});

afterEach(() => {
  for (const [name, value] of former) {
    if (value === undefined) Reflect.deleteProperty(globalThis, name);
    else Reflect.set(globalThis, name, value);
  }
});

/** What the thread was sent, as `do 1` or `drop 1`. */
function sent(): readonly string[] {
  return messages.map(({ kind, id }) => `${kind} ${id}`);
}

test("a job that cannot pause is not begun if it is outdated when its turn comes", async () => {
  const worker = new JobWorker(true);
  const outdated = new AbortController();
  const first = worker.ask("format", { text: "one" });
  const second = worker.ask("format", { text: "two" }, outdated.signal);
  const third = worker.ask("format", { text: "three" });
  outdated.abort();
  await assert.rejects(second, /the input has changed/);
  assert.deepEqual(sent(), ["do 1"]);
  reply({ id: 1, kind: "done", output: "one" });
  assert.equal(await first, "one");
  assert.deepEqual(sent(), ["do 1", "do 3"]);
  reply({ id: 3, kind: "done", output: "three" });
  assert.equal(await third, "three");
});

test("a job that is under way is dropped when its input is outdated, and others go on", async () => {
  const worker = new JobWorker(false);
  const outdated = new AbortController();
  const first = worker.ask("format", { text: "one" }, outdated.signal);
  const second = worker.ask("format", { text: "two" });
  outdated.abort();
  await assert.rejects(first, /the input has changed/);
  assert.deepEqual(sent(), ["do 1", "do 2", "drop 1"]);
  reply({ id: 1, kind: "failed", message: "dropped" });
  reply({ id: 2, kind: "done", output: "two" });
  assert.equal(await second, "two");
});

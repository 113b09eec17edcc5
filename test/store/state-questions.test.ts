import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import type { KnownState } from "../../src/store/layer/cache-answers.ts";
import { StateQuestions } from "../../src/store/postgres/checks/state-questions.ts";
import type { Reads } from "../../src/store/postgres/replicas/reads.ts";
import { fails } from "./engines.ts";

const t1 = "t1" as TenantId;
const t2 = "t2" as TenantId;

interface Sent {
  /** Of the state that is asked about. */
  readonly token: string;
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

interface Asking {
  readonly sent: Sent[];
  readonly ask: (tenant: TenantId, token: string, signal?: AbortSignal) => Promise<KnownState>;
}

/** Questions whose statements end when they are told to. */
function questions(slots: number): Asking {
  const sent: Sent[] = [];
  const reads: Reads = {
    read: async (_text, _values, frame) => {
      const token = frame.state?.snapshot ?? assert.fail("no state");
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>[]>();
      const refusals = {
        is_lost: false,
        is_future: false,
        is_before_tenant: false,
        is_partial: false,
      };
      const row = { ...refusals, is_expired: false, number: "1", head_version: "v1" };
      const answer = (): void => resolve([{ ...row, last_change: null }]);
      sent.push({ token, answer, fail: reject });
      return await promise;
    },
  };
  const tokens = {
    read: (token: SnapToken) => ({
      identity: "here",
      snapshot: token,
      timeline: 1,
      change: "0",
      takenBefore: "1",
      last: "",
    }),
  };
  const schemas = new CompiledSchemas(() => assert.fail("no schema is needed"), { maxBytes: 1 });
  const states = new StateQuestions({ reads, schemas, tokens, slots, servers: () => 1 });
  return {
    sent,
    ask: async (tenant, token, signal) => {
      const snapToken = token as SnapToken;
      const question = { tenant, snapToken, schemaVersion: undefined, head: undefined };
      return await states.ask(question, signal);
    },
  };
}

/** Answers every statement that is sent, until no more are. */
async function answerAll(sent: readonly Sent[], from = 0): Promise<void> {
  for (let nth = from; nth < sent.length; nth += 1) {
    sent[nth]?.answer();
    await settled();
  }
}

/** Lets what follows from settled promises run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const tokensOf = (sent: readonly Sent[]): readonly string[] => sent.map(({ token }) => token);

test("no more states are asked for at a time than there are slots, and tenants are served in turn", async () => {
  const { sent, ask } = questions(2);
  const many = ["a", "b", "c", "d", "e"].map((token) => ask(t1, token));
  const one = ask(t2, "x");
  await settled();
  assert.deepEqual(tokensOf(sent), ["a", "b"]);
  sent[0]?.answer();
  await settled();
  sent[1]?.answer();
  await settled();
  assert.deepEqual(tokensOf(sent), ["a", "b", "c", "x"]);
  await answerAll(sent, 2);
  assert.deepEqual(tokensOf(sent), ["a", "b", "c", "x", "d", "e"]);
  assert.equal((await Promise.all([...many, one])).length, 6);
});

test("who asks the same shares a statement that has not begun, and one kind runs once at a time", async () => {
  const { sent, ask } = questions(2);
  const first = ask(t1, "a");
  const others = [ask(t1, "a"), ask(t1, "a")];
  await settled();
  assert.deepEqual(tokensOf(sent), ["a"]);
  sent[0]?.answer();
  await first;
  await settled();
  assert.deepEqual(tokensOf(sent), ["a", "a"]);
  const [one, other] = others;
  sent[1]?.answer();
  assert.equal(await one, await other);
});

test("what waits behind a statement that fails is asked", async () => {
  const { sent, ask } = questions(1);
  const failing = fails(ask(t1, "a"), "UNAVAILABLE");
  const [same, other] = [ask(t1, "a"), ask(t1, "b")];
  await settled();
  sent[0]?.fail(new PembaError("UNAVAILABLE", "no way"));
  await failing;
  await settled();
  await answerAll(sent, 1);
  assert.deepEqual(tokensOf(sent).toSorted(), ["a", "a", "b"]);
  assert.equal((await Promise.all([same, other])).length, 2);
});

test("who leaves is let go at once, and the statement goes on for the others", async () => {
  const { sent, ask } = questions(1);
  const leaving = new AbortController();
  const running = ask(t1, "a", leaving.signal);
  const [gone, stays] = [ask(t1, "b", leaving.signal), ask(t1, "b")];
  leaving.abort();
  await fails(running, "CANCELLED");
  await fails(gone, "CANCELLED");
  await fails(ask(t1, "c", leaving.signal), "CANCELLED");
  await settled();
  assert.deepEqual(tokensOf(sent), ["a"]);
  sent[0]?.answer();
  await settled();
  assert.deepEqual(tokensOf(sent), ["a", "b"]);
  sent[1]?.answer();
  assert.ok((await stays).key.endsWith(":1:b"));
});

test("a state whose callers have all left is not asked for, and takes no slot", async () => {
  const { sent, ask } = questions(1);
  const leaving = new AbortController();
  const first = ask(t2, "x");
  const gone = ["a", "b", "c"].map((token) => fails(ask(t1, token, leaving.signal), "CANCELLED"));
  const [live, other] = [ask(t1, "d"), ask(t2, "y")];
  leaving.abort();
  await Promise.all(gone);
  await settled();
  await answerAll(sent);
  assert.deepEqual(tokensOf(sent), ["x", "d", "y"]);
  assert.equal((await Promise.all([first, live, other])).length, 3);
});

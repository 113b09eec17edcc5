/** When writes of one tuple wait, which go together, and what becomes of each. The database is a fake. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { Caller, forCaller, presentCaller } from "../../src/base/caller.ts";
import { cancelled, PembaError } from "../../src/base/error.ts";
import { noTelemetry } from "../../src/base/telemetry.ts";
import type { SchemaVersion, SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Row } from "../../src/store/postgres/connect/row.ts";
import type { Changer } from "../../src/store/postgres/connect/statement-run.ts";
import { WriteBatches } from "../../src/store/postgres/data/write-batches.ts";
import { stopClocks } from "../support/standing-clock.ts";
import { fails, tuple } from "./engines.ts";

const [t1, t2] = ["t1" as TenantId, "t2" as TenantId];

/** A statement that was sent, and ends when the test says so. */
interface Sent {
  /** Those of the entities that it writes. */
  readonly ids: readonly string[];
  readonly changer: Changer | undefined;
  /** For whom it was sent. */
  readonly caller: Caller | undefined;
  /** A mark for each write, if there are several. */
  readonly answer: (marks?: string) => void;
  readonly fail: (error: unknown) => void;
}

interface Writing {
  readonly sent: Sent[];
  readonly write: (tenant: TenantId, id: string, caller?: Caller) => Promise<string | undefined>;
  /** What would be sent together has no connection until this is settled. */
  readonly holdConnections: () => PromiseWithResolvers<void>;
}

function writing({ isWatched = false } = {}): Writing {
  const sent: Sent[] = [];
  let connections = Promise.withResolvers<void>();
  connections.resolve();
  const send = async (ids: readonly string[], changer?: Changer): Promise<readonly Row[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
    changer?.sendsChange();
    sent.push({
      ids,
      changer,
      caller: presentCaller(),
      answer: (marks) => {
        const durable = marks?.includes("=") === true ? " durable" : "";
        const written = marks === undefined ? "alone 1:1:" : `${marks} 1:1: together${durable}`;
        resolve([{ written: marks === "" ? null : written }]);
      },
      fail: reject,
    });
    return await promise;
  };
  const batches = new WriteBatches({
    database: {
      write: async (_text, values) => await send([String(values[5])]),
      writeTogether: async (_text, values, changer) => {
        const left = Promise.withResolvers<never>();
        changer.signal.addEventListener("abort", () => left.reject(cancelled(undefined)));
        await Promise.race([connections.promise, left.promise]);
        const ids = String(values()[5]).matchAll(/"(\w+)"/g);
        return await send(
          [...ids].map(([, id]) => String(id)),
          changer,
        );
      },
    },
    tokens: { mint: (state) => (state.xid ?? "durable") as SnapToken },
    onChanged: () => {},
    lockWait: null,
    isWatched,
    telemetry: noTelemetry,
  });
  return {
    sent,
    write: async (tenant, id, caller = new Caller(new AbortController())) =>
      await forCaller(caller, async () => {
        const place = { number: "1", timeline: 1, head: "v1" as SchemaVersion };
        const one = { tenant, tuple: tuple(`doc:${id}#owner@user:a`), place };
        return await batches.write(one);
      }),
    holdConnections: () => {
      connections = Promise.withResolvers<void>();
      return connections;
    },
  };
}

/** Lets what follows from settled promises run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const idsOf = (sent: readonly Sent[]): readonly string[] => sent.map(({ ids }) => ids.join(" "));

const ids = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) => String(nth));

test("a write goes at once while a slot is free, and those that wait then go together", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const writes = ["a", "b", "c", "d", "e"].map((id) => write(t1, id));
  await settled();
  assert.deepEqual(idsOf(sent), ["a", "b"]);
  sent[1]?.answer();
  await settled();
  assert.deepEqual(idsOf(sent), ["a", "b", "c d e"]);
  sent[2]?.answer("+=+");
  sent[0]?.answer();
  const tokens = await Promise.all(writes);
  assert.deepEqual(tokens, ["alone", "alone", "together", "durable", "together"]);
});

test("writes that go together are sent for the caller of the first one", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const callers = ids(4).map(() => new Caller(new AbortController()));
  const writes = callers.map((caller, nth) => write(t1, String(nth), caller));
  await settled();
  sent[0]?.answer();
  await settled();
  const ofSent = sent.map(({ caller }) => callers.indexOf(must(caller, "there is a caller")));
  assert.deepEqual(ofSent, [0, 1, 2]);
  sent[1]?.answer();
  sent[2]?.answer("++");
  await Promise.all(writes);
});

test("one that waits by itself goes alone", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const writes = ["a", "b", "c"].map((id) => write(t1, id));
  await settled();
  for (const nth of [0, 1, 2]) {
    sent[nth]?.answer();
    await settled();
  }
  assert.deepEqual(idsOf(sent), ["a", "b", "c"]);
  assert.deepEqual(await Promise.all(writes), ["alone", "alone", "alone"]);
});

test("at most 64 writes go together, and tenants take turns", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const many = ids(100).map((id) => write(t1, id));
  const few = ["x", "y"].map((id) => write(t2, id));
  await settled();
  sent[0]?.answer();
  await settled();
  const [, , first] = sent;
  assert.equal(first?.ids.length, 64);
  assert.deepEqual(first.ids.slice(0, 5), ["2", "x", "3", "y", "4"]);
  first.answer("+".repeat(64));
  await settled();
  assert.equal(sent[3]?.ids.length, 100 + 2 - 2 - 64);
  sent[3].answer("+".repeat(36));
  sent[1]?.answer();
  assert.equal((await Promise.all([...many, ...few])).length, 102);
});

test("while a batch runs, other writes wait for it", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const writes = ids(5).map((id) => write(t1, id));
  await settled();
  sent[0]?.answer();
  sent[1]?.answer();
  await settled();
  const more = ids(2).map((id) => write(t1, `more${id}`));
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "2 3 4"]);
  sent[2]?.answer("+++");
  await Promise.all(writes);
  assert.deepEqual(idsOf(sent), ["0", "1", "2 3 4"]);
  // With these, as many wait as can come back.
  const others = ids(3).map((id) => write(t1, `other${id}`));
  await settled();
  assert.deepEqual(idsOf(sent).slice(3), ["more0 more1 other0 other1 other2"]);
  sent[3]?.answer("+++++");
  await Promise.all([...more, ...others]);
});

test("callers of a batch that do not come back are waited for for two milliseconds, and less and less often", async (t) => {
  const clock = stopClocks(t);
  const { sent, write } = writing();
  let count = 0;
  /** Makes a batch of three, while which another write comes, and lets it end. */
  const endBatch = async (): Promise<readonly Promise<unknown>[]> => {
    const first = sent.length;
    const writes = ids(5).map((id) => write(t1, `${count++}of${id}`));
    await settled();
    sent[first]?.answer();
    sent[first + 1]?.answer();
    await settled();
    const later = write(t1, "later");
    await settled();
    assert.equal(sent.length, first + 3);
    sent[first + 2]?.answer("+++");
    await settled();
    return [...writes, later];
  };
  const made: Promise<unknown>[] = [];
  /** Whether the write that came waits after the batch has ended. */
  const waits = async (): Promise<boolean> => {
    made.push(...(await endBatch()));
    const isHeld = idsOf(sent).at(-1) !== "later";
    if (isHeld) clock.pass(2);
    await settled();
    assert.equal(idsOf(sent).at(-1), "later");
    sent.at(-1)?.answer();
    await settled();
    return isHeld;
  };
  const found: boolean[] = [];
  for (let nth = 0; nth < 8; nth++) found.push(await waits());
  assert.deepEqual(found, [true, false, true, false, false, false, true, false]);
  await Promise.all(made);
});

test("a statement that takes long gives its slot to those that wait, once", async (t) => {
  const clock = stopClocks(t);
  const { sent, write } = writing();
  const writes = ids(4).map((id) => write(t1, id));
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1"]);
  clock.work(3);
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1"], "it is not what is slow");
  clock.pass(1);
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "2 3"]);
  sent[0]?.answer();
  sent[1]?.answer();
  const more = ids(4).map((id) => write(t1, `more${id}`));
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "2 3"]);
  clock.pass(2);
  await settled();
  assert.deepEqual(idsOf(sent).slice(3), ["more0 more1 more2 more3"]);
  sent[2]?.answer("++");
  sent[3]?.answer("++++");
  await Promise.all([...writes, ...more]);
});

test("where changes are watched, no two writes of a tenant go together", async (t) => {
  stopClocks(t);
  const { sent, write } = writing({ isWatched: true });
  const writes = ids(4).map((id) => write(t1, id));
  const others = ["x", "y"].map((id) => write(t2, id));
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "3", "y"]);
  sent[0]?.answer();
  await settled();
  assert.deepEqual(idsOf(sent).slice(4), ["2 x"]);
  sent[4]?.answer("++");
  for (const nth of [1, 2, 3]) sent[nth]?.answer();
  await Promise.all([...writes, ...others]);
});

test("a write that the others leave out is made alone, and so is each if the timeline is another one", async (t) => {
  const clock = stopClocks(t);
  const { sent, write } = writing();
  const writes = ids(7).map((id) => write(t1, id));
  await settled();
  sent[0]?.answer();
  await settled();
  sent[2]?.answer("+-+-+");
  await settled();
  assert.deepEqual(idsOf(sent).slice(3), ["3", "5"]);
  const more = ids(3).map((id) => write(t1, `more${id}`));
  await settled();
  for (const nth of [1, 3, 4]) sent[nth]?.answer();
  await Promise.all(writes);
  clock.pass(2);
  await settled();
  const [together] = sent.slice(5);
  assert.deepEqual(together?.ids, ["more0", "more1", "more2"]);
  together.answer("");
  await settled();
  assert.deepEqual(idsOf(sent).slice(6), ["more0", "more1", "more2"]);
  for (const each of sent) each.answer();
  assert.deepEqual(await Promise.all(more), ["alone", "alone", "alone"]);
});

test("a caller that leaves while its write waits is answered, and its write is not made", async (t) => {
  stopClocks(t);
  const { sent, write, holdConnections } = writing();
  const connections = holdConnections();
  const [early, late] = [new AbortController(), new AbortController()];
  const writes = [write(t1, "0"), write(t1, "1")];
  const leavesEarly = write(t1, "2", new Caller(early));
  const leavesLate = write(t1, "3", new Caller(late));
  writes.push(write(t1, "4"), write(t1, "5"));
  await settled();
  early.abort();
  await fails(leavesEarly, "CANCELLED");
  sent[0]?.answer();
  await settled();
  late.abort();
  await fails(leavesLate, "CANCELLED");
  connections.resolve();
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "4 5"]);
  sent[1]?.answer();
  sent[2]?.answer("++");
  await Promise.all(writes);
});

test("a caller that leaves once its write is sent has its outcome all the same", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const ending = new AbortController();
  const caller = new Caller(ending);
  const writes = [...ids(3).map((id) => write(t1, id)), write(t1, "3", caller)];
  await settled();
  assert.equal(caller.mayHaveChanged, false);
  sent[0]?.answer();
  await settled();
  assert.equal(caller.mayHaveChanged, true);
  ending.abort();
  sent[1]?.answer();
  sent[2]?.answer("++");
  assert.equal((await Promise.all(writes))[3], "together");
});

test("if all callers have left, nothing is sent, and others go on", async (t) => {
  const clock = stopClocks(t);
  const { sent, write, holdConnections } = writing();
  holdConnections();
  const ending = new AbortController();
  const writes = [write(t1, "0"), write(t1, "1")];
  const left = ids(3).map((id) => write(t1, `left${id}`, new Caller(ending)));
  await settled();
  sent[0]?.answer();
  await settled();
  ending.abort();
  for (const each of left) await fails(each, "CANCELLED");
  writes.push(write(t1, "2"));
  clock.pass(2);
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "2"]);
  for (const each of sent) each.answer();
  await Promise.all(writes);
});

const undone = new PembaError("CHANGE_BLOCKED", "a lock was held for long");
const lost = new PembaError("UNAVAILABLE", "the connection was lost");
const noneFree = new PembaError("DEADLINE_EXCEEDED", "no connection became free");

test("if the statement was undone, each write is made alone", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const caller = new Caller(new AbortController());
  const writes = [...ids(3).map((id) => write(t1, id)), write(t1, "3", caller)];
  await settled();
  sent[0]?.answer();
  await settled();
  sent[2]?.changer?.undoesChange();
  assert.equal(caller.mayHaveChanged, false);
  sent[2]?.fail(undone);
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "2 3", "2", "3"]);
  for (const each of sent) each.answer();
  assert.deepEqual(await Promise.all(writes), ["alone", "alone", "alone", "alone"]);
});

test("if it is not known what became of the statement, each write fails so", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const caller = new Caller(new AbortController());
  const [first, second, ...together] = [
    ...ids(3).map((id) => write(t1, id)),
    write(t1, "3", caller),
  ];
  await settled();
  sent[0]?.answer();
  await settled();
  sent[2]?.fail(lost);
  for (const each of together) await fails(each, "UNAVAILABLE", "lost");
  assert.equal(caller.mayHaveChanged, true);
  sent[1]?.answer();
  await Promise.all([first, second]);
});

test("if the database is not there, each write fails so", async (t) => {
  stopClocks(t);
  const { sent, write, holdConnections } = writing();
  const connections = holdConnections();
  const [first, second, ...together] = ids(4).map((id) => write(t1, id));
  await settled();
  sent[0]?.answer();
  await settled();
  connections.reject(lost);
  for (const each of together) await fails(each, "UNAVAILABLE");
  sent[1]?.answer();
  await Promise.all([first, second]);
  assert.deepEqual(idsOf(sent), ["0", "1"]);
});

test("if no connection comes free in the time of one write, each is made alone", async (t) => {
  stopClocks(t);
  const { sent, write, holdConnections } = writing();
  const connections = holdConnections();
  const writes = ids(4).map((id) => write(t1, id));
  await settled();
  sent[0]?.answer();
  await settled();
  connections.reject(noneFree);
  await settled();
  assert.deepEqual(idsOf(sent), ["0", "1", "2", "3"]);
  for (const each of sent) each.answer();
  await Promise.all(writes);
});

test("what is sent together is given up when the first of the callers gives up", async (t) => {
  stopClocks(t);
  const { sent, write } = writing();
  const callers = [30, 10, 20].map((endsAt) => {
    const caller = new Caller(new AbortController());
    caller.limitChange(endsAt);
    return caller;
  });
  const writes = [write(t1, "0"), write(t1, "1")];
  writes.push(...callers.map((caller, nth) => write(t1, `limited${nth}`, caller)));
  writes.push(write(t1, "2"));
  await settled();
  sent[0]?.answer();
  await settled();
  assert.equal(sent[2]?.changer?.changeEndsAt, 10);
  sent[1]?.answer();
  sent[2].answer("++++");
  await Promise.all(writes);
});

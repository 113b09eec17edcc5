import assert from "node:assert/strict";
import { test } from "node:test";

import { must } from "../../src/base/assert.ts";
import { Caller, forCaller, presentCaller } from "../../src/base/caller.ts";
import { PembaError } from "../../src/base/error.ts";
import {
  emptyContext,
  type SchemaVersion,
  type SnapToken,
  type TenantId,
} from "../../src/base/tuple.ts";
import { CheckBatches, type CheckStatements } from "../../src/store/layer/batch-checks.ts";
import { isOfAll, storageError } from "../../src/store/postgres/connect/driver-error.ts";
import type { SingleCheck } from "../../src/store/single-check.ts";
import type { CheckAnswer, CheckQuestion } from "../../src/store/store.ts";
import { watchKeys } from "../support/kept-keys.ts";
import { stopClocks } from "../support/standing-clock.ts";
import { fails } from "./engines.ts";

const t1 = "t1" as TenantId;
const t2 = "t2" as TenantId;

const yes = { allowed: true, nodes: 1, schemaVersion: "v1" as SchemaVersion };
const allowed = [yes];

interface Sent {
  readonly tenant: TenantId;
  readonly ids: readonly string[];
  readonly isTogether: boolean;
  readonly signal: AbortSignal | undefined;
  /** For whom it was sent. */
  readonly caller: Caller | undefined;
  /** Answers that each id is allowed, but for those that are left open. */
  readonly answer: (open?: readonly string[]) => void;
  readonly fail: (error: Error) => void;
}

/** Statements that end when they are told to. */
function statements(): CheckStatements & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const send = async (
    tenant: TenantId,
    question: CheckQuestion,
    isTogether: boolean,
  ): Promise<(CheckAnswer | undefined)[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<(CheckAnswer | undefined)[]>();
    const ids = question.items.map(({ entity }) => entity.id);
    const { signal } = question;
    signal?.addEventListener("abort", () => reject(new PembaError("CANCELLED", "gone")));
    sent.push({
      tenant,
      ids,
      isTogether,
      signal,
      caller: presentCaller(),
      answer: (open = []) => resolve(ids.map((id) => (open.includes(id) ? undefined : yes))),
      fail: reject,
    });
    return await promise;
  };
  return {
    sent,
    check: async (tenant, question) =>
      (await send(tenant, question, false)).flatMap((answer) => answer ?? []),
    decide: async (tenant, question) => await send(tenant, question, true),
    isOfAll,
  };
}

function question(id: string, more: Partial<CheckQuestion> = {}): CheckQuestion {
  return {
    items: [
      {
        entity: { type: "document", id },
        permission: "view",
        subject: { type: "user", id: "ann", relation: "" },
        arguments: [],
      },
    ],
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: emptyContext,
    path: (_item, field) => field,
    ...more,
  };
}

/** Lets what follows from settled promises run. */
async function settled(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

test("a check goes at once and alone while there is a free slot", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 2, runningMax: 8 });
  const answers = [batches.check(t1, question("a")), batches.check(t1, question("b"))];
  assert.deepEqual(
    fake.sent.map(({ ids, isTogether }) => [ids, isTogether]),
    [
      [["a"], false],
      [["b"], false],
    ],
  );
  for (const { answer } of fake.sent) answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed]);
});

const isView = (_: TenantId, { item }: SingleCheck): boolean => item.permission === "view";

const sentIds = ({ sent }: ReturnType<typeof statements>): readonly (readonly string[])[] =>
  sent.map(({ ids }) => ids);

test("local checks wait for the statement that runs, and go together", async (t) => {
  stopClocks(t);
  const fake = statements();
  const asked: string[] = [];
  const isLocal = (tenant: TenantId, check: SingleCheck): boolean => {
    asked.push(check.item.entity.id);
    return isView(tenant, check);
  };
  const batches = new CheckBatches(fake, { slots: 8, runningMax: 8, isLocal });
  const other = question("d").items.map((item) => ({ ...item, permission: "edit" }));
  const answers = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
  answers.push(batches.check(t1, question("d", { items: other })));
  assert.deepEqual(sentIds(fake), [["a"], ["d"]], "one that may cost more does not wait");
  fake.sent[0]?.answer();
  await answers[0];
  await settled();
  assert.deepEqual(sentIds(fake), [["a"], ["d"], ["b", "c"]]);
  assert.deepEqual(asked, ["a", "b", "d"], "of the checks of a batch the first is looked at");
  for (const { answer } of fake.sent) answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed, allowed, allowed]);
});

test("local checks do not wait for a statement that takes long", async (t) => {
  const { pass } = stopClocks(t);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 8, runningMax: 8, isLocal: isView });
  const answers = ["a", "b"].map((id) => batches.check(t1, question(id)));
  pass(1);
  await settled();
  await settled();
  assert.deepEqual(sentIds(fake), [["a"], ["b"]]);
  for (const { answer } of fake.sent) answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed]);
});

test("a statement takes no long time when this process is what is slow", async (t) => {
  const { work } = stopClocks(t);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 8, runningMax: 8, isLocal: isView });
  const ask = (...ids: readonly string[]) => ids.map((id) => batches.check(t1, question(id)));
  const answers = ask("a", "b");
  work(3);
  await settled();
  assert.deepEqual(sentIds(fake), [["a"]]);
  fake.sent[0]?.answer();
  await answers[0];
  await settled();
  answers.push(...ask("c", "d"));
  await settled();
  assert.deepEqual(sentIds(fake), [["a"], ["b"]], "nor do the next ones run beside another");
  fake.sent[1]?.answer();
  await answers[1];
  await settled();
  assert.deepEqual(sentIds(fake).slice(2), [["c", "d"]]);
  fake.sent[2]?.answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed, allowed, allowed]);
});

test("after a slow statement local checks wait for the end of the round of the event loop alone", async (t) => {
  const { pass } = stopClocks(t);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 8, runningMax: 8, isLocal: isView });
  const slow = batches.check(t1, question("a"));
  pass(2);
  fake.sent[0]?.answer();
  await slow;
  const answers = ["b", "c", "d"].map((id) => batches.check(t1, question(id)));
  await settled();
  assert.deepEqual(sentIds(fake), [["a"], ["b"], ["c", "d"]]);
  for (const { answer } of fake.sent) answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed, allowed]);
});

test("the next local checks wait for the callers of those that have ended", async (t) => {
  const { pass, work } = stopClocks(t);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 8, runningMax: 8, isLocal: isView });
  const ask = (...ids: readonly string[]) => ids.map((id) => batches.check(t1, question(id)));
  const end = async (nth: number): Promise<void> => {
    fake.sent[nth]?.answer();
    await settled();
  };
  const answers = ask("a", "b", "c");
  await end(0);
  answers.push(...ask("d"));
  await end(1);
  assert.deepEqual(sentIds(fake), [["a"], ["b", "c"]], "b and c may come back");
  answers.push(...ask("e", "f"));
  await settled();
  assert.deepEqual(sentIds(fake).slice(2), [["d", "e", "f"]]);
  answers.push(...ask("g"));
  await end(2);
  assert.deepEqual(sentIds(fake).slice(3), [], "d, e and f may come back");
  work(3);
  await settled();
  assert.deepEqual(sentIds(fake).slice(3), [], "they may have come without having been read");
  pass(1);
  await settled();
  await settled();
  assert.deepEqual(sentIds(fake).slice(3), [["g"]], "but not in time");
  await end(3);
  assert.deepEqual(
    await Promise.all(answers),
    answers.map(() => allowed),
  );
});

test("more local checks than one statement takes lose none", async (t) => {
  stopClocks(t);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 8, runningMax: 8, isLocal: isView });
  const ids = Array.from({ length: 100 }, (_, nth) => `many${nth}`);
  const leaving = new AbortController();
  const left = fails(
    (async () => {
      await batches.check(t1, question("first"));
      await batches.check(t1, question("left", { signal: leaving.signal }));
    })(),
    "CANCELLED",
  );
  const answers = ids.map((id) => batches.check(t1, question(id)));
  fake.sent[0]?.answer();
  leaving.abort();
  for (let nth = 0; nth < 20; nth++) {
    await settled();
    for (const { answer } of fake.sent) answer();
  }
  await left;
  assert.deepEqual(
    await Promise.all(answers),
    answers.map(() => allowed),
  );
  assert.deepEqual(new Set(sentIds(fake).flat()), new Set(["first", ...ids]));
});

test("what waits goes together when a slot is free, and the same check is asked once", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const answers = ["a", "b", "c", "b"].map((id) => batches.check(t1, question(id)));
  assert.equal(fake.sent.length, 1);
  fake.sent[0]?.answer();
  await answers[0];
  assert.deepEqual(fake.sent[1]?.ids, ["b", "c"]);
  fake.sent[1].answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed, allowed, allowed]);
  assert.equal(fake.sent.length, 2);
});

test("checks that are sent together are sent for the caller of the first one", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 1 });
  const callers = ["a", "b", "c"].map(() => new Caller(new AbortController()));
  const answers = callers.map((caller, index) =>
    forCaller(caller, async () => await batches.check(t1, question(`d${index}`))),
  );
  fake.sent[0]?.answer();
  await answers[0];
  await settled();
  assert.deepEqual(
    fake.sent.map(({ caller }) => callers.indexOf(must(caller, "there is a caller"))),
    [0, 1],
  );
  fake.sent[1]?.answer();
  assert.deepEqual(await Promise.all(answers), [allowed, allowed, allowed]);
});

test("only checks of one plan, state and depth go together", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const other = question("b").items.map((item) => ({ ...item, permission: "edit" }));
  const answers = [
    batches.check(t1, question("a")),
    batches.check(t1, question("a", { depth: 3 })),
    batches.check(t1, question("b")),
    batches.check(t1, question("b", { items: other })),
    batches.check(t1, question("c", { depth: 3 })),
  ];
  for (let index = 0; index < 4; index += 1) {
    fake.sent[index]?.answer();
    await settled();
  }
  assert.deepEqual(
    fake.sent.map(({ ids }) => ids),
    [["a"], ["a", "c"], ["b"], ["b"]],
  );
  assert.equal((await Promise.all(answers)).length, 5);
});

test("there are slots for each server, however many there are at a time", async () => {
  const fake = statements();
  let servers = 1;
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 2, servers: () => servers });
  // Of different depths, so that each is a statement.
  const answers = [1, 2, 3].map((depth) => batches.check(t1, question("a", { depth })));
  assert.equal(fake.sent.length, 1);
  servers = 3;
  answers.push(batches.check(t1, question("a", { depth: 4 })));
  assert.equal(fake.sent.length, 3);
  servers = 1;
  fake.sent[0]?.answer();
  await settled();
  assert.equal(fake.sent.length, 3, "one server has as much to do as it may");
  for (const index of [1, 2, 3]) {
    fake.sent[index]?.answer();
    await settled();
  }
  assert.equal((await Promise.all(answers)).length, 4);
});

test("a question with a context or with several items does not wait", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const [item] = question("a").items;
  const answers = [
    batches.check(t1, question("a")),
    batches.check(t1, question("b", { context: { ...emptyContext, data: { now: 1 } } })),
    batches.check(t1, question("c", { items: item === undefined ? [] : [item, item] })),
  ];
  assert.equal(fake.sent.length, 3);
  for (const { answer } of fake.sent) answer();
  await Promise.all(answers);
});

test("the same check is asked once however much it costs", async (context) => {
  let now = 0;
  context.mock.method(performance, "now", () => (now += 60));
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const first = batches.check(t1, question("a"));
  fake.sent[0]?.answer();
  await first;
  const answers = ["a", "b", "c", "b", "c", "b"].map((id) => batches.check(t1, question(id)));
  for (let index = 1; index < 4; index += 1) {
    fake.sent[index]?.answer();
    await settled();
  }
  assert.deepEqual(
    fake.sent.map(({ ids }) => ids),
    [["a"], ["a"], ["b"], ["c"]],
  );
  assert.equal((await Promise.all(answers)).length, 6);
});

test("what sends no statement tells nothing of what checks cost", async (context) => {
  let now = 0;
  context.mock.method(performance, "now", () => now);
  const together: number[] = [];
  const batches = new CheckBatches(
    {
      check: async () => {
        await settled();
        now += 10;
        return allowed;
      },
      decide: async (_tenant, { items }) => {
        together.push(items.length);
        return [];
      },
      isOfAll,
    },
    { slots: 1, runningMax: 2 },
  );
  for (let round = 0; round < 3; round += 1) {
    const ids = Array.from({ length: 7 }, (_, index) => `${round} ${index}`);
    await batches.check(t1, question("first"));
    await Promise.all(ids.map((id) => batches.check(t1, question(id))));
  }
  // As many as take 25 ms.
  assert.deepEqual(together, [3, 3, 3, 3, 3, 3]);
});

test("checks whose errors name fields differently do not go together", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const path = (item: number, field: string): string => `items[${item}].${field}`;
  const answers = [
    batches.check(t1, question("a")),
    batches.check(t1, question("b")),
    batches.check(t1, question("c", { path })),
  ];
  for (let index = 0; index < 3; index += 1) {
    fake.sent[index]?.answer();
    await settled();
  }
  assert.deepEqual(
    fake.sent.map(({ ids }) => ids),
    [["a"], ["b"], ["c"]],
  );
  assert.equal((await Promise.all(answers)).length, 3);
});

test("a batch that took too long for the database is asked one by one", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const [first, quick, costly] = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
  assert.ok(costly);
  fake.sent[0]?.answer();
  await first;
  fake.sent[1]?.fail(new PembaError("DEADLINE_EXCEEDED", "too long"));
  await settled();
  fake.sent[2]?.answer();
  assert.deepEqual(await quick, allowed);
  await settled();
  const failed = fails(costly, "DEADLINE_EXCEEDED", "too long");
  fake.sent[3]?.fail(new PembaError("DEADLINE_EXCEEDED", "too long"));
  await failed;
});

test("tenants are served in turn, however much one of them asks", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const many = Array.from({ length: 100 }, (_, index) =>
    batches.check(t1, question(String(index))),
  );
  const one = batches.check(t2, question("x"));
  fake.sent[0]?.answer();
  await settled();
  fake.sent[1]?.answer();
  await settled();
  assert.deepEqual(
    fake.sent.map(({ tenant, ids }) => [tenant, ids.length]),
    [
      [t1, 1],
      [t1, 32],
      [t2, 1],
    ],
  );
  fake.sent[2]?.answer();
  assert.deepEqual(await one, allowed);
  for (let index = 3; index < 6; index += 1) {
    fake.sent[index]?.answer();
    await settled();
  }
  assert.equal((await Promise.all(many)).length, 100);
});

test("what a statement leaves open is asked alone, and fails alone", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const [first, good, bad] = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
  fake.sent[0]?.answer();
  await first;
  fake.sent[1]?.answer(["c"]);
  assert.deepEqual(await good, allowed);
  await settled();
  assert.deepEqual(fake.sent[2]?.ids, ["c"]);
  assert.ok(bad);
  const failed = fails(bad, "DEPTH_NOT_ENOUGH", "too deep");
  fake.sent[2].fail(new PembaError("DEPTH_NOT_ENOUGH", "too deep"));
  await failed;
});

test("a fault of ours is looked for one by one, a fault of the storage fails all", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const [first, ...others] = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
  fake.sent[0]?.answer();
  await first;
  fake.sent[1]?.fail(new PembaError("INTERNAL", "oh"));
  await settled();
  fake.sent[2]?.answer();
  await settled();
  fake.sent[3]?.answer();
  assert.deepEqual(await Promise.all(others), [allowed, allowed]);

  const [last, ...failing] = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
  fake.sent[4]?.answer();
  await last;
  const failed = failing.map((each) => fails(each, "UNAVAILABLE", "no storage"));
  fake.sent[5]?.fail(new PembaError("UNAVAILABLE", "no storage"));
  await Promise.all(failed);
  assert.equal(fake.sent.length, 6);
});

test("a check for which the server lacks disk or memory fails alone", async () => {
  for (const code of ["53000", "53100", "53200", "53400"]) {
    const fake = statements();
    const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
    const [first, large, small] = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
    assert.ok(large);
    const lacking = storageError(Object.assign(new Error("no more of it"), { code }));
    fake.sent[0]?.answer();
    await first;
    fake.sent[1]?.fail(lacking);
    await settled();
    const failed = fails(large, "UNAVAILABLE");
    fake.sent[2]?.fail(lacking);
    await failed;
    await settled();
    fake.sent[3]?.answer();
    assert.deepEqual(await small, allowed, code);
  }
});

test("a server that takes no more connections fails all that were asked together", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const [first, ...failing] = ["a", "b", "c"].map((id) => batches.check(t1, question(id)));
  fake.sent[0]?.answer();
  await first;
  const failed = failing.map((each) => fails(each, "UNAVAILABLE"));
  fake.sent[1]?.fail(storageError(Object.assign(new Error("full"), { code: "53300" })));
  await Promise.all(failed);
});

test("a caller that leaves ends no other check, and a batch that all have left is cancelled", async () => {
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const leaving = [new AbortController(), new AbortController(), new AbortController()];
  const [ann, bob, cyd] = leaving;
  assert.ok(ann && bob && cyd);
  const first = batches.check(t1, question("a"));
  const left = fails(batches.check(t1, question("b", { signal: ann.signal })), "CANCELLED", "");
  ann.abort();
  await left;
  const gone = [bob, cyd].map(({ signal }, index) =>
    fails(batches.check(t1, question(`c${index}`, { signal })), "CANCELLED", ""),
  );
  fake.sent[0]?.answer();
  await first;
  assert.deepEqual(fake.sent[1]?.ids, ["c0", "c1"]);
  bob.abort();
  assert.equal(fake.sent[1].signal?.aborted, false);
  cyd.abort();
  assert.equal(fake.sent[1].signal?.aborted, true);
  await Promise.all(gone);
  await settled();
  const next = batches.check(t1, question("d"));
  assert.deepEqual(fake.sent[2]?.ids, ["d"]);
  fake.sent[2].answer();
  assert.deepEqual(await next, allowed);
});

test("checks that all left late together are asked alone from then on, until one shows to be quick", async (context) => {
  let now = 0;
  context.mock.method(performance, "now", () => now);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const askAll = async (signal?: AbortSignal): Promise<readonly (readonly string[])[]> => {
    const from = fake.sent.length;
    const first = batches.check(t1, question("a"));
    const others = ["b", "c"].map(async (id) => batches.check(t1, question(id, { signal })));
    fake.sent[from]?.answer();
    await first;
    now += 80;
    if (signal === undefined) {
      for (let index = from + 1; index < fake.sent.length; index++) {
        fake.sent[index]?.answer();
        await settled();
      }
    } else leaving.abort();
    await Promise.allSettled(others);
    return fake.sent.slice(from).map(({ ids }) => ids);
  };
  const leaving = new AbortController();
  assert.deepEqual(await askAll(leaving.signal), [["a"], ["b", "c"]]);
  assert.deepEqual(await askAll(), [["a"], ["b"], ["c"]]);
  assert.deepEqual(await askAll(), [["a"], ["b", "c"]]);
});

test("a batch that all have left takes no slot of its tenant, and no memory", async (context) => {
  const keys = watchKeys(context);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 8 });
  const first = batches.check(t2, question("a"));
  const leaving = new AbortController();
  const { signal } = leaving;
  const gone = Array.from({ length: 10 }, (_, index) =>
    batches.check(t1, question("gone", { snapToken: `${index}` as SnapToken, signal })),
  );
  // One that is left while another one of its batch is waited for.
  const live = batches.check(t1, question("live"));
  gone.push(batches.check(t1, question("gone", { signal })));
  const second = batches.check(t2, question("b"));
  const cancelled = gone.map((each) => fails(each, "CANCELLED"));
  leaving.abort();
  await Promise.all(cancelled);
  assert.deepEqual(
    keys().filter((key) => key.includes("gone")),
    [],
  );
  for (const index of [0, 1, 2]) {
    fake.sent[index]?.answer();
    await settled();
  }
  assert.deepEqual(
    fake.sent.map(({ tenant, ids }) => [tenant, ids]),
    [
      [t2, ["a"]],
      [t1, ["live"]],
      [t2, ["b"]],
    ],
  );
  assert.deepEqual(await Promise.all([first, live, second]), [allowed, allowed, allowed]);
});

test("a slow statement gives its slot up, and a slow batch is taken apart", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 4 });
  const first = batches.check(t1, question("a"));
  const others = ["b", "c"].map((id) => batches.check(t1, question(id)));
  context.mock.timers.tick(30);
  assert.deepEqual(fake.sent[1]?.ids, ["b", "c"]);
  const later = batches.check(t1, question("d"));
  context.mock.timers.tick(30);
  assert.equal(fake.sent.length, 2, "so many of one tenant run at most");
  context.mock.timers.tick(100);
  assert.equal(fake.sent[1].signal?.aborted, true);
  await settled();
  for (let index = 2; index < 5; index += 1) {
    assert.equal(fake.sent[index]?.isTogether, false);
    fake.sent[index]?.answer();
    await settled();
  }
  fake.sent[0]?.answer();
  assert.equal((await Promise.all([first, ...others, later])).length, 4);
});

test("slow checks of one tenant leave connections to others", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 2, runningMax: 5 });
  // Of different depths, so that each is a statement.
  const slow = Array.from({ length: 9 }, (_, index) =>
    batches.check(t1, question("slow", { depth: 10 + index })),
  );
  for (let waited = 0; waited < 5; waited += 1) context.mock.timers.tick(30);
  assert.equal(fake.sent.length, 3, "half of the connections, rounded up");
  const quick = batches.check(t2, question("quick"));
  assert.deepEqual(fake.sent[3]?.ids, ["quick"]);
  fake.sent[3].answer();
  assert.deepEqual(await quick, allowed);
  for (let index = 0; index < 10; index += 1) {
    if (index !== 3) fake.sent[index]?.answer();
    await settled();
    context.mock.timers.tick(30);
  }
  assert.equal((await Promise.all(slow)).length, 9);
  assert.equal(fake.sent.length, 10);
});

test("what is remembered of checks has a bounded length, however large their requests are", async (context) => {
  let now = 1;
  context.mock.method(performance, "now", () => now);
  const keys = watchKeys(context);
  const fake = statements();
  const batches = new CheckBatches(fake, { slots: 1, runningMax: 1, isLocal: isView });
  const remembered = async (more: Partial<CheckQuestion>): Promise<readonly string[]> => {
    const answer = batches.check(t1, question("a", more));
    // Many times longer than usual, however long the last one took.
    now *= 1_000;
    fake.sent.at(-1)?.answer();
    await answer;
    return keys();
  };
  const [item] = question("a").items;
  assert.ok(item !== undefined);
  const usual = new Set(await remembered({}));
  assert.equal(usual.size, 2, "its cost, and that it was slow");
  const names = Array.from({ length: 1_000 }, (_, index) => `made_up_${"x".repeat(index)}`);
  await remembered({ items: [{ ...item, arguments: names }] });
  await remembered({ schemaVersion: "v".repeat(100_000) as SchemaVersion });
  assert.deepEqual(new Set(keys()), usual);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import type { Tail } from "../../src/store/layer/tail.ts";
import { TailReads } from "../../src/store/postgres/checks/tail-reads.ts";
import { statementName } from "../../src/store/postgres/connect/statement-file.ts";
import type { Reads } from "../../src/store/postgres/replicas/reads.ts";
import { stopClocks } from "../support/standing-clock.ts";
import { fails } from "./engines.ts";

const t1 = "t1" as TenantId;
const t2 = "t2" as TenantId;

/** A statement that was sent. It ends when it is told to. */
interface Sent {
  readonly tenants: readonly string[];
  /** What the tails were last seen at. */
  readonly shown: readonly string[];
  /** Answers for all tenants alike. */
  readonly answer: (row?: Readonly<Record<string, unknown>>) => void;
  readonly fail: (error: Error) => void;
}

/** What the server shows to a look whether anything changed at all, and how often it was looked at. */
interface Quiet {
  shown: string | null;
  life: string;
  looks: number;
  /** Called while it is looked. */
  onLook: () => void;
}

interface Reading {
  readonly sent: readonly Sent[];
  readonly quiet: Quiet;
  readonly tails: TailReads;
  readonly read: (tenant: TenantId, signal?: AbortSignal) => Promise<Tail | undefined>;
}

function reading({ maxBytes = 100_000, statementsMax = 2 } = {}): Reading {
  const sent: Sent[] = [];
  const quiet: Quiet = { shown: null, life: "here", looks: 0, onLook: () => {} };
  const listOf = (literal: unknown): readonly string[] =>
    String(literal)
      .slice(1, -1)
      .split(",")
      .map((text) => text.slice(1, -1));
  const reads: Reads = {
    read: async (text, [tenants, shown]) => {
      if (statementName(text) === "changes/quiet") {
        quiet.looks += 1;
        quiet.onLook();
        return [{ shown: quiet.shown, life: quiet.life }];
      }
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>[]>();
      const asked = listOf(tenants);
      const own = { number: "1", head_version: "v1", life: "here", shown: "7:7:", changes: [] };
      sent.push({
        tenants: asked,
        shown: listOf(shown),
        answer: (row = {}) => resolve(asked.map((tenant) => ({ tenant, ...own, ...row }))),
        fail: reject,
      });
      return await promise;
    },
  };
  const tails = new TailReads({ reads, maxBytes, statementsMax });
  return { sent, quiet, tails, read: async (tenant, signal) => await tails.read(tenant, signal) };
}

/** Lets what was scheduled run. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

const tenantsOf = (sent: readonly Sent[]): readonly string[] =>
  sent.map(({ tenants }) => tenants.join(" "));

test("what is asked for in one turn shares a statement, also for several tenants", async () => {
  const { sent, read } = reading();
  const asking = [read(t1), read(t2), read(t1)];
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1 t2"]);
  sent[0]?.answer();
  const [one, , other] = await Promise.all(asking);
  assert.ok(one !== undefined && one === other);
});

test("a caller that comes while a statement runs gets what the next one reads", async () => {
  const { sent, read } = reading();
  const first = read(t1);
  await settled();
  const later = [read(t1), read(t2)];
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1"]);
  sent[0]?.answer({ shown: "8:8:" });
  const position = (await first)?.position ?? assert.fail("no tail");
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1", "t1 t2"]);
  assert.deepEqual(sent[1]?.shown, ["8:8:", ""]);
  sent[1]?.answer();
  const [tail] = await Promise.all(later);
  assert.ok((tail?.position ?? 0) > position);
});

test("the next reading waits for the callers of the one that has ended", async (t) => {
  const { sent, tails, read } = reading();
  const { pass, work } = stopClocks(t);
  const end = async (nth: number): Promise<void> => {
    await settled();
    sent[nth]?.answer();
    await settled();
  };
  const asking = [read(t1), read(t1)];
  await settled();
  asking.push(read(t2));
  await end(0);
  assert.deepEqual(tenantsOf(sent), ["t1"], "two may come back");
  assert.equal(tails.isGathering, true);
  asking.push(read(t1), read(t1));
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1", "t2 t1"]);
  assert.equal(tails.isGathering, false);
  asking.push(read(t1));
  await end(1);
  assert.deepEqual(tenantsOf(sent).slice(2), [], "three may come back");
  work(3);
  await settled();
  assert.deepEqual(tenantsOf(sent).slice(2), [], "they may have come without having been read");
  pass(1);
  await settled();
  assert.deepEqual(tenantsOf(sent).slice(2), ["t1"], "but not in time");
  await end(2);
  for (const tail of await Promise.all(asking)) assert.ok(tail !== undefined);
});

test("a slow statement lets others run beside it, but none of its own tenants", async (t) => {
  const { sent, read } = reading();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = read(t1);
  await settled();
  const others = [read(t1), read(t2)];
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1"]);
  t.mock.timers.tick(30);
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1", "t2"]);
  sent[1]?.answer();
  await others[1];
  sent[0]?.answer();
  await slow;
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1", "t2", "t1"]);
  sent[2]?.answer();
  await Promise.all(others);
});

test("no more statements run at the same time than are allowed", async (t) => {
  const { sent, read } = reading({ statementsMax: 1 });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const slow = read(t1);
  await settled();
  const other = read(t2);
  await settled();
  t.mock.timers.tick(30);
  await settled();
  assert.deepEqual(tenantsOf(sent), ["t1"]);
  sent[0]?.answer();
  await slow;
  await settled();
  sent[1]?.answer();
  await other;
});

test("a statement that fails does so for its callers, and the next ones are asked", async () => {
  const { sent, read } = reading();
  const failing = assert.rejects(read(t1), /gone/);
  await settled();
  sent[0]?.fail(new Error("gone"));
  await failing;
  const next = read(t1);
  await settled();
  sent[1]?.answer();
  assert.ok((await next) !== undefined);
});

test("a caller leaves at once, and the others get their tail", async () => {
  const { sent, read } = reading();
  const leaving = new AbortController();
  const left = fails(read(t1, leaving.signal), "CANCELLED");
  const other = read(t1);
  await settled();
  leaving.abort();
  await left;
  sent[0]?.answer();
  assert.ok((await other) !== undefined);
  await fails(read(t1, leaving.signal), "CANCELLED");
});

test("a tail begins anew for another tenant, in another life of the database, and after a gap", async () => {
  const { sent, read } = reading();
  const ask = async (row: Readonly<Record<string, unknown>>): Promise<Tail | undefined> => {
    const tail = read(t1);
    await settled();
    sent.at(-1)?.answer(row);
    return await tail;
  };
  const first = await ask({});
  assert.ok(first !== undefined);
  assert.equal(await ask({ shown: "9:9:" }), first);
  for (const row of [{ number: "2" }, { number: "2", life: "there" }]) {
    const tail = await ask(row);
    assert.ok(tail !== undefined && tail !== first);
    assert.equal(
      tail.isUntouchedSince(first.position, () => false),
      false,
    );
    assert.equal(await ask(row), tail);
  }
  const gap = { number: "2", life: "there", changes: null };
  const before = await ask({ number: "2", life: "there" });
  assert.notEqual(await ask(gap), before);
});

test("if nothing changed at all, tails are as they were last read", async () => {
  const { sent, quiet, read } = reading();
  const first = [read(t1), read(t2)];
  await settled();
  sent[0]?.answer();
  const known = await Promise.all(first);
  quiet.shown = "7:7:";
  const positions = known.map((tail) => tail?.position);
  assert.deepEqual(await Promise.all([read(t1), read(t2)]), known);
  assert.deepEqual(
    known.map((tail) => tail?.position),
    positions,
  );
  assert.equal(quiet.looks, 1);
  assert.equal(sent.length, 1);
});

for (const [what, seen] of Object.entries({
  "a snapshot shows more": { shown: "7:8:" },
  "it is another life of the database": { shown: "7:7:", life: "there" },
  "the server does not say what it shows": { shown: null },
})) {
  test(`tails are read if ${what}`, async () => {
    const { sent, quiet, read } = reading();
    for (const looks of [0, 1]) {
      Object.assign(quiet, seen);
      const tail = read(t1);
      await settled();
      assert.equal(quiet.looks, looks);
      assert.equal(sent.length, looks + 1);
      sent.at(-1)?.answer();
      assert.ok((await tail) !== undefined);
    }
  });
}

test("tails of several states, and of a tenant that is new, are read without such a look", async () => {
  const { sent, quiet, read } = reading();
  quiet.shown = "7:7:";
  const ask = async (tenant: TenantId, row: Readonly<Record<string, unknown>>): Promise<void> => {
    const tail = read(tenant);
    await settled();
    sent.at(-1)?.answer(row);
    await tail;
  };
  await ask(t1, { shown: "7:7:" });
  await ask(t2, { shown: "8:8:" });
  assert.equal(quiet.looks, 0);
  const both = [read(t1), read(t2)];
  await settled();
  sent.at(-1)?.answer({ shown: "8:8:" });
  await Promise.all(both);
  assert.equal(quiet.looks, 0);
  assert.deepEqual(tenantsOf(sent), ["t1", "t2", "t1 t2"]);
});

test("where something changes all the time, it is seldom looked whether anything does", async () => {
  const { sent, quiet, read } = reading();
  const ask = async (times: number): Promise<number> => {
    const before = quiet.looks;
    for (let time = 0; time < times; time += 1) {
      const tail = read(t1);
      await settled();
      sent.at(-1)?.answer();
      await tail;
    }
    return quiet.looks - before;
  };
  await ask(300);
  const seldom = await ask(650);
  assert.ok(seldom === 10, `${seldom} looks`);
  quiet.shown = "7:7:";
  await ask(65);
  assert.equal(await ask(50), 50);
});

/** Reads the tail of a tenant. The answer is not needed where a look says enough. */
async function readOnce({ sent, read }: Reading): Promise<void> {
  const tail = read(t1);
  await settled();
  sent.at(-1)?.answer();
  await tail;
}

test("one caller may read alone what is known, while nothing else is read", async (t) => {
  // A pause of the process would make the look a slow one.
  stopClocks(t);
  const all = reading();
  const { sent, quiet, tails, read } = all;
  assert.equal(tails.mayReadAlone(t1), false, "its tail is not known");
  await readOnce(all);
  assert.deepEqual([tails.mayReadAlone(t1), tails.mayReadAlone(t2)], [true, false]);
  const other = read(t2);
  await settled();
  assert.equal(tails.mayReadAlone(t1), false, "a reading runs");
  sent.at(-1)?.answer();
  await other;
  quiet.shown = "7:7:";
  await readOnce(all);
  assert.equal(quiet.looks, 1);
  assert.equal(tails.mayReadAlone(t1), true);
});

test("after a look in vain, questions that read nothing bring the next look nearer", async () => {
  const all = reading();
  await readOnce(all);
  await readOnce(all);
  assert.equal(all.quiet.looks, 1);
  const chances = Array.from({ length: 4 }, () => all.tails.mayReadAlone(t1));
  assert.deepEqual(chances, [false, false, true, true]);
});

test("where looks are slow, one caller seldom reads alone, and several look all the same", async (t) => {
  const { work } = stopClocks(t);
  const all = reading();
  const { quiet, tails } = all;
  await readOnce(all);
  quiet.shown = "7:7:";
  quiet.onLook = () => work(6);
  await readOnce(all);
  assert.deepEqual([tails.mayReadAlone(t1), tails.mayReadAlone(t1)], [false, true]);
  await readOnce(all);
  const chances = Array.from({ length: 4 }, () => tails.mayReadAlone(t1));
  assert.deepEqual(chances, [false, false, false, true]);
  assert.equal(quiet.looks, 2);
});

test("a tenant that is not there has no tail", async () => {
  const { sent, read, tails } = reading();
  const known = read(t1);
  await settled();
  sent[0]?.answer();
  const tail = await known;
  assert.ok(tail !== undefined && tails.known(t1) === tail);
  const gone = read(t1);
  await settled();
  sent[1]?.answer({ tenant: "another" });
  assert.equal(await gone, undefined);
  assert.equal(tails.known(t1), undefined);
});

test("tails take no more memory than they may", async () => {
  const { sent, read, tails } = reading({ maxBytes: 2_000 });
  const tenants = Array.from({ length: 10 }, (_, nth) => `many${nth}` as TenantId);
  const asking = tenants.map(async (tenant) => await read(tenant));
  await settled();
  sent[0]?.answer();
  await Promise.all(asking);
  const kept = tenants.filter((tenant) => tails.known(tenant) !== undefined);
  assert.ok(kept.length > 0 && kept.length < 5, String(kept.length));
});

test("a state is shown by another one if that shows all of it", () => {
  const { tails } = reading();
  assert.equal(tails.isShownIn("5:9:5,7", "5:9:5,7"), true);
  assert.equal(tails.isShownIn("5:9:5,7", "7:9:7"), true);
  assert.equal(tails.isShownIn("7:9:7", "5:9:5,7"), false);
  assert.equal(tails.isShownIn("5:9:5,7", "5:5:"), false);
  assert.equal(tails.isShownIn("5:5:", "5:9:5,7"), true);
});

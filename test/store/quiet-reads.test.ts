/** What happens while it is asked whether anything changed at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";

import type { TenantId } from "../../src/base/tuple.ts";
import type { Tail } from "../../src/store/layer/tail.ts";
import { TailReads } from "../../src/store/postgres/checks/tail-reads.ts";
import type { Row } from "../../src/store/postgres/connect/row.ts";
import { statementName } from "../../src/store/postgres/connect/statement-file.ts";
import { stopClocks } from "../support/standing-clock.ts";
import { fails } from "./engines.ts";

const [t1, t2] = ["t1" as TenantId, "t2" as TenantId];

interface Sent {
  readonly name: string;
  readonly answer: (rows: readonly Row[]) => void;
  readonly fail: (error: Error) => void;
}

function reading(maxBytes = 100_000): { readonly sent: Sent[]; readonly tails: TailReads } {
  const sent: Sent[] = [];
  const tails = new TailReads({
    maxBytes,
    statementsMax: 3,
    reads: {
      read: async (text) => {
        const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
        sent.push({ name: statementName(text) ?? "", answer: resolve, fail: reject });
        return await promise;
      },
    },
  });
  return { sent, tails };
}

const row = (tenant: string, shown = "7:7:", more: Row = {}): Row => ({
  tenant,
  number: "1",
  head_version: "v1",
  life: "here",
  shown,
  changes: [],
  ...more,
});
const quiet = (shown: string | null = "7:7:", life = "here"): Row => ({ shown, life });

/** Lets what was scheduled run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await setImmediate();
}
const names = (sent: readonly Sent[]): string =>
  sent.map(({ name }) => name.replace("changes/", "")).join(" ");

/** Reads the tails, so that the next reading begins with a quiet look. */
async function known(
  tails: TailReads,
  sent: Sent[],
  ...tenants: readonly TenantId[]
): Promise<readonly (Tail | undefined)[]> {
  const asking = tenants.map(async (tenant) => await tails.read(tenant, undefined));
  await settled();
  sent.at(-1)?.answer(tenants.map((tenant) => row(tenant)));
  const found = await Promise.all(asking);
  sent.length = 0;
  return found;
}

test("a quiet look that fails fails its callers, and the next reading works", async (t) => {
  const { pass } = stopClocks(t);
  const { sent, tails } = reading();
  await known(tails, sent, t1, t2);
  const one = assert.rejects(tails.read(t1, undefined), /gone/);
  const two = assert.rejects(tails.read(t2, undefined), /gone/);
  await settled();
  const late = tails.read(t1, undefined);
  assert.equal(names(sent), "quiet");
  sent[0]?.fail(new Error("gone"));
  await Promise.all([one, two]);
  await settled();
  // So long their callers are waited for.
  pass(1);
  await settled();
  assert.equal(names(sent), "quiet quiet");
  sent[1]?.answer([quiet()]);
  assert.ok((await late) !== undefined);
});

test("callers that leave during a quiet look, and one that comes while it runs", async () => {
  const { sent, tails } = reading();
  const [tail] = await known(tails, sent, t1);
  const leaving = new AbortController();
  const left = fails(tails.read(t1, leaving.signal), "CANCELLED");
  await settled();
  leaving.abort();
  await left;
  const late = tails.read(t1, undefined);
  await settled();
  assert.equal(names(sent), "quiet", "what runs began before it came");
  sent[0]?.answer([quiet()]);
  await settled();
  assert.equal(names(sent), "quiet quiet");
  sent[1]?.answer([quiet("7:8:")]);
  await settled();
  sent[2]?.answer([row("t1", "7:8:")]);
  assert.equal(await late, tail);
});

test("a tail that is evicted during a quiet look begins anew the next time", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { sent, tails } = reading(1_000);
  const [tail] = await known(tails, sent, t1);
  const asking = tails.read(t1, undefined);
  await settled();
  assert.equal(names(sent), "quiet");
  // A slow statement lets others run beside it.
  t.mock.timers.tick(30);
  const other = tails.read(t2, undefined);
  await settled();
  assert.equal(names(sent), "quiet since");
  sent[1]?.answer([row("t2", "8:8:")]);
  await other;
  assert.equal(tails.known(t1), undefined);
  sent[0]?.answer([quiet()]);
  assert.equal(await asking, tail);
  const again = tails.read(t1, undefined);
  await settled();
  sent.at(-1)?.answer([row("t1", "9:9:")]);
  const found = await again;
  assert.ok(found !== undefined && found !== tail);
  assert.equal(
    found.isUntouchedSince(tail?.position ?? 0, () => false),
    false,
  );
});

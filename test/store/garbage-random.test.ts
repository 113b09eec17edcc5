import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import { caseCount } from "../support/run-length.ts";
import { engines, tenantWithSchema, write } from "./engines.ts";

/*
 * Random tuples come and go, while garbage is collected all the time with a window of a few dozen
 * milliseconds, and readers page through random past states. What they read must be the state that
 * was written, or refused; and a token of the window must not be refused. PEMBA_CASES is the number
 * of states.
 */

const states = caseCount({ short: 300, long: 5_000 });
const readers = 4;
const windowMs = 40;
const ids = ["1", "2", "3", "4", "5", "6"];
const users = ["a", "b"];

/** A state that was written, and a time before its token was given out. */
interface Written {
  readonly token: SnapToken;
  readonly tuples: ReadonlySet<string>;
  readonly startMs: number;
}

/** What readers met. */
interface Tally {
  right: number;
  refused: number;
}

for (const engine of engines) {
  describe(`garbage collection under reads on ${engine.name}`, () => {
    test(`each of ${states} states is read as it was, or refused once it is old`, async (t) => {
      const { store, close } = await engine.open({
        garbageCollection: { intervalMs: 3, windowMs, timeoutMs: 60_000 },
      });
      t.after(close);
      const tenant = await tenantWithSchema(store);
      const written: Written[] = [];
      const tally: Tally = { right: 0, refused: 0 };
      let isOver = false;
      const reading = Array.from({ length: readers }, async () => {
        while (!isOver) await readSome(store, tenant, written, tally);
      });
      try {
        await writeStates(store, tenant, written, () => tally.right > 0 && tally.refused > 0);
      } finally {
        isOver = true;
        await Promise.all(reading);
      }
      t.diagnostic(JSON.stringify(tally));
    });
  });
}

async function writeStates(
  store: Store,
  tenant: TenantId,
  written: Written[],
  isEnough: () => boolean,
): Promise<void> {
  const tuples = new Set<string>();
  while (written.length < states || !isEnough()) {
    const startMs = performance.now();
    const id = pick(ids);
    let token: SnapToken;
    if (Math.random() < 0.5) {
      const created = [`doc:${id}#owner@user:${pick(users)}`, `doc:${pick(ids)}#owner@user:a`];
      token = await write(store, tenant, { tuples: created });
      for (const text of created) tuples.add(text);
    } else {
      token = await store.data.delete(tenant, {
        tuples: {
          entity: { type: "doc", ids: [id] },
          relation: "",
          subject: { type: "", ids: [], relation: "" },
        },
        attributes: undefined,
      });
      for (const text of tuples) if (text.startsWith(`doc:${id}#`)) tuples.delete(text);
    }
    written.push({ token, tuples: new Set(tuples), startMs });
    // Lets readers run in memory, too, where nothing waits.
    await new Promise(setImmediate);
  }
}

async function readSome(
  store: Store,
  tenant: TenantId,
  written: readonly Written[],
  tally: Tally,
): Promise<void> {
  await new Promise(setImmediate);
  // Mostly young ones, about which it is hard to tell.
  const back = Math.floor(Math.random() ** 3 * written.length);
  const state = written.at(-1 - back);
  if (state === undefined) return;
  try {
    const read = await readAll(store, tenant, state.token);
    assert.deepEqual(read.toSorted(), [...state.tuples].toSorted());
    tally.right++;
  } catch (error) {
    if (!(error instanceof PembaError)) throw error;
    assert.equal(error.code, "SNAP_TOKEN_EXPIRED", error.message);
    const age = performance.now() - state.startMs;
    assert.ok(age > windowMs, `refused after ${age} ms of ${windowMs}`);
    tally.refused++;
  }
}

async function readAll(
  store: Store,
  tenant: TenantId,
  token: SnapToken,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let after: readonly string[] | undefined;
  do {
    const page = await store.data.readTuples(tenant, {
      filter: {
        entity: { type: "", ids: [] },
        relation: "",
        subject: { type: "", ids: [], relation: "" },
      },
      snapToken: token,
      after,
      limit: 4,
    });
    for (const { entity, relation, subject } of page.items) {
      texts.push(`${entity.type}:${entity.id}#${relation}@${subject.type}:${subject.id}`);
    }
    after = page.next;
  } while (after !== undefined);
  return texts;
}

function pick(items: readonly string[]): string {
  return items[Math.floor(Math.random() * items.length)] ?? assert.fail("nothing to pick from");
}

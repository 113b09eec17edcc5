/**
 * Answers that three instances keep while the server crashes or restarts. With `synchronous_commit` off it then loses
 * changes that it has shown, and gives their transaction ids out again. After that each answer must be one of a
 * store without a cache.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { noTelemetry } from "../../src/base/telemetry.ts";
import type { Store } from "../../src/store/store.ts";
import { dice } from "../support/dice.ts";
import { type RestartableServer, startRestartablePostgres } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { allowed, openStore, tenantWithSchema, write } from "./engines.ts";
import { connect, until } from "./open-write.ts";

const rounds = caseCount({ short: 2, long: 12 });
const documents = ["1", "2", "3"];

let server: RestartableServer;
let plain: Store;
let keeping: readonly Store[];
let hits = 0;

before(async () => {
  // What is committed stays in memory for seconds.
  server = await startRestartablePostgres([
    ...serverSettings,
    "wal_writer_delay=10s",
    "wal_writer_flush_after=1GB",
  ]);
  plain = await openStore(server.url, { warn: () => {} });
  keeping = await Promise.all([openKeeping(), openKeeping(), openKeeping()]);
});

async function openKeeping(): Promise<Store> {
  return await openStore(server.url, {
    warn: () => {},
    slots: 4,
    cache: { maxBytes: 1_000_000, maxEntries: 1_000 },
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits += amount;
      },
    },
  });
}

after(async () => {
  await Promise.all([plain, ...keeping].map(async (store) => await store.close()));
  await server.stop();
});

test("no answer outlives the state that a crash lost", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const { upTo, happens } = dice(1);
  const tenant = await tenantWithSchema(plain);
  let lost = 0;
  const answers = async (store: Store): Promise<readonly boolean[]> =>
    await Promise.all(
      documents.map(
        async (id) => await allowed(store, tenant, { id, permission: "view", subject: "a" }),
      ),
    );
  for (let round = 0; round < rounds; round += 1) {
    await flush();
    for (const id of documents) {
      if (happens(0.5)) await write(plain, tenant, { tuples: [`doc:${id}#owner@user:a`] });
      else await removeOwner(id);
      for (let times = 0; times < 3; times += 1) await Promise.all(keeping.map(answers));
    }
    const shown = await answers(plain);
    for (const store of keeping) assert.deepEqual(await answers(store), shown);
    if (happens(0.7)) {
      await server.signal("SIGKILL", "backend");
    } else {
      await server.halt();
      await server.restart();
    }
    await until(async () => ((await answersAgain(plain)) ? true : undefined));
    // These get the ids that were lost.
    for (let count = upTo(4); count > 0; count -= 1) {
      await write(plain, tenant, { tuples: [`doc:other${round}x${count}#owner@user:a`] });
    }
    const right = await answers(plain);
    for (const store of keeping) {
      await until(async () => ((await answersAgain(store)) ? true : undefined));
      for (let times = 0; times < 3; times += 1) assert.deepEqual(await answers(store), right);
    }
    if (right.some((answer, nth) => answer !== shown[nth])) lost += 1;
  }
  t.diagnostic(`${rounds} rounds, of which ${lost} lost changes; ${hits} answers kept`);
  assert.ok(hits > 0);

  /** What is committed so far survives a crash. */
  async function flush(): Promise<void> {
    const sql = connect(server.url, 1);
    await sql`set synchronous_commit = on`;
    await sql`select pg_logical_emit_message(true, 'test', 'flush')`;
    await sql.end({ timeout: 1 });
  }

  async function removeOwner(id: string): Promise<void> {
    await plain.data.delete(tenant, {
      tuples: {
        entity: { type: "doc", ids: [id] },
        relation: "owner",
        subject: { type: "user", ids: ["a"], relation: "" },
      },
      attributes: undefined,
    });
  }

  /** Once the server is there again. */
  async function answersAgain(store: Store): Promise<boolean> {
    try {
      await answers(store);
      return true;
    } catch (error) {
      if (error instanceof PembaError && error.kind === "unavailable") return false;
      throw error;
    }
  }
});

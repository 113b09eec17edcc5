/**
 * Random moves of tenants under load against a model. Movers die at random statements, and an instance or
 * another mover goes on.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import type { MoveDatabase } from "../../src/store/placed/move/notes.ts";
import type { Store } from "../../src/store/store.ts";
import { dice } from "../support/dice.ts";
import { type Mover, openMover } from "../support/moves.ts";
import { openPlacedOver, type PlacedDatabases } from "../support/placed-databases.ts";
import { caseCount, seed } from "../support/run-length.ts";
import {
  allowed,
  attribute,
  openPlaced,
  openStore,
  pool,
  schemaText,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { tupleFilter } from "./filters.ts";
import { connect } from "./open-write.ts";

const moves = caseCount({ short: 4, long: 30 });
const keysOfWriter = 6;
const clusters = ["a", "b", "c"] as const;

/** What a request may meet while its tenant moves. A client repeats it, without its token if that is expired. */
const passing = new Set(["UNAVAILABLE", "SERIALIZATION", "SNAP_TOKEN_EXPIRED", "SCHEMA_CONFLICT"]);

class Killed extends Error {}

let placed: PlacedDatabases;
let instances: readonly Store[];
let mover: Mover;

before(async () => {
  placed = await openPlaced({ watch: { readAheadMax: 100 } });
  const other = await openPlacedOver(placed.urls, { pool }, async (url, tokens) =>
    openStore(url, { ...tokens, watch: { readAheadMax: 100 } }),
  );
  instances = [placed.store, other];
  mover = await openMover(placed.urls);
});

after(async () => {
  await mover.close();
  await instances[1]?.close();
  await placed.close();
});

/** Undefined if the request failed as one may while its tenant moves. */
async function unlessMoving<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PembaError && passing.has(error.code)) return undefined;
    throw error;
  }
}

/** Writes and deletes tuples and an attribute that no other writer touches, and reads each change back. */
async function writeAndRead(
  tenant: TenantId,
  writer: number,
  isOver: () => boolean,
): Promise<ReadonlyMap<string, boolean>> {
  const { upTo, happens } = dice(1_000 + writer);
  const there = new Map<string, boolean>();
  const one = (): Store => instances[upTo(instances.length)] ?? placed.store;
  while (!isOver()) {
    const id = `w${writer}k${upTo(keysOfWriter)}`;
    const isPublic = happens(0.3);
    const value = happens(0.6);
    const change = async (): Promise<SnapToken> => {
      if (isPublic) {
        return await write(one(), tenant, {
          attributes: [attribute("public", { type: "boolean", data: value }, id)],
        });
      }
      if (value) return await write(one(), tenant, { tuples: [`doc:${id}#owner@user:ann`] });
      const tuples = tupleFilter({
        type: "doc",
        ids: [id],
        relation: "owner",
        subjectIds: ["ann"],
      });
      return await one().data.delete(tenant, { tuples, attributes: undefined });
    };
    let token: SnapToken | undefined;
    // A change may have been made although it failed, so it is made again until it is acknowledged.
    while (token === undefined) token = await unlessMoving(change);
    there.set(`${isPublic ? "public" : "owner"} ${id}`, value);
    const permission = isPublic ? "public" : "owner";
    for (const at of [token, undefined]) {
      const asked = { id, permission, subject: "ann", at };
      const answer = await unlessMoving(async () => await allowed(one(), tenant, asked));
      if (answer !== undefined) assert.equal(answer, value, `${permission} of ${id}, seed ${seed}`);
    }
  }
  return there;
}

/** Writes schema versions and bundles one after the other. Resolves to the last version and payload. */
async function writeTexts(
  tenant: TenantId,
  isOver: () => boolean,
): Promise<{ readonly version: string; readonly versions: number; readonly bundle: string }> {
  let version = "";
  let versions = 1;
  let bundle = "";
  // Enough for several in each move. Without a limit, most of the time would go into schemas.
  for (let round = 0; (round < 20 * moves && !isOver()) || bundle === ""; round++) {
    const letters = String(round).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)));
    const text = `${schemaText}\n entity extra_${letters} {}`;
    const made = await unlessMoving(async () => await placed.store.schemas.write(tenant, { text }));
    if (made !== undefined) versions++;
    version = made ?? version;
    const name = `user:${round}`;
    const operation = {
      relationshipsWrite: [`doc:{{.id}}#viewer@${name}`],
      relationshipsDelete: [],
      attributesWrite: [],
      attributesDelete: [],
    };
    const written = await unlessMoving(async () => {
      await placed.store.bundles.write(tenant, [
        { name: "b", arguments: ["id"], operations: [operation] },
      ]);
      return true;
    });
    if (written === true) bundle = JSON.stringify(operation);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { version, versions, bundle };
}

/** Follows the changes until the test is over, and begins anew where a move has ended the stream. */
async function watch(tenant: TenantId, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await unlessMoving(async () => {
      const { messages } = await placed.store.changes.follow(tenant, { after: undefined, signal });
      for await (const { changes } of messages) {
        for (const { operation } of changes) assert.ok(["create", "delete"].includes(operation));
      }
    });
  }
}

/** Stands before databases and dies at its statement with this number. */
function dyingAt(number: number): (database: MoveDatabase) => MoveDatabase {
  let sent = 0;
  return (database) => ({
    query: async (text, values) => {
      if (++sent > number) throw new Killed();
      const rows = await database.query(text, values);
      if (sent === number) throw new Killed();
      return rows;
    },
  });
}

/** Moves the tenant, with a mover that may die. Another one, or an instance, has it served again. */
async function moveOnce(tenant: TenantId, nth: number): Promise<void> {
  const { upTo, happens } = dice(nth);
  const to = clusters[upTo(clusters.length)] ?? "a";
  const through = happens(0.6) ? dyingAt(1 + upTo(45)) : undefined;
  const move = { tenant, to, leaseMs: 0, ...(through && { through }) };
  const failed = await mover.run(move).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failed === undefined) return;
  const isHere = failed instanceof PembaError && failed.code === "INVALID_ARGUMENT";
  if (isHere) return;
  if (!(failed instanceof Killed)) throw failed;
  const ending = upTo(3);
  if (ending === 0) await mover.recover();
  const begun = await mover.notes.read(tenant);
  if (begun === undefined) return;
  if (ending === 1) await mover.revert(tenant);
  else await mover.run({ tenant, to: begun.target, leaseMs: 0 });
}

test(`${moves} moves under load lose nothing, with the seed ${seed}`, async () => {
  const tenant = await tenantWithSchema(placed.store, "b");
  const ending = new AbortController();
  const isOver = (): boolean => ending.signal.aborted;
  const load = Promise.all([
    Promise.all([1, 2, 3, 4].map(async (writer) => await writeAndRead(tenant, writer, isOver))),
    writeTexts(tenant, isOver),
    watch(tenant, ending.signal),
  ]);
  const moving = (async () => {
    try {
      for (let nth = 0; nth < moves; nth++) await moveOnce(tenant, nth);
    } finally {
      ending.abort();
    }
  })();
  const [[models, texts]] = await Promise.all([load, moving]);
  for (const model of models) {
    for (const [key, value] of model) {
      const [permission = "", id = ""] = key.split(" ");
      const asked = { id, permission, subject: "ann" };
      for (const store of instances) assert.equal(await allowed(store, tenant, asked), value, key);
    }
  }
  const { head, items } = await placed.store.schemas.list(tenant, {
    before: undefined,
    limit: 10_000,
  });
  // A write whose connection was lost may have been made all the same, after the last that was acknowledged.
  assert.ok(head !== undefined && head >= texts.version);
  assert.ok(items.length >= texts.versions);
  const bundle = await placed.store.bundles.read(tenant, "b");
  assert.equal(JSON.stringify(bundle.operations[0]), texts.bundle);
  const served = await Promise.all(
    placed.urls.map(async (url) => {
      const sql = connect(url, 1);
      const rows = await sql`select from tenants where id = ${tenant}`;
      await sql.end();
      return rows.length;
    }),
  );
  assert.equal(
    served.reduce((sum, rows) => sum + rows, 0),
    1,
  );
});

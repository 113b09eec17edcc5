import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { tokenMac } from "../../src/base/token-mac.ts";
import type { SnapToken } from "../../src/base/tuple.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { arrayLiteral } from "../../src/store/postgres/connect/value.ts";
import {
  decodeSnapToken,
  encodeSnapToken,
  identityOf,
  type TokenContent,
} from "../../src/store/postgres/token/snap-token-codec.ts";
import {
  isVisible,
  parseSnapshot,
  printSnapshot,
  withVisible,
} from "../../src/store/postgres/token/snapshot.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { snapMac, tokenKey } from "../support/token-key.ts";
import { allowed, openPostgres, pool, tenantWithSchema, write } from "./engines.ts";
import { connect } from "./open-write.ts";

let place: TestDatabase;
let database: Database;

before(async () => {
  place = await createTestDatabase();
  database = await Database.connect({ url: place.url, pool, warn: assert.fail });
});

after(async () => {
  await database.close();
  await place.drop();
});

/** A transaction has no id whose lower half is 0, 1 or 2. */
function isId(id: bigint): boolean {
  return (id & 0xffff_ffffn) >= 3n;
}

function atLeast(id: bigint): bigint {
  return isId(id) ? id : atLeast(id + 1n);
}

/** Also right before the lower half of the ids begins anew. */
const firstId = fc.oneof(
  fc.bigInt({ min: 300n, max: 1n << 60n }),
  fc.bigInt({ min: -600n, max: 0n }).map((offset) => (5n << 32n) + offset),
);

/** As the server prints it: xmin is the first of the running ones, or xmax. */
const snapshotText = fc
  .record({
    xmin: firstId,
    gaps: fc.array(fc.oneof(fc.constant(1n), fc.bigInt({ min: 1n, max: 300n })), { maxLength: 40 }),
    beyond: fc.bigInt({ min: 1n, max: 300n }),
  })
  .map(({ xmin, gaps, beyond }) => {
    const running: bigint[] = [];
    for (const gap of gaps) running.push(atLeast((running.at(-1) ?? xmin) + gap));
    const last = running.at(-1);
    const xmax = atLeast(last === undefined ? xmin : last + beyond);
    return `${running[0] ?? xmax}:${xmax}:${running.join(",")}`;
  });

/** Every id from below the snapshot to above it. */
function idsAround(text: string, ownXid: bigint): readonly bigint[] {
  const [xmin = "", xmax = ""] = text.split(":");
  const top = BigInt(xmax) > ownXid ? BigInt(xmax) : ownXid;
  const bottom = BigInt(xmin) < ownXid ? BigInt(xmin) : ownXid;
  const ids: bigint[] = [];
  for (let id = bottom - 2n; id <= top + 2n; id++) if (isId(id)) ids.push(id);
  return ids;
}

async function visible(text: string, ids: readonly bigint[]): Promise<readonly string[]> {
  const rows = await database.query(
    `select id from unnest($1::text[]) as ids (id)
     where pg_visible_in_snapshot(id::xid8, $2::pg_snapshot)`,
    [arrayLiteral(ids.map(String)), text],
  );
  return rows.map((row) => String(row["id"]));
}

/** A state that was looked at without changing anything. */
function stateOf(text: string): TokenContent {
  const snapshot = parseSnapshot(text);
  return {
    identity: identityOf("a"),
    timeline: 3,
    snapshot,
    change: undefined,
    takenBefore: snapshot.xmax,
  };
}

function encode(text: string): SnapToken {
  return encodeSnapToken(snapMac, stateOf(text));
}

test("a token says what it was made of", () => {
  fc.assert(
    fc.property(
      snapshotText,
      fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      fc.option(fc.bigInt({ min: 1n, max: 300n }), { nil: undefined }),
      fc.bigInt({ min: 0n, max: 300n }),
      (text, timeline, age, later) => {
        const state = stateOf(text);
        const { xmax } = state.snapshot;
        const change = age === undefined ? undefined : xmax - age;
        const isShown = change !== undefined && isId(change) && isVisible(state.snapshot, change);
        const content = { ...state, timeline, change, takenBefore: xmax + later };
        const read = decodeSnapToken(snapMac, encodeSnapToken(snapMac, content));
        // The change of a token is one that its state shows.
        assert.deepEqual(read, change === undefined || isShown ? content : undefined);
        assert.equal(printSnapshot(content.snapshot), text);
      },
    ),
  );
});

test("a token with its own transaction shows it and what the snapshot shows, nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(snapshotText, fc.bigInt({ min: -200n, max: 200n }), async (text, offset) => {
      const { xmax } = parseSnapshot(text);
      const own = atLeast(xmax + offset);
      const ids = idsAround(text, own);
      const token = printSnapshot(withVisible(parseSnapshot(text), own));
      const expected = new Set([...(await visible(text, ids)), String(own)]);
      assert.deepEqual(new Set(await visible(token, ids)), expected);
    }),
    { numRuns: 50 },
  );
});

test("ids between the snapshot and a later own transaction are running for ever", () => {
  const snapshot = withVisible(parseSnapshot("10:12:10"), 15n);
  assert.equal(printSnapshot(snapshot), "10:16:10,12,13,14");
});

test("a token is one that the server reads also where the lower half of the ids begins anew", async () => {
  const last = (6n << 32n) - 1n;
  const token = printSnapshot(
    withVisible(parseSnapshot(`${last - 2n}:${last}:${last - 2n}`), last),
  );
  const ids = [last - 2n, last - 1n, last, last + 4n, last + 5n];
  assert.deepEqual(await visible(token, ids), [String(last - 1n), String(last)]);
});

test("a changed token is none", () => {
  fc.assert(
    fc.property(snapshotText, fc.nat(), fc.nat({ max: 63 }), (text, position, replacement) => {
      const token = encode(text);
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const at = position % token.length;
      const changed = `${token.slice(0, at)}${alphabet.charAt(replacement)}${token.slice(at + 1)}`;
      assert.equal(decodeSnapToken(snapMac, changed) === undefined, changed !== token);
    }),
  );
});

test("text that is no token is none", () => {
  const token = encode("10:20:12,13");
  for (const text of ["", "a", "!", token.slice(1), `${token}A`, `${token}=`, ` ${token}`]) {
    assert.equal(decodeSnapToken(snapMac, text), undefined, text);
  }
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.equal(decodeSnapToken(snapMac, text), undefined);
    }),
  );
});

test("a token is good for those who have its key, and for no other kind of tokens", () => {
  const state = stateOf("10:20:12,13");
  for (const other of [tokenMac(`${tokenKey}x`, "snap"), tokenMac(tokenKey, "continuous")]) {
    assert.equal(decodeSnapToken(snapMac, encodeSnapToken(other, state)), undefined);
  }
});

test("a state has one token", () => {
  const body = Buffer.from(encodeSnapToken(snapMac, stateOf("10:20:12,13")), "base64url");
  const signed = (bytes: Buffer): string =>
    Buffer.concat([bytes, snapMac(bytes).subarray(0, 8)]).toString("base64url");
  const whole = body.subarray(0, -8);
  assert.notEqual(decodeSnapToken(snapMac, signed(whole)), undefined);
  // The same numbers: the last one with a byte that says nothing.
  const spelled = Buffer.concat([whole.subarray(0, -1), Buffer.of((whole.at(-1) ?? 0) | 0x80, 0)]);
  assert.equal(decodeSnapToken(snapMac, signed(spelled)), undefined);
});

test("a token whose state no server could have is none, though its code is right", () => {
  const state = stateOf("10:20:12,13");
  const at = (xmax: bigint, ...starts: readonly bigint[]): TokenContent => ({
    ...state,
    snapshot: { xmax, running: starts.map((start) => ({ start, end: start + 1n })) },
    takenBefore: xmax,
  });
  for (const content of [
    { ...state, timeline: 2 ** 31 },
    { ...state, timeline: 0 },
    { ...state, change: 12n },
    { ...state, change: 2n },
    // Neighbours are one range.
    at(20n, 12n, 13n),
    at((1n << 32n) + 2n),
    at(0n),
    at(1n << 32n),
    at(20n, 0n),
    at((1n << 32n) + 5n, 1n << 32n),
    at((1n << 63n) + 5n),
  ]) {
    assert.equal(decodeSnapToken(snapMac, encodeSnapToken(snapMac, content)), undefined);
  }
  assert.deepEqual(decodeSnapToken(snapMac, encodeSnapToken(snapMac, at(20n, 12n))), at(20n, 12n));
  // Distances have no sign, so ranges that are out of order or overlap cannot be written.
  for (const content of [at(20n, 13n, 12n), at(20n, 12n, 12n)]) {
    assert.throws(() => encodeSnapToken(snapMac, content), /invalid uint64/);
  }
});

test("a token stays under a kilobyte with five hundred transactions running", () => {
  const running = Array.from({ length: 500 }, (_, index) => 4_000_000_000_000 + index * 17);
  assert.ok(encode(`4000000000000:4000000009000:${running.join(",")}`).length < 1_000);
});

test("a token stays small with ten thousand ids taken by one open transaction, and has no more", () => {
  const tokenAfter = (own: bigint): SnapToken => {
    const snapshot = withVisible(parseSnapshot("1000:1000:"), own);
    return encodeSnapToken(snapMac, {
      ...stateOf("1000:1000:"),
      snapshot,
      change: own,
      takenBefore: snapshot.xmax,
    });
  };
  const token = tokenAfter(11_000n);
  assert.ok(token.length < 60, String(token.length));
  assert.notEqual(decodeSnapToken(snapMac, token), undefined);
  assert.equal(decodeSnapToken(snapMac, tokenAfter(11_001n)), undefined);
});

test("a text that is too long for a token is not looked into", () => {
  const running = (count: number): string =>
    Array.from({ length: count }, (_, index) => 4_000_000_000_000 + index * 1_000_000).join(",");
  const long = encode(`4000000000000:4100000000000:${running(9_000)}`);
  assert.notEqual(decodeSnapToken(snapMac, long), undefined);
  assert.equal(decodeSnapToken(snapMac, `${long}${"A".repeat(64 * 1024)}`), undefined);
});

test("a write has a token that is good, however many ids somebody else takes meanwhile", async () => {
  const { store, url, close } = await openPostgres();
  const tenant = await tenantWithSchema(store);
  const sql = connect(url);
  const other = await sql.reserve();
  await other`begin`;
  await other`create temporary table taken (id integer)`;
  // Each turn is a subtransaction with an id of its own, and none of them is known to have ended.
  await other`
    do $$
    begin
      for turn in 1..12000 loop
        begin
          insert into taken values (turn);
        exception when division_by_zero then
          raise;
        end;
      end loop;
    end
    $$`;
  const token = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
  assert.notEqual(decodeSnapToken(snapMac, token), undefined);
  const asked = { id: "1", permission: "view", subject: "a", at: token };
  assert.equal(await allowed(store, tenant, asked), true);
  await other`commit`;
  other.release();
  await sql.end({ timeout: 1 });
  await close();
});

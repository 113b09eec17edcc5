/** Tokens that applications take in their own transactions, where standbys answer. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { allowed, fails } from "../store/engines.ts";
import { asked, type Replicated, startReplicated } from "../store/replicated.ts";
import { interfaceOptions } from "./interface-scene.ts";

let servers: Replicated;

before(async () => {
  servers = await startReplicated();
});

after(async () => {
  await servers.stop();
});

async function make(sql: postgres.ISql, tenant: TenantId, subject: string): Promise<SnapToken> {
  await sql`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', ${subject})`;
  const [row] = await sql<{ token: SnapToken }[]>`select pemba.token(${tenant})`;
  return row?.token ?? assert.fail("no token");
}

test("a token is refused everywhere before the commit, and is exact everywhere after it", async (t) => {
  const { sql, following } = servers;
  const { store, tenant } = await servers.open(t, { sql: interfaceOptions });
  const token = await sql.begin(async (inside) => {
    const own = await make(inside, tenant, "a");
    // The standby has seen the change, and not its end.
    await sql`select pg_current_xact_id()`;
    await servers.caughtUp();
    for (let round = 0; round < 4; round++) {
      await fails(allowed(store, tenant, asked("a", own)), "INVALID_SNAP_TOKEN", "not committed");
    }
    return own;
  });
  const resume = await servers.pauseReplay(t);
  await make(sql, tenant, "b");
  for (let round = 0; round < 4; round++) {
    if (round === 2) await resume();
    assert.equal(await allowed(store, tenant, asked("a", token)), true);
    assert.equal(await allowed(store, tenant, asked("b", token)), false);
  }
  await assert.rejects(following`select pemba.token(${tenant})`.execute(), {
    code: "55000",
    message: /standby/,
  });
  await assert.rejects(
    following`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'c')`.execute(),
  );
});

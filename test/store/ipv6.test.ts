import assert from "node:assert/strict";
import { test } from "node:test";

import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { migrateUp } from "../../src/store/postgres/migrate.ts";
import { Listener } from "../../src/store/postgres/watch/change-notifier.ts";
import { withoutIpv6 } from "../support/ipv6.ts";
import { migrationNames } from "../support/migration-names.ts";
import { startPostgresBinaries } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { connect, until } from "./open-write.ts";

test(
  "a server is reached at an IPv6 address, alone and among others",
  { skip: withoutIpv6 },
  async (t) => {
    const server = await startPostgresBinaries([
      ...serverSettings,
      "listen_addresses=127.0.0.1,::1",
    ]);
    t.after(async () => await server.stop());
    const { host, port } = new URL(server.url);
    const at = (hosts: string): string => server.url.replace(host, hosts);
    for (const hosts of [`[::1]:${port}`, `[::1]:1,[::1]:${port}`, `127.0.0.1:1,[::1]:${port}`]) {
      const [row] = await onDatabase(
        at(hosts),
        async (database) => await database.query("select host(inet_server_addr()) as address", []),
      );
      assert.equal(row?.["address"], "::1", hosts);
    }
    assert.deepEqual(await migrateUp(at(`[::1]:1,[::1]:${port}`)), migrationNames);

    let heard = 0;
    // What is for other programs is no more told the server than over any other connection.
    const url = `${at(`[::1]:1,[::1]:${port}`)}?pool_max_conns=5`;
    const listener = new Listener(url, () => (heard += 1));
    t.after(async () => await listener.close());
    listener.start();
    // Listening counts as hearing once.
    await until(async () => (heard > 0 ? true : undefined));
    const before = heard;
    const sql = connect(server.url, 1);
    t.after(async () => await sql.end({ timeout: 1 }));
    await sql`notify pemba_changes`;
    await until(async () => (heard > before ? true : undefined));
  },
);

import assert from "node:assert/strict";
import { test } from "node:test";

import { Database } from "../../src/store/postgres/connect/database.ts";
import { createTestDatabase } from "../support/database.ts";
import { pool } from "./engines.ts";
import { connect } from "./open-write.ts";

const readers = 12;
const endings = 150;

const read = "-- read\nselect $1::int as one, repeat('x', $2::int) as pad, pg_sleep(0.002)";

const endOne = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and query like '-- read%' order by random() limit 1`;

test(
  "every read settles, whichever connections are ended under it",
  { timeout: 60_000 },
  async (t) => {
    const place = await createTestDatabase();
    const sql = connect(place.url, 1);
    const database = await Database.connect({
      url: place.url,
      pool,
      warn: () => {},
      maxRetries: 10,
    });
    t.after(async () => {
      await Promise.all([database.close(), sql.end()]);
      await place.drop();
    });

    let isOver = false;
    const reading = Array.from({ length: readers }, async () => {
      let settled = 0;
      while (!isOver) {
        await database.read(read, [settled, settled % 20_000]).catch(() => undefined);
        settled += 1;
      }
      return settled;
    });
    let ended = 0;
    while (ended < endings) ended += (await sql.unsafe(endOne)).length;
    isOver = true;

    const settled = await Promise.all(reading);
    assert.ok(settled.every((count) => count > 0));
  },
);

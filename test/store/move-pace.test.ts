/** How fast a move copies. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { blocksMin, nextBlocks, restMs } from "../../src/store/placed/move/pace.ts";
import { statementFile } from "../../src/store/postgres/connect/statement-file.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { connect } from "./open-write.ts";

/** Copies so many pages by a clock that goes on by what each takes, and resolves to what the clock says. */
function copied(
  pages: number,
  page: { readonly rows: number; readonly tookMs: number },
  rate: number,
): number {
  let clockMs = 0;
  for (let nth = 0; nth < pages; nth++) clockMs += page.tookMs + restMs(page, rate);
  return clockMs;
}

test("without a rate a copy works a third of the time", () => {
  const page = { rows: 1_000, tookMs: 20 };
  assert.equal(copied(100, page, Number.POSITIVE_INFINITY), 3 * 100 * 20);
});

test("with a rate a copy brings so many rows a second", () => {
  assert.equal(copied(50, { rows: 1_000, tookMs: 20 }, 5_000), 10_000);
  // Pages that others own bring nothing, and are no reason to wait longer.
  assert.equal(copied(50, { rows: 0, tookMs: 2 }, 5_000), 3 * 50 * 2);
});

test("a rate above what a third of the time brings does not make a copy faster", () => {
  const page = { rows: 1_000, tookMs: 20 };
  assert.equal(copied(100, page, 1_000_000), copied(100, page, Number.POSITIVE_INFINITY));
});

test("after a page that waited for a lock a copy does not rest for hours", () => {
  assert.equal(restMs({ rows: 10, tookMs: 3_600_000 }, Number.POSITIVE_INFINITY), 5_000);
});

/** The blocks of a page after many, on servers that take so long for each. */
function blocksAfter(pages: number, msOfBlock: number): number {
  let blocks = blocksMin;
  for (let nth = 0; nth < pages; nth++) blocks = nextBlocks(blocks, blocks * msOfBlock);
  return blocks;
}

test("a page has as many blocks as take about 25 milliseconds, but 8 at least and 64 at most", () => {
  assert.equal(blocksAfter(20, 0.01), 64);
  assert.equal(blocksAfter(20, 100), 8);
  for (const msOfBlock of [0.4, 0.7, 1, 1.5, 2, 3]) {
    const tookMs = blocksAfter(20, msOfBlock) * msOfBlock;
    assert.ok(tookMs > 12 && tookMs <= 25, `${tookMs} ms, of ${msOfBlock} each`);
  }
});

test("the rows of a tenant are counted without parallel workers", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const sql = connect(url, 1);
  t.after(async () => await sql.end({ timeout: 1 }));
  const [row] = await sql`select current_setting('server_version_num')::integer as version`;
  const setting =
    Number(row?.["version"]) < 160_000 ? "force_parallel_mode" : "debug_parallel_query";
  await sql.unsafe(`set ${setting} = on`);
  const planOf = async (statement: string): Promise<string> =>
    JSON.stringify(await sql.unsafe(`explain ${statement.replaceAll("$1", "1")}`));
  assert.match(await planOf("select count(*) from relationships where tenant = $1"), /Gather/);
  assert.doesNotMatch(await planOf(statementFile("placement/move-tally.sql")), /Gather/);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { onDatabase } from "../../src/store/postgres/connect/on-database.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let place: TestDatabase;

before(async () => {
  place = await createTestDatabase();
});

after(async () => await place.drop());

async function settingWith(query: string, name: string): Promise<unknown> {
  return await onDatabase(`${place.url}?${query}`, async (database) => {
    const [row] = await database.query("select current_setting($1::text) as value", [name]);
    return row?.["value"];
  });
}

test("a parameter that the server does not know is told, and where it stands", async () => {
  for (const [query, expected] of [
    ["foo=bar", /`database\.uri`: .* unrecognized configuration parameter "foo"/],
    [
      "statement_timeout=soon",
      /`database\.uri`: .* invalid value for parameter "statement_timeout"/,
    ],
  ] as const) {
    await assert.rejects(settingWith(query, "search_path"), expected);
  }
});

test("a setting of the server is one of each connection", async () => {
  assert.equal(await settingWith("search_path=elsewhere", "search_path"), "elsewhere");
});

test("parameters that tell other programs how to pool and prepare are passed over", async () => {
  const others = [
    "default_query_exec_mode=cache_describe",
    "plan_cache_mode=disable",
    "pool_max_conns=5",
    "pool_max_conn_lifetime=1h",
    "channel_binding=prefer",
    "gssencmode=disable",
    "connect_timeout=3",
  ].join("&");
  const query = `${others}&application_name=mine&sslmode=disable`;
  assert.equal(await settingWith(query, "application_name"), "mine");
  assert.equal(await settingWith(query, "plan_cache_mode"), "force_generic_plan");
});

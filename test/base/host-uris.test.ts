import assert from "node:assert/strict";
import { test } from "node:test";

import { hostIn, hostOf, hostUris } from "../../src/base/host-uris.ts";

test("each host of a URI has one of its own, with all else in common", () => {
  assert.deepEqual(hostUris("postgres://me:a%40b@one:1,two:2/db?sslmode=require").uris, [
    "postgres://me:a%40b@one:1/db?sslmode=require",
    "postgres://me:a%40b@two:2/db?sslmode=require",
  ]);
  assert.deepEqual(hostUris("postgresql://one,two:2").uris, [
    "postgresql://one:2",
    "postgresql://two:2",
  ]);
  assert.deepEqual(hostUris("postgres:///db").uris, ["postgres:///db"]);
  assert.deepEqual(hostUris("postgres://[::1]:5433/db").uris, ["postgres://[::1]:5433/db"]);
  assert.deepEqual(hostUris("postgres://me@[::1],[2001:db8::5432],one:5433/db").uris, [
    "postgres://me@[::1]:5433/db",
    "postgres://me@[2001:db8::5432]:5433/db",
    "postgres://me@one:5433/db",
  ]);
});

test("of several hosts, or when it says so, one is wanted that takes writes", () => {
  for (const [uri, mustWrite] of [
    ["postgres://one/db", false],
    ["postgres://one,two/db", true],
    ["postgres://one/db?target_session_attrs=read-write", true],
    ["postgres://one/db?target_session_attrs=primary", true],
    ["postgres://one/db?target_session_attrs=any", false],
  ] as const) {
    assert.equal(hostUris(uri).mustWrite, mustWrite, uri);
  }
});

test("the driver is not told which server is wanted, and all else that stands there", () => {
  for (const [query, left] of [
    ["?target_session_attrs=primary", ""],
    ["?target_session_attrs=primary&sslmode=require", "?sslmode=require"],
    ["?sslmode=require&target_session_attrs=primary", "?sslmode=require"],
    ["?a=1&target_session_attrs=primary&b=2", "?a=1&b=2"],
  ] as const) {
    assert.deepEqual(hostUris(`postgres://one/db${query}`).uris, [`postgres://one/db${left}`]);
  }
});

test("a host is named without what is secret", () => {
  assert.equal(hostOf("postgres://me:se%2Fcret@one:1/db?password=x"), "one:1");
  assert.equal(hostOf("postgres://me:secret@[::1]:1/db"), "[::1]:1");
});

test("a host is an address without brackets, and may be the directory of a socket", () => {
  for (const [uri, host] of [
    ["postgres://me:secret@one:1/db", "one"],
    ["postgres://[::1]:1/db", "::1"],
    ["postgres://%2Fvar%2Frun%2Fpostgresql:1/db", "/var/run/postgresql"],
    ["postgres:///db", ""],
  ] as const) {
    assert.equal(hostIn(uri), host, uri);
  }
});

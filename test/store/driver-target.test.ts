import assert from "node:assert/strict";
import { test } from "node:test";

import { hostUris } from "../../src/base/host-uris.ts";
import { driverTarget } from "../../src/store/postgres/connect/driver-target.ts";

const placesIn = (uri: string) => driverTarget(hostUris(uri).uris).places;

test("IPv6 addresses are told the driver whole, with their ports", () => {
  assert.deepEqual(placesIn("postgres://me:a%40b@[2001:db8::1]:5433/db?sslmode=require"), {
    host: ["2001:db8::1"],
    port: [5433],
  });
  assert.deepEqual(placesIn("postgres://[::1]/db"), { host: ["::1"], port: [5432] });
});

test("of several hosts each is told with its port", () => {
  assert.deepEqual(placesIn("postgres://me@one:1,[::1],[2001:db8::1]:3/db"), {
    host: ["one", "::1", "2001:db8::1"],
    port: [1, 3, 3],
  });
});

test("what the driver reads in the URI is left to it", () => {
  for (const uri of ["postgres://one:1/db", "postgres://127.0.0.1/db", "postgres:///db"]) {
    assert.equal(placesIn(uri), undefined);
  }
});

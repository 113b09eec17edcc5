import assert from "node:assert/strict";
import { test } from "node:test";

import { ReplicationLag } from "../../src/store/postgres/replicas/replica.ts";

test("a replica is behind since the writer first had what it lacks", () => {
  const lag = new ReplicationLag();
  lag.wrote({ at: 1_000, position: 10n });
  lag.wrote({ at: 2_000, position: 20n });
  lag.wrote({ at: 3_000, position: 30n });
  assert.equal(lag.of(5n, 4_000), 3_000);
  assert.equal(lag.of(10n, 4_000), 2_000);
  assert.equal(lag.of(29n, 4_000), 1_000);
});

test("a replica that has all there is is not behind, however old that is", () => {
  const lag = new ReplicationLag();
  assert.equal(lag.of(0n, 1_000), 0);
  for (let at = 0; at < 5_000; at++) lag.wrote({ at, position: 10n });
  assert.equal(lag.of(10n, 100_000), 0);
  assert.equal(lag.of(11n, 100_000), 0);
  assert.equal(lag.of(9n, 100_000), 100_000);
});

test("samples are bounded, and what came before them is lacking at least since the first", () => {
  const lag = new ReplicationLag();
  for (let at = 0; at < 2_000; at++) lag.wrote({ at, position: BigInt(at) });
  assert.equal(lag.of(0n, 2_000), 600);
});

test("while the writer is silent, what a replica may lack counts since its last answer", () => {
  const lag = new ReplicationLag();
  lag.wrote({ at: 1_000, position: 10n });
  lag.wrote({ at: 2_000, position: 20n });
  lag.wrote({ at: 3_000, position: 20n });
  lag.saidNothing();
  assert.equal(lag.of(20n, 70_000), 67_000);
  assert.equal(lag.of(19n, 70_000), 68_000);
  lag.saidNothing();
  assert.equal(lag.of(20n, 80_000), 77_000);
  lag.wrote({ at: 81_000, position: 20n });
  assert.equal(lag.of(20n, 81_000), 0);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { peerTargetOf } from "../../src/config/peer-target.ts";

const list = (...addresses: readonly string[]) => ({ kind: "list", addresses });
const name = (host: string, port: number) => ({ kind: "name", host, port });

const targets = {
  "dns:///pemba:5000": name("pemba", 5000),
  "pemba.internal:5000": name("pemba.internal", 5000),
  "[::1]:5000": name("::1", 5000),
  "kubernetes:///pemba.auth:5000": name("pemba.auth", 5000),
  "static:///10.0.0.1:5000": list("10.0.0.1:5000"),
  "static:///10.0.0.1:5000,10.0.0.2:5001": list("10.0.0.1:5000", "10.0.0.2:5001"),
  "one:5000, [::2]:5000": list("one:5000", "[::2]:5000"),
  "": undefined,
  pemba: undefined,
  "pemba:0": undefined,
  "pemba:65536": undefined,
  "http:///pemba:5000": undefined,
  "dns:///one:5000,two:5000": undefined,
  "static:///": undefined,
  "one:5000,": undefined,
  "one two:5000": undefined,
};

for (const [text, expected] of Object.entries(targets)) {
  test(`\`${text}\` is ${expected === undefined ? "no place of instances" : expected.kind}`, () => {
    assert.deepEqual(peerTargetOf(text), expected);
  });
}

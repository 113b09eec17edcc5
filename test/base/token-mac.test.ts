import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { isMacOf, tokenMac } from "../../src/base/token-mac.ts";

/** Secrets around the length of a block of the hash, a longer one counts as its hash. */
const secrets = [1, 16, 63, 64, 65, 200].map((length) => "k".repeat(length));
const contents = [0, 1, 30, 64, 1_000].map((length) => Buffer.alloc(length, length));

test("the code of a token is HMAC-SHA-256 with a key for each kind of token", () => {
  for (const secret of [...secrets, "clé ключ 鍵"]) {
    for (const kind of ["snap", "continuous"] as const) {
      const key = createHmac("sha256", secret).update(`${kind} token`).digest();
      const mac = tokenMac(secret, kind);
      for (const content of contents) {
        const expected = createHmac("sha256", key).update(content).digest();
        assert.deepEqual(mac(content), expected);
      }
    }
  }
});

test("a code stays as it was given when more codes are made", () => {
  const mac = tokenMac("key", "snap");
  const first = mac(Buffer.from("first"));
  const second = mac(Buffer.from("second"));
  assert.notDeepEqual(first, second);
  assert.ok(isMacOf(mac, Buffer.from("first"), first));
  assert.ok(isMacOf(mac, Buffer.from("second"), second.subarray(0, 8)));
  assert.ok(!isMacOf(mac, Buffer.from("second"), first));
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { parseElements, type RawTuple } from "../../src/service/request-data.ts";

test("the first hundred invalid elements of a request are told, and no others are looked at", () => {
  let looks = 0;
  const invalid = (): RawTuple => ({
    get entity() {
      looks += 1;
      return { type: "no name 1", id: "1" };
    },
  });
  const valid = {
    entity: { type: "doc", id: "1" },
    relation: "owner",
    subject: { type: "user", id: "1" },
  };
  const tuples = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? valid : invalid()));
  assert.throws(
    () => parseElements({ tuples, attributes: [{}] }),
    (error) => {
      assert.ok(error instanceof PembaError);
      assert.match(error.plainMessage, /^tuples\[1\]\.entity\.type: `no name 1` is not a name/);
      assert.deepEqual(
        error.details.map(({ field }) => field),
        Array.from({ length: 100 }, (_, index) => `tuples[${2 * index + 1}].entity.type`),
      );
      return true;
    },
  );
  assert.equal(looks, 100);
});

test("invalid tuples and attributes of a request are told together", () => {
  const tuples = [{ entity: { type: "no name 1" } }];
  assert.throws(
    () => parseElements({ tuples, attributes: [{}, {}] }),
    (error) => {
      assert.ok(error instanceof PembaError);
      const fields = error.details.map(({ field }) => field);
      assert.deepEqual(fields, [
        "tuples[0].entity.type",
        "attributes[0].entity",
        "attributes[1].entity",
      ]);
      return true;
    },
  );
});

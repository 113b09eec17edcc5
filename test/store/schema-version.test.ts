import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { SchemaVersion } from "../../src/base/tuple.ts";
import { newSchemaVersion } from "../../src/store/schema-version.ts";

const time = fc.date({
  min: new Date("2026-01-01T00:00:00Z"),
  max: new Date("2500-01-01T00:00:00Z"),
  noInvalidDate: true,
});

test("a version sorts after its predecessor, also when the clock went back", () => {
  fc.assert(
    fc.property(fc.array(time, { minLength: 2, maxLength: 20 }), (times) => {
      let former: SchemaVersion | undefined;
      for (const now of times) {
        const version = newSchemaVersion(former, now);
        assert.match(version, /^[0-9a-v]{20}$/);
        assert.ok(former === undefined || version > former, `${version} after ${former}`);
        former = version;
      }
    }),
  );
});

test("versions of different times sort by time", () => {
  fc.assert(
    fc.property(time, time, (one, other) => {
      fc.pre(one.getTime() < other.getTime());
      assert.ok(newSchemaVersion(undefined, one) < newSchemaVersion(undefined, other));
    }),
  );
});

test("versions of the same millisecond differ", () => {
  const now = new Date();
  const versions = Array.from({ length: 1_000 }, () => newSchemaVersion(undefined, now));
  assert.equal(new Set(versions).size, versions.length);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { Ring } from "../../src/distributed/ring.ts";

const shape = { partitions: 271, points: 20, load: 1.25 };
const keys = Array.from({ length: 2_000 }, (_, nth) => `key ${nth}`);
const anyMembers = fc.uniqueArray(fc.ipV4(), { minLength: 1, maxLength: 12 });

function owners(ring: Ring): readonly (string | undefined)[] {
  return keys.map((key) => ring.membersFor(key, 1)[0]);
}

test("a ring without members names no owner", () => {
  assert.deepEqual(new Ring([], shape).membersFor("key", 3), []);
});

test("instances that know the same members name the same owners, in any order of the members", () => {
  fc.assert(
    fc.property(anyMembers, (members) => {
      const ring = new Ring(members, shape);
      assert.deepEqual(owners(new Ring(members.toReversed(), shape)), owners(ring));
    }),
    { numRuns: 20 },
  );
});

test("owners stay the same from one version of the server to the next, which may serve together", () => {
  const ring = new Ring(["10.0.0.1:5000", "10.0.0.2:5000", "10.0.0.3:5000"], shape);
  const lasts = keys.slice(0, 16).map((key) => ring.membersFor(key, 1)[0]?.[7]);
  assert.equal(lasts.join(""), "2122133333122313");
});

test("no member owns many more partitions than others", () => {
  const manyKeys = Array.from({ length: 20_000 }, (_, nth) => `key ${nth}`);
  fc.assert(
    fc.property(anyMembers, (members) => {
      const ring = new Ring(members, shape);
      const counts = new Map<string, number>();
      for (const key of manyKeys) {
        for (const member of ring.membersFor(key, 1)) {
          counts.set(member, (counts.get(member) ?? 0) + 1);
        }
      }
      // Partitions are bounded, and keys fall into them about evenly.
      const most = Math.max(...counts.values());
      const room = Math.ceil((shape.partitions / members.length) * shape.load);
      assert.ok(most <= (manyKeys.length / shape.partitions) * room * 1.15, String(most));
    }),
    { numRuns: 20 },
  );
});

test("a member that goes moves little besides what it had", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.ipV4(), { minLength: 3, maxLength: 12 }),
      fc.nat(),
      (members, nth) => {
        const gone = members[nth % members.length] ?? assert.fail("no such member");
        const before = owners(new Ring(members, shape));
        const rest = members.filter((member) => member !== gone);
        const after = owners(new Ring(rest, shape));
        const moved = before.filter((owner, key) => owner !== gone && owner !== after[key]);
        assert.ok(moved.length < keys.length * 0.35, `${moved.length} of ${keys.length}`);
        assert.ok(!after.includes(gone));
      },
    ),
    { numRuns: 30 },
  );
});

test("several members are told in the order of the ring, the owner first, none twice", () => {
  fc.assert(
    fc.property(anyMembers, fc.integer({ min: 1, max: 15 }), (members, count) => {
      const ring = new Ring(members, shape);
      const some = ring.membersFor("a key", count);
      assert.equal(some.length, Math.min(count, members.length));
      assert.equal(new Set(some).size, some.length);
      assert.deepEqual(some.slice(0, 1), ring.membersFor("a key", 1));
    }),
    { numRuns: 50 },
  );
});

import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";

/** Makes other bytes of those of a message. */
export type Damage = (bytes: Buffer) => Buffer;

/** What no client that knows the descriptor would send. */
export function arbitraryDamage(desc: DescMessage): fc.Arbitrary<Damage> {
  const numbers = fc.oneof(
    fc.constantFrom(0, 1, 2 ** 29 - 1, 19_000, ...desc.fields.map(({ number }) => number)),
    fc.nat({ max: 2 ** 29 - 1 }),
  );
  return fc.oneof(
    fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }) }).map(overwritten),
    fc.nat().map((at) => (bytes: Buffer) => bytes.subarray(0, at % (bytes.length + 1))),
    fc.record({ at: fc.nat(), more: fc.uint8Array({ minLength: 1, maxLength: 12 }) }).map(inserted),
    // Another kind of value than the field has, or a field that there is not; groups included.
    fc
      .record({ number: numbers, wire: fc.nat({ max: 7 }), rest: fc.uint8Array({ maxLength: 12 }) })
      .map(({ number, wire, rest }) => (bytes: Buffer) => {
        return Buffer.concat([bytes, tagOf(number, wire), rest]);
      }),
    // A number whose end does not come, or that is spelled longer than it need be.
    fc.nat({ max: 30 }).map((length) => (bytes: Buffer) => {
      return Buffer.concat([bytes, tagOf(1, WireType.Varint), Buffer.alloc(length, 0x80)]);
    }),
    // A length of more than there is.
    fc.constantFrom(2n ** 31n, 2n ** 32n - 1n, 2n ** 63n).map((length) => (bytes: Buffer) => {
      const head = new BinaryWriter().tag(1, WireType.LengthDelimited).uint64(length).finish();
      return Buffer.concat([bytes, head]);
    }),
    // Groups within groups, which end or do not.
    fc
      .record({ number: numbers, depth: fc.integer({ min: 1, max: 20_000 }), ends: fc.boolean() })
      .map(({ number, depth, ends }) => (bytes: Buffer) => {
        const opened = Array<Buffer>(depth).fill(tagOf(number, WireType.StartGroup));
        const closed = ends ? Array<Buffer>(depth).fill(tagOf(number, WireType.EndGroup)) : [];
        return Buffer.concat([bytes, ...opened, ...closed]);
      }),
    fc.constant((bytes: Buffer) => Buffer.concat([bytes, bytes])),
    ...nestings(desc),
  );
}

function overwritten({ at, byte }: { readonly at: number; readonly byte: number }): Damage {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[at % copy.length] = byte;
    return copy;
  };
}

function inserted({ at, more }: { readonly at: number; readonly more: Uint8Array }): Damage {
  return (bytes) => {
    const place = at % (bytes.length + 1);
    return Buffer.concat([bytes.subarray(0, place), more, bytes.subarray(place)]);
  };
}

function tagOf(number: number, wire: number): Buffer {
  return Buffer.from(new BinaryWriter().uint32(((number << 3) | wire) >>> 0).finish());
}

/** Where a message can hold its own kind, that as deep as bytes go. */
function nestings(desc: DescMessage): readonly fc.Arbitrary<Damage>[] {
  return recursiveWithin(desc).map(({ path, loop }) =>
    fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 100_000 })).map((turns) => (bytes: Buffer) => {
      const steps = [...path, ...Array<readonly DescField[]>(turns).fill(loop).flat()];
      return Buffer.concat([bytes, nested(steps)]);
    }),
  );
}

/** Messages within one another, along the fields, the last one empty. */
function nested(steps: readonly DescField[]): Buffer {
  const heads: Buffer[] = [];
  let length = 0;
  const wrap = (number: number): void => {
    const head = new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(length).finish();
    heads.push(Buffer.from(head));
    length += head.length;
  };
  for (const field of steps.toReversed()) {
    // The value of an entry of a map has a message of its own around it.
    if (field.fieldKind === "map") wrap(2);
    wrap(field.number);
  }
  return Buffer.concat(heads.toReversed());
}

/** The paths to each message that can hold its own kind, and from there back to it. */
function recursiveWithin(
  desc: DescMessage,
): readonly { readonly path: readonly DescField[]; readonly loop: readonly DescField[] }[] {
  return [...pathsFrom(desc)].flatMap(([other, path]) => {
    const loop = pathsFrom(other).get(other);
    return loop === undefined || (path.length === 0 && other !== desc) ? [] : [{ path, loop }];
  });
}

/** The shortest path to every message that stands within, the message itself only if it stands there. */
function pathsFrom(desc: DescMessage): ReadonlyMap<DescMessage, readonly DescField[]> {
  const paths = new Map<DescMessage, readonly DescField[]>();
  let reached: readonly (readonly [DescMessage, readonly DescField[]])[] = [[desc, []]];
  while (reached.length > 0) {
    const next: (readonly [DescMessage, readonly DescField[]])[] = [];
    for (const [from, path] of reached) {
      for (const field of from.fields) {
        if (field.message === undefined || paths.has(field.message)) continue;
        const further = [...path, field];
        paths.set(field.message, further);
        next.push([field.message, further]);
      }
    }
    reached = next;
  }
  return paths;
}

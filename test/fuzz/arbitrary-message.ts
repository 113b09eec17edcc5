import {
  createRegistry,
  type DescField,
  type DescMessage,
  type DescOneof,
  fromJson,
  type JsonValue,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";

import { file_base_v1_value } from "../../src/gen/base/v1/value_pb.ts";
import type { KnownValues } from "../reference/arbitrary-request.ts";
import { arbitraryDamage } from "./arbitrary-damage.ts";

/*
 * Messages as they go over the line, made of their descriptors: values that are known by the names of
 * their fields, values that fit their types and no more, and bytes that are no such message.
 */

/** Messages within messages go no deeper by themselves; a damage may go as deep as bytes allow. */
const depthMax = 5;

const registry = createRegistry(file_base_v1_value);
const valueTypes = [...registry].filter((type) => type.kind === "message");

/** Bytes of a message, one of three of them damaged. */
export function arbitraryBytes(desc: DescMessage, messages: Messages): fc.Arbitrary<Buffer> {
  const whole = messages.of(desc, 0);
  return fc.oneof(
    { weight: 2, arbitrary: whole },
    {
      weight: 1,
      arbitrary: fc
        .tuple(whole, arbitraryDamage(desc))
        .map(([bytes, damage]) => damage(bytes).subarray(0, 5_000_000)),
    },
  );
}

/** Encoded fields, to be put one behind the other. */
type Encoded = fc.Arbitrary<Buffer>;

const nothing: Encoded = fc.constant(Buffer.alloc(0));

/** Messages of all types, with values that are known by the names of fields and types. */
export class Messages {
  readonly #known: KnownValues;
  /** By type and depth: messages that hold their own kind would be made again and again. */
  readonly #made = new Map<string, Encoded>();

  constructor(known: KnownValues) {
    this.#known = known;
  }

  of(desc: DescMessage, depth: number): Encoded {
    const key = `${desc.typeName} ${depth}`;
    const made = this.#made.get(key) ?? this.#make(desc, depth);
    this.#made.set(key, made);
    return made;
  }

  #make(desc: DescMessage, depth: number): Encoded {
    if (desc.typeName === AnySchema.typeName) return this.#any();
    const members = desc.members.map((member) =>
      member.kind === "oneof" ? this.#oneof(member, depth) : this.#field(member, depth),
    );
    const built = fc.tuple(...members).map((parts) => Buffer.concat(parts));
    const known = this.#messagesOf(desc);
    return known.length === 0
      ? built
      : fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom(...known) },
          { weight: 1, arbitrary: built },
        );
  }

  /** Those that are known by the name of their type. */
  #messagesOf(desc: DescMessage): readonly Buffer[] {
    return (this.#known[desc.name] ?? []).flatMap((value) => {
      const message = fromJson(desc, value as JsonValue, { registry });
      return [Buffer.from(toBinary(desc, message))];
    });
  }

  /** One of the members, none, or several, of which the last counts. */
  #oneof({ fields }: DescOneof, depth: number): Encoded {
    const members = fields.map((field) => this.#value(field, depth));
    return fc.oneof(
      { weight: 8, arbitrary: fc.oneof(...members) },
      { weight: 1, arbitrary: nothing },
      { weight: 1, arbitrary: fc.tuple(...members).map((parts) => Buffer.concat(parts)) },
    );
  }

  #field(field: DescField, depth: number): Encoded {
    const value = this.#value(field, depth);
    const there = [
      { weight: 8, arbitrary: value },
      { weight: 1, arbitrary: nothing },
    ];
    switch (field.fieldKind) {
      case "list":
        return fc
          .array(value, { maxLength: 3 })
          .map((parts) => Buffer.concat(parts))
          .chain((bytes) =>
            // Seldom very many.
            fc.oneof(
              { weight: 60, arbitrary: fc.constant(bytes) },
              { weight: 1, arbitrary: fc.constant(Buffer.concat(Array(200).fill(bytes))) },
            ),
          );
      case "map":
        return fc.array(value, { maxLength: 3 }).map((parts) => Buffer.concat(parts));
      default:
        return fc.oneof(...there);
    }
  }

  /** One value of the field, with its tag; of a list an item, of a map an entry. */
  #value(field: DescField, depth: number): Encoded {
    const { number } = field;
    if (field.message !== undefined && field.fieldKind !== "map") {
      if (depth >= depthMax) return nothing;
      return this.of(field.message, depth + 1).map((bytes) => lengthDelimited(number, bytes));
    }
    if (field.fieldKind === "map") {
      const key = this.#scalar(1, field.mapKey, this.#namedBy(`${field.name} keys`));
      const entry = fc.tuple(key, this.#entryValue(field, depth)).map((parts) => {
        return Buffer.concat(parts);
      });
      return entry.map((bytes) => lengthDelimited(number, bytes));
    }
    if (field.enum !== undefined) return this.#scalar(number, ScalarType.INT32, []);
    return this.#scalar(number, field.scalar ?? ScalarType.STRING, this.#namedBy(field.name));
  }

  #entryValue(field: DescField & { readonly fieldKind: "map" }, depth: number): Encoded {
    if (field.message === undefined) {
      return this.#scalar(2, field.scalar ?? ScalarType.INT32, this.#namedBy(field.name));
    }
    if (depth >= depthMax) return nothing;
    return this.of(field.message, depth + 1).map((bytes) => lengthDelimited(2, bytes));
  }

  #namedBy(name: string): readonly unknown[] {
    return this.#known[name] ?? [];
  }

  #any(): Encoded {
    return fc
      .constantFrom(...valueTypes)
      .chain((desc) =>
        fc.tuple(
          fc.oneof(
            { weight: 6, arbitrary: fc.constant(`type.googleapis.com/${desc.typeName}`) },
            { weight: 1, arbitrary: fc.constantFrom("", "/", desc.typeName, "x/y", "\u0000") },
          ),
          fc.oneof(
            { weight: 4, arbitrary: this.of(desc, depthMax) },
            {
              weight: 1,
              arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
            },
          ),
        ),
      )
      .map(([url, value]) =>
        Buffer.concat([lengthDelimited(1, Buffer.from(url)), lengthDelimited(2, value)]),
      );
  }

  #scalar(number: number, type: ScalarType, known: readonly unknown[]): Encoded {
    const any = scalarOf(number, type);
    const texts = known.filter((value) => typeof value === "string");
    if (type !== ScalarType.STRING || texts.length === 0) return any;
    const named = fc
      .constantFrom(...texts)
      .map((text) => lengthDelimited(number, Buffer.from(text)));
    return fc.oneof({ weight: 8, arbitrary: named }, { weight: 1, arbitrary: any });
  }
}

/** Tag and bytes of a text, a message or bytes. */
function lengthDelimited(number: number, bytes: Uint8Array): Buffer {
  const writer = new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(bytes);
  return Buffer.from(writer.finish());
}

const texts: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .constantFrom(
      "",
      "\u0000",
      "*",
      "...",
      "__proto__",
      "a".repeat(129),
      "a".repeat(70_000),
      "\u{1F600}",
    )
    .map((text) => Buffer.from(text)),
  fc.string({ maxLength: 30 }).map((text) => Buffer.from(text)),
  // What is no UTF-8: half of a surrogate pair, a byte that begins nothing.
  fc.constantFrom(Buffer.of(0xed, 0xa0, 0x80), Buffer.of(0xff), Buffer.of(0xc0, 0x80)),
);

const edges = [
  0n,
  1n,
  2n,
  127n,
  128n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n,
  2n ** 63n,
  2n ** 64n - 1n,
];

const varints: fc.Arbitrary<bigint> = fc.oneof(
  fc.constantFrom(...edges),
  fc.bigInt({ min: 0n, max: 60n }),
  // Negative ones are as long as they get.
  fc.bigInt({ min: 1n, max: 300n }).map((distance) => 2n ** 64n - distance),
);

function scalarOf(number: number, type: ScalarType): Encoded {
  switch (type) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return texts.map((bytes) => lengthDelimited(number, bytes));
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return fc.oneof(fc.double(), fc.constantFrom(Number.NaN, -0, 1e308, 2 ** 53)).map((value) => {
        const writer = new BinaryWriter().tag(number, WireType.Bit64).double(value);
        return Buffer.from(writer.finish());
      });
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return fc.float().map((value) => {
        return Buffer.from(new BinaryWriter().tag(number, WireType.Bit32).float(value).finish());
      });
    default:
      return varints.map((value) => {
        return Buffer.from(new BinaryWriter().tag(number, WireType.Varint).uint64(value).finish());
      });
  }
}

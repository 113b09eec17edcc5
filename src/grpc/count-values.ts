import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema } from "@bufbuild/protobuf/wkt";

import {
  BooleanArrayValueSchema,
  DoubleArrayValueSchema,
  IntegerArrayValueSchema,
  StringArrayValueSchema,
} from "../gen/base/v1/value_pb.ts";

/** The messages with a list that may stand in an Any. */
const listsInAny: ReadonlyMap<string, DescMessage> = new Map(
  [
    BooleanArrayValueSchema,
    DoubleArrayValueSchema,
    IntegerArrayValueSchema,
    StringArrayValueSchema,
  ].map((schema) => [schema.typeName, schema]),
);

/** The fields of messages by their numbers; descriptors have them by their names. */
const fields = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

/**
 * Counts the values and the keys of maps in the bytes of a message, without making any of them. It
 * stops when it has counted more than `max`, and where the bytes are no message: that is an error of
 * the decoder.
 */
export function countValues(
  schema: DescMessage,
  bytes: Uint8Array,
  { max, depth }: { readonly max: number; readonly depth: number },
): number {
  const counter = new Counter(bytes, max);
  try {
    counter.message(schema, bytes.length, depth);
  } catch {
    return counter.count;
  }
  return counter.count;
}

class Counter {
  count = 0;
  readonly #bytes: Uint8Array;
  readonly #reader: BinaryReader;
  readonly #max: number;

  constructor(bytes: Uint8Array, max: number) {
    this.#bytes = bytes;
    this.#reader = new BinaryReader(bytes);
    this.#max = max;
  }

  /** Counts the fields of a message up to its end, and what stands in them. */
  message(schema: DescMessage, end: number, depth: number): void {
    const known = fieldsOf(schema);
    let listInAny: DescMessage | undefined;
    this.#each(end, depth, (number, innerEnd) => {
      const field = known.get(number);
      if (schema === AnySchema && number === AnySchema.field.typeUrl.number) {
        listInAny = listsInAny.get(this.#text(innerEnd).replace(/^.*\//, ""));
      }
      const isAny = schema === AnySchema && number === AnySchema.field.value.number;
      const inner = isAny ? listInAny : field && messageOf(field);
      if (inner !== undefined) this.message(inner, innerEnd, depth - 1);
      else if (field?.fieldKind === "map") this.#entry(field, innerEnd, depth - 1);
      else if (field !== undefined) this.count += this.#packed(field, innerEnd);
    });
  }

  #entry(field: DescField & { readonly fieldKind: "map" }, end: number, depth: number): void {
    this.#each(end, depth, (number, innerEnd) => {
      if (number === mapValue && field.mapKind === "message") {
        this.message(field.message, innerEnd, depth - 1);
      }
    });
  }

  /** Counts fields up to `end`; `inside` is called for each that has a length. */
  #each(end: number, depth: number, inside: (number: number, end: number) => void): void {
    const reader = this.#reader;
    while (reader.pos < end && this.count <= this.#max && depth > 0) {
      const [number, wireType] = reader.tag();
      this.count += 1;
      if (wireType === WireType.LengthDelimited) {
        const length = reader.uint32();
        const innerEnd = reader.pos + length;
        // A length is what the client says, and may point beyond the bytes.
        if (innerEnd > end) throw new RangeError("a field is longer than its message");
        inside(number, innerEnd);
        reader.pos = innerEnd;
      } else {
        reader.skip(wireType, number);
      }
    }
  }

  #text(end: number): string {
    return Buffer.from(this.#bytes.subarray(this.#reader.pos, end)).toString();
  }

  /** How many elements a packed list has, whose numbers stand without tags. */
  #packed(field: DescField, end: number): number {
    if (field.fieldKind !== "list") return 0;
    if (field.listKind === "scalar") {
      const { scalar } = field;
      if (scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return 0;
      if (scalar === ScalarType.DOUBLE) return (end - this.#reader.pos) / 8;
    }
    let count = 0;
    // The last byte of a number has its highest bit clear.
    for (let at = this.#reader.pos; at < end; at++) if ((this.#bytes[at] ?? 0) < 0x80) count += 1;
    return count;
  }
}

/** An entry of a map is a message of a key and a value. */
const mapValue = 2;

function fieldsOf(schema: DescMessage): ReadonlyMap<number, DescField> {
  const known = fields.get(schema);
  if (known !== undefined) return known;
  const made = new Map(schema.fields.map((field) => [field.number, field]));
  fields.set(schema, made);
  return made;
}

function messageOf(field: DescField): DescMessage | undefined {
  if (field.fieldKind === "message") return field.message;
  return field.fieldKind === "list" && field.listKind === "message" ? field.message : undefined;
}

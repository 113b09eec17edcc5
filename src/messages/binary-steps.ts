import {
  create,
  type DescField,
  type DescMessage,
  isMessage,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import { assert } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";

/** Encoded at once: far less than a time slice. */
const itemsAtOnce = 256;

/** A field of one message or of a list of messages. */
type MessageField = DescField & { readonly message: DescMessage };

/** By type, the fields by which a message may become large. */
const known = new WeakMap<DescMessage, readonly MessageField[]>();

/**
 * Encodes a message, in steps if its type may hold very many others, such as a tree or a page. Omitted
 * fields have the defaults of their types.
 */
export function* encodeInSteps<D extends DescMessage>(
  schema: D,
  init: MessageInitShape<D>,
): Steps<Buffer> {
  const message = create(schema, init);
  if (!mayBeLarge(schema)) {
    const { buffer, byteOffset, byteLength } = toBinary(schema, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  }
  const pace = new Pace();
  const bytes = new NestedBytes();
  yield* encode(bytes, schema, message, pace);
  return yield* bytes.copy(pace);
}

/** Whether a message of the type may hold very many others. */
export function mayBeLarge(desc: DescMessage): boolean {
  return largeFieldsOf(desc).length > 0;
}

function* encode(bytes: NestedBytes, desc: DescMessage, message: Message, pace: Pace): Steps<void> {
  if (pace.step()) yield;
  const own = { ...message };
  const apart: { readonly field: MessageField; readonly value: unknown }[] = [];
  for (const field of largeFieldsOf(desc)) {
    const value = takeOut(own, field);
    if (value !== undefined) apart.push({ field, value });
  }
  bytes.add(toBinary(desc, own));
  for (const { field, value } of apart) {
    if (!Array.isArray(value)) {
      yield* encodeChild(bytes, field, value, pace);
    } else if (mayBeLarge(field.message)) {
      for (const item of value) yield* encodeChild(bytes, field, item, pace);
    } else {
      // A message whose list comes in parts has all of them.
      for (let start = 0; start < value.length; start += itemsAtOnce) {
        if (start > 0) yield;
        const part = create(desc);
        Reflect.set(part, field.localName, value.slice(start, start + itemsAtOnce));
        bytes.add(toBinary(desc, part));
      }
    }
  }
}

/** Encodes a message of a field, with its length before it. */
function* encodeChild(
  bytes: NestedBytes,
  { number, message: desc }: MessageField,
  child: unknown,
  pace: Pace,
): Steps<void> {
  assert(isMessage(child, desc), "the field holds messages");
  const below = new NestedBytes();
  yield* encode(below, desc, child, pace);
  const head = new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(below.length);
  bytes.add(head.finish());
  bytes.add(below);
}

/** Takes the value of a field out of a message. Undefined if it has none. */
function takeOut(message: Message, { localName, oneof, fieldKind }: MessageField): unknown {
  if (oneof === undefined) {
    const value: unknown = Reflect.get(message, localName);
    Reflect.set(message, localName, fieldKind === "list" ? [] : undefined);
    return value;
  }
  const chosen: unknown = Reflect.get(message, oneof.localName);
  assert(typeof chosen === "object" && chosen !== null, "a oneof has an object");
  if (Reflect.get(chosen, "case") !== localName) return undefined;
  Reflect.set(message, oneof.localName, { case: undefined });
  return Reflect.get(chosen, "value");
}

function largeFieldsOf(desc: DescMessage): readonly MessageField[] {
  let fields = known.get(desc);
  if (fields === undefined) {
    fields = desc.fields.filter((field): field is MessageField => holdsMany(field, new Set()));
    known.set(desc, fields);
  }
  return fields;
}

/** @param above the types that the field is within */
function holdsMany(field: DescField, above: ReadonlySet<DescMessage>): boolean {
  const { message } = field;
  if (message === undefined || message.typeName.startsWith("google.protobuf.")) return false;
  if (field.fieldKind === "list") return true;
  if (field.fieldKind !== "message" || above.has(message)) return false;
  const within = new Set([...above, message]);
  return message.fields.some((inner) => holdsMany(inner, within));
}

/** Bytes in pieces, which may be nested: the length of a message is known once all in it is encoded. */
class NestedBytes {
  readonly #pieces: (Uint8Array | NestedBytes)[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array | NestedBytes): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  *copy(pace: Pace): Steps<Buffer> {
    const copied = Buffer.allocUnsafe(this.#length);
    const open = [this.#pieces.values()];
    let at = 0;
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      if (pace.step()) yield;
      const { done, value } = last.next();
      if (done === true) {
        open.pop();
      } else if (value instanceof NestedBytes) {
        open.push(value.#pieces.values());
      } else {
        copied.set(value, at);
        at += value.length;
      }
    }
    return copied;
  }
}

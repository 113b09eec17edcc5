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
import { encodeMessage } from "./binary.ts";
import { isFields } from "./plain-writer.ts";

/** So many messages are encoded at once: that takes far less than a time slice. */
const messagesAtOnce = 256;

/** A field of one message or of a list of messages. */
type MessageField = DescField & { readonly message: DescMessage };

/** By type, the fields by which a message may become large. */
const known = new WeakMap<DescMessage, readonly MessageField[]>();

/**
 * Encodes a message, in steps if it holds very many others, such as a tree or a page. Omitted fields have
 * the defaults of their types.
 */
export function* encodeInSteps<D extends DescMessage>(
  schema: D,
  init: MessageInitShape<D>,
): Steps<Buffer> {
  if (!mayBeLarge(schema) || holdsFew(schema, init)) return encodeMessage(schema, init);
  const message = create(schema, init);
  const encoding = new Encoding();
  if ((yield* encoding.measure(schema, message)) <= messagesAtOnce) {
    return encodeMessage(schema, message);
  }
  return yield* encoding.encode(schema, message);
}

/** Whether a message of the type may hold very many others. */
export function mayBeLarge(desc: DescMessage): boolean {
  return largeFieldsOf(desc).length > 0;
}

/** Whether what a message is made of holds few others, and it is enough to count them. */
function holdsFew(schema: DescMessage, init: object): boolean {
  if (!isFields(init)) return false;
  let held = 0;
  for (const { fieldKind, localName, message } of largeFieldsOf(schema)) {
    const values = init[localName];
    if (fieldKind !== "list" || mayBeLarge(message)) return false;
    if (Array.isArray(values)) held += values.length;
  }
  return held < messagesAtOnce;
}

class Encoding {
  /** By message that holds others, how many there are with itself. */
  readonly #sizes = new Map<Message, number>();
  readonly #pace = new Pace();

  /** Counts a message and those in it, as far as their fields are large ones. */
  *measure(desc: DescMessage, message: Message): Steps<number> {
    if (this.#pace.step()) yield;
    let size = 1;
    for (const field of largeFieldsOf(desc)) {
      const held = messagesIn(message, field);
      if (!mayBeLarge(field.message)) size += held.length;
      else for (const one of held) size += yield* this.measure(field.message, one);
    }
    if (size > 1) this.#sizes.set(message, size);
    return size;
  }

  /** Needs: it is measured. */
  *encode(desc: DescMessage, message: Message): Steps<Buffer> {
    const bytes = new NestedBytes();
    yield* this.#encodeInto(bytes, desc, message);
    return yield* bytes.copy(this.#pace);
  }

  *#encodeInto(bytes: NestedBytes, desc: DescMessage, message: Message): Steps<void> {
    if (this.#pace.step()) yield;
    const fields = largeFieldsOf(desc);
    bytes.add(toBinary(desc, without(message, fields)));
    for (const field of fields) {
      let few: Message[] = [];
      let size = 0;
      for (const one of messagesIn(message, field)) {
        const own = this.#sizes.get(one) ?? 1;
        if (size + own > messagesAtOnce) {
          if (few.length > 0) bytes.add(toBinary(desc, holding(desc, field, few)));
          few = [];
          size = 0;
          yield;
        }
        if (own > messagesAtOnce) {
          yield* this.#encodeChild(bytes, field, one);
        } else {
          few.push(one);
          size += own;
        }
      }
      // What comes in parts has all that is in the lists of its parts.
      if (few.length > 0) bytes.add(toBinary(desc, holding(desc, field, few)));
    }
  }

  /** Encodes a message of a field, with its length before it. */
  *#encodeChild(
    bytes: NestedBytes,
    { number, message: desc }: MessageField,
    child: Message,
  ): Steps<void> {
    const below = new NestedBytes();
    yield* this.#encodeInto(below, desc, child);
    const head = new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(below.length);
    bytes.add(head.finish());
    bytes.add(below);
  }
}

/** The messages of a field. */
function messagesIn(message: Message, field: MessageField): readonly Message[] {
  const { localName, oneof, message: desc } = field;
  const value: unknown =
    oneof === undefined
      ? Reflect.get(message, localName)
      : chosenValue(message, oneof.localName, localName);
  if (value === undefined) return [];
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isOne = (one: unknown): one is Message => isMessage(one, desc);
  assert(values.every(isOne), "the field holds messages");
  return values;
}

/** The value of a oneof, if it is that of the field. */
function chosenValue(message: Message, oneof: string, field: string): unknown {
  const chosen: unknown = Reflect.get(message, oneof);
  assert(typeof chosen === "object" && chosen !== null, "a oneof has an object");
  return Reflect.get(chosen, "case") === field ? Reflect.get(chosen, "value") : undefined;
}

/** A copy without what the fields hold. */
function without(message: Message, fields: readonly MessageField[]): Message {
  const copy = { ...message };
  for (const { localName, oneof, fieldKind } of fields) {
    if (oneof === undefined) Reflect.set(copy, localName, fieldKind === "list" ? [] : undefined);
    else if (chosenValue(message, oneof.localName, localName) !== undefined) {
      Reflect.set(copy, oneof.localName, { case: undefined });
    }
  }
  return copy;
}

/** A message of which one field alone is set. */
function holding(desc: DescMessage, field: MessageField, held: readonly Message[]): Message {
  const { localName, oneof, fieldKind } = field;
  const message = create(desc);
  const value = fieldKind === "list" ? held : held[0];
  if (oneof === undefined) Reflect.set(message, localName, value);
  else Reflect.set(message, oneof.localName, { case: localName, value });
  return message;
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

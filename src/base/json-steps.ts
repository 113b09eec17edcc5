import { Pace, type Steps } from "./steps.ts";

/** Encoded at once, in characters: far less than a time slice. */
const pieceCharacters = 32_768;

/** An item of a list or a field of an object. */
interface JsonPart {
  /** What stands between it and the part before. */
  readonly before: string;
  readonly value: unknown;
}

/** A list or an object of which a part is being written. */
interface OpenValue {
  readonly parts: Iterator<JsonPart>;
  readonly end: string;
}

/** A JSON value as `JSON.stringify` writes it, in UTF-8. It is made in steps: one of megabytes takes too long at once. */
export function* jsonInSteps(value: unknown): Steps<Buffer> {
  const pace = new Pace();
  const pieces: Buffer[] = [];
  // By itself, since a generator within a generator takes time for each level.
  const open: OpenValue[] = [];
  let text = "";
  for (let part: JsonPart | undefined = { before: "", value }; part !== undefined;) {
    if (pace.step()) yield;
    text += part.before;
    if (Array.isArray(part.value)) {
      text += "[";
      open.push({ parts: itemsOf(part.value), end: "]" });
    } else if (isNested(part.value)) {
      text += "{";
      open.push({ parts: fieldsOf(part.value), end: "}" });
    } else {
      text += JSON.stringify(part.value);
    }
    part = undefined;
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const next = last.parts.next();
      if (next.done !== true) {
        part = next.value;
        break;
      }
      text += last.end;
      open.pop();
    }
    if (text.length < pieceCharacters) continue;
    pieces.push(Buffer.from(text));
    text = "";
    yield;
  }
  pieces.push(Buffer.from(text));
  return Buffer.concat(pieces);
}

/** An object with lists or objects in it. One without them is written at once. */
function isNested(value: unknown): value is object {
  return isObject(value) && Object.values(value).some(isObject);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function* itemsOf(list: readonly unknown[]): Generator<JsonPart, undefined> {
  let before = "";
  for (const value of list) {
    yield { before, value };
    before = ",";
  }
}

function* fieldsOf(object: object): Generator<JsonPart, undefined> {
  let before = "";
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    yield { before: `${before}${JSON.stringify(key)}:`, value };
    before = ",";
  }
}

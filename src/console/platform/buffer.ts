import { Buffer } from "buffer/index.js";

/*
 * Stands in for Node's. The package does not know `base64url`, which tokens are written in. It reads both
 * alphabets of base64 alike.
 */

/** A method of the package by its name, which is asked for its object. */
function methodOf(owner: object, name: string): (...args: readonly unknown[]) => unknown {
  return Reflect.get(owner, name);
}

const from = methodOf(Buffer, "from");
const toText = methodOf(Buffer.prototype, "toString");

Reflect.set(Buffer, "from", (value: unknown, encoding?: unknown, length?: unknown) =>
  Reflect.apply(from, Buffer, [value, encoding === "base64url" ? "base64" : encoding, length]),
);

Reflect.set(
  Buffer.prototype,
  "toString",
  function (this: Buffer, encoding?: unknown, start?: unknown, end?: unknown): string {
    const isForAddresses = encoding === "base64url";
    const known = isForAddresses ? "base64" : encoding;
    const text = String(Reflect.apply(toText, this, [known, start, end]));
    if (!isForAddresses) return text;
    return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  },
);

export { Buffer };

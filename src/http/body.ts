import { PembaError } from "../base/error.ts";

/** The largest request body, in bytes. */
export const bodyLimit = 4 * 1024 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Parses a body as JSON. An empty body is an empty object. Fails with VALIDATION. */
export function parseBody(bytes: Buffer): unknown {
  const text = decode(bytes);
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new PembaError("VALIDATION", `body: is not JSON: ${cause.message}`, { cause });
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new PembaError("VALIDATION", "body: is not UTF-8", { cause });
  }
}

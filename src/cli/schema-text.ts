import { PembaError } from "../base/error.ts";
import { readWholeFile } from "../base/read-file.ts";
import { whyUnreadable } from "./unreadable.ts";

const standardInput = "-";

/**
 * The text of a schema file, or of standard input for `-`, without a byte order mark. The error of one
 * that cannot be read begins with `word`.
 */
export function readSchemaText(file: string, word: string): string {
  return readText(file, word).replace(/^\uFEFF/, "");
}

/** The same, with the byte order mark if there is one. */
export function readText(file: string, word: string): string {
  try {
    const bytes = readWholeFile(file === standardInput ? 0 : file);
    // A text that is read as another one must not be written back.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new PembaError("INVALID_ARGUMENT", `${word}: \`${file}\` ${whyUnreadable(error)}`);
  }
}

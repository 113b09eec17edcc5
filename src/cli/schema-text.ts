import { readFileSync } from "node:fs";

import { PembaError } from "../base/error.ts";

/** The text of a schema file. The error of one that cannot be read begins with `word`. */
export function readSchemaText(file: string, word: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new PembaError("INVALID_ARGUMENT", `${word}: \`${file}\` cannot be read`);
  }
}

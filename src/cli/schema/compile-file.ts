import { PembaError } from "../../base/error.ts";
import { compileSchemaText } from "../../language/compile.ts";
import type { Schema } from "../../language/schema.ts";
import { messageOf } from "../output.ts";
import { readSchemaText } from "../schema-text.ts";

/** Reads and compiles a schema file. Errors begin with `word`, or with the file and the position. */
export function compileSchemaFile(file: string, word: string): Schema {
  const text = readSchemaText(file, word);
  try {
    return compileSchemaText(text);
  } catch (error) {
    throw new PembaError("INVALID_ARGUMENT", `${file}:${messageOf(error)}`);
  }
}

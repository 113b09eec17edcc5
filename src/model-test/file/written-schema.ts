import { isScalar } from "yaml";

import type { WrittenSchema } from "./model-file.ts";
import type { YamlText } from "./yaml-text.ts";

/** Whether a value of `schema` is a schema. If not, it is the location of one. */
export function isSchemaItself(value: string): boolean {
  // Every schema that compiles has an entity, and so a brace.
  return value.includes("{") || value.trim().includes("\n");
}

/** The text of `schema` with the place of each of its characters in the file, where that is known. */
export function writtenSchema(node: unknown, text: string, yaml: YamlText): WrittenSchema {
  const start = (isScalar(node) ? node.range?.[0] : undefined) ?? 0;
  const place = yaml.placeAt(start);
  const indent =
    isScalar(node) && node.type === "BLOCK_LITERAL" ? indentOf(yaml.text, start) : undefined;
  return {
    text,
    place,
    placeIn: (line, column) =>
      // A folded or quoted text has other lines than the file.
      indent === undefined
        ? place
        : { file: place.file, line: place.line + line, column: column + indent },
  };
}

/** The indentation of a block behind its header at `start`: that of its first line with a text. */
function indentOf(text: string, start: number): number {
  const header = /^[^\n]*\n/.exec(text.slice(start, start + 1_000))?.[0].length ?? 0;
  const first = /^(?:[ \t]*\r?\n)*( *)/.exec(text.slice(start + header));
  return first?.[1]?.length ?? 0;
}

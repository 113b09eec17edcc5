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
    isScalar(node) && node.type === "BLOCK_LITERAL" ? indentOf(yaml.text, start, text) : undefined;
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

/**
 * The indentation of a block with its header at `start`: how far its first line with a text is in, without the
 * blanks that are a part of its text. A header such as `|2` leaves some to it.
 */
function indentOf(file: string, start: number, text: string): number {
  const header = /^[^\n]*\n/.exec(file.slice(start, start + 1_000))?.[0].length ?? 0;
  return blanksBefore(file.slice(start + header)) - blanksBefore(text);
}

/** Of the first line with a text. */
function blanksBefore(text: string): number {
  return /^(?:[ \t]*\r?\n)*( *)/.exec(text)?.[1]?.length ?? 0;
}

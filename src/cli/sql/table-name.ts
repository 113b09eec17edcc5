import { nameOf } from "./list-names.ts";

const part = String.raw`\s*(?:"(?:[^"]|"")+"|[^".\s]+)\s*`;
const pattern = new RegExp(`^(?:(?<schema>${part})\\.)?(?<table>${part})$`, "u");

/**
 * Reads the name of a table as SQL spells it, with or without its schema. Returns its parts, undefined
 * for other texts.
 */
export function tableNameOf(text: string): readonly string[] | undefined {
  const groups = pattern.exec(text)?.groups;
  const table = nameOf(groups?.["table"] ?? "");
  if (groups === undefined || table === undefined) return undefined;
  if (groups["schema"] === undefined) return [table];
  const schema = nameOf(groups["schema"]);
  return schema === undefined ? undefined : [schema, table];
}

import { readFileSync } from "node:fs";

import { LineCounter, parseDocument } from "yaml";

import { collectSettings } from "./file-settings.ts";
import type { SettingSource } from "./setting.ts";

/** Reads a YAML file as settings by the names of their keys. Undefined if there is no such file. */
export function readFile(path: string): SettingSource | undefined {
  const content = contentOf(path);
  if (content === undefined) return undefined;
  if (content.kind === "problem") {
    return { settings: new Map(), problems: [`${path}: ${content.problem}`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(content.text, { lineCounter: lines, prettyErrors: false });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  // The parser only warns of an unknown tag and would use its value as it stands.
  const problems = [...document.errors, ...document.warnings].map(
    ({ code, message, pos: [offset] }) => `${placeOf(offset)}: ${messageOf(code, message)}`,
  );
  return problems.length > 0
    ? { settings: new Map(), problems }
    : collectSettings(document, { path, placeOf });
}

/**
 * The message of the parser without the text of the file that it quotes at the end, which may be a
 * secret.
 */
function messageOf(code: string, message: string): string {
  const shown = message.replace(/: .*$/s, "");
  return messages.get(code) ?? `${shown.slice(0, 1).toLowerCase()}${shown.slice(1)}`;
}

/** Messages that replace those of the parser that are meant for programmers or lack the remedy. */
const messages: ReadonlyMap<string, string> = new Map([
  ["MULTIPLE_DOCS", "a second document begins here, expected one"],
  [
    "TAG_RESOLVE_FAILED",
    "a tag without a meaning, expected quotes around a text with `!` before it",
  ],
]);

type Content =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

/** The decoder skips a byte order mark. */
function contentOf(path: string): Content | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
    return { kind: "text", text };
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    const problem = reasons.get(String(error.code)) ?? `cannot be read (${String(error.code)})`;
    return { kind: "problem", problem };
  }
}

const reasons: ReadonlyMap<string, string> = new Map([
  ["EISDIR", "is a folder, expected a YAML file"],
  ["EACCES", "cannot be read: permission denied"],
  ["ERR_ENCODING_INVALID_ENCODED_DATA", "is not UTF-8"],
]);

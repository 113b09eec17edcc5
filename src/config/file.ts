import { readFileSync } from "node:fs";

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type YAMLSeq,
} from "yaml";

import type { Setting, Source } from "./setting.ts";

/**
 * Reads a YAML file as settings by dotted path; undefined when there is no such file. Values keep
 * the text they were written with, so that `10MiB` and `3476` are read like those of a flag.
 */
export function readFile(path: string): Source | undefined {
  const text = contentOf(path);
  if (text === undefined) return undefined;
  if (typeof text === "object") return text;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const settings = new Map<string, Setting>();
  const problems = document.errors.map(({ message, pos: [offset] }) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}: ${message.slice(0, 1).toLowerCase()}${message.slice(1)}`;
  });
  if (problems.length > 0) return { settings, problems };
  const visitor: Visitor = { document, path, lines, settings, problems };
  if (document.contents !== null) collect(visitor, document.contents, "", undefined);
  return { settings, problems };
}

function contentOf(path: string): string | Source | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      if (error.code === "ENOENT") return undefined;
      return { settings: new Map(), problems: [`${path}: cannot be read (${String(error.code)})`] };
    }
    throw error;
  }
}

interface Visitor {
  readonly document: Document;
  readonly path: string;
  readonly lines: LineCounter;
  readonly settings: Map<string, Setting>;
  readonly problems: string[];
}

/** Walks down to the scalars; `key` is the dotted path so far, `place` where its last step stands. */
function collect(visitor: Visitor, node: unknown, key: string, place: string | undefined): void {
  const target = isAlias(node) ? node.resolve(visitor.document) : node;
  const at = place ?? visitor.path;
  if (isMap(target)) {
    for (const item of target.items) {
      const name = isScalar(item.key) ? String(item.key.value) : String(item.key);
      const offset = isScalar(item.key) ? item.key.range?.[0] : undefined;
      const line = offset === undefined ? "" : `:${visitor.lines.linePos(offset).line}`;
      const below = key === "" ? name : `${key}.${name}`;
      collect(visitor, item.value, below, `${visitor.path}${line}`);
    }
  } else if (key === "") {
    visitor.problems.push(`${at}: expected keys with values, such as \`logger: {level: debug}\``);
  } else if (isScalar(target)) {
    if (target.value !== null) visitor.settings.set(key, { text: target.source ?? "", place: at });
  } else if (isSeq(target)) {
    const items = itemsOf(target);
    if (items !== undefined) visitor.settings.set(key, { text: items, place: at });
    else visitor.problems.push(`${at}: \`${key}\` is a list with more than plain values in it`);
  }
}

/** Undefined when an item is no plain value. */
function itemsOf(list: YAMLSeq): readonly string[] | undefined {
  const items = list.items.map((item) =>
    isScalar(item) && item.value !== null ? item.source : undefined,
  );
  const texts = items.filter((text) => text !== undefined);
  return texts.length === items.length ? texts : undefined;
}

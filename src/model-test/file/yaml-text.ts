import {
  type Alias,
  Composer,
  type Document,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
} from "yaml";

import { quote } from "../../base/quote.ts";
import type { PlacedMessage, TextPlace } from "./text-place.ts";

/** As large as a request may be. The parser takes some seconds for it. */
const maxTextBytes = 4 * 1024 * 1024;

/** A tuple has six, with its blanks. */
const maxLexemes = 500_000;

/** More messages do not help to mend the file. */
export const maxFaults = 100;

/** The deepest nesting of lists and maps that a reader of the file can follow. */
export const maxYamlNesting = 64;

/** A parsed text, with what its aliases stand for and the places of its nodes. */
export interface YamlText {
  /** Undefined for a text without a document. */
  readonly root: Node | null | undefined;
  /** The node that each alias stands for. */
  readonly targets: ReadonlyMap<Alias, Node>;
  /** The place of a 0-based offset. */
  readonly placeAt: (offset: number) => TextPlace;
  readonly text: string;
}

/** A text that was parsed. */
export interface ParsedYaml {
  /** Undefined if the text is too large, or has no document. With faults, a part of it may be missing. */
  readonly yaml: YamlText | undefined;
  readonly faults: readonly PlacedMessage[];
}

/** Parses one YAML document. `file` names it in places. */
export function parseYaml(text: string, file: string): ParsedYaml {
  const lines = new LineCounter();
  const placeAt = (offset: number): TextPlace => {
    const { line, col: column } = lines.linePos(offset);
    return { file, line, column };
  };
  const bytes = encoder.encode(text).length;
  if (bytes > maxTextBytes) {
    const message = `the file has ${bytes} bytes, expected at most ${maxTextBytes}: split it`;
    return { yaml: undefined, faults: [{ place: { file, line: 1, column: 1 }, message }] };
  }
  const excess = excessOf(text);
  if (excess !== undefined) {
    const { line, message } = excess;
    return { yaml: undefined, faults: [{ place: { file, line, column: 1 }, message }] };
  }
  // Equal keys are found by the reader: the parser would compare each key with each other one.
  const composer = new Composer({ uniqueKeys: false });
  const tokens = new Parser(lines.addNewLine).parse(text);
  const [document, second] = composer.compose(tokens, true, text.length);
  const errors = [...(document?.errors ?? []), ...(document?.warnings ?? [])];
  const faults = errors.slice(0, maxFaults).map(({ code, message, pos: [offset] }) => ({
    place: placeAt(offset),
    message: messages.get(code) ?? sentenceOf(message),
  }));
  if (second !== undefined) {
    const place = placeAt(second.range[0]);
    faults.push({ place, message: "a second document begins here, expected one" });
  }
  if (document === undefined) return { yaml: undefined, faults };
  const { targets, unresolved } = targetsOf(document);
  if (faults.length === 0) {
    for (const alias of unresolved.slice(0, maxFaults)) {
      const place = placeAt(alias.range?.[0] ?? 0);
      const message = `there is no anchor ${quote(`&${alias.source}`)} before it, expected quotes around a text with \`*\` before it`;
      faults.push({ place, message });
    }
  }
  return { yaml: { root: document.contents, targets, placeAt, text }, faults };
}

const encoder = new TextEncoder();

/**
 * What would keep the parser too long, with its 1-based line. It takes time that grows with the square of
 * the depth of brackets and list marks, and a kilobyte for each mark that stands at a wrong place. Levels
 * of indentation need so much text that there cannot be many.
 */
function excessOf(text: string): { readonly line: number; readonly message: string } | undefined {
  let line = 1;
  let count = 0;
  let brackets = 0;
  let marks = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === "[" || lexeme === "{") brackets += 1;
    else if (lexeme === "]" || lexeme === "}") brackets -= 1;
    else if (lexeme === "-" || lexeme === "?") marks += 1;
    else {
      const breaks = lexeme.split("\n").length - 1;
      if (breaks > 0) marks = 0;
      line += breaks;
    }
    if (brackets + marks > maxYamlNesting) {
      return { line, message: `lists and maps are nested deeper than ${maxYamlNesting} levels` };
    }
    count += 1;
    if (count > maxLexemes) {
      return { line, message: `the file has more than ${maxLexemes} words and marks: split it` };
    }
  }
  return undefined;
}

/** One walk for all: to ask an alias itself walks through the whole document. */
function targetsOf(document: Document.Parsed): {
  readonly targets: ReadonlyMap<Alias, Node>;
  readonly unresolved: readonly Alias[];
} {
  const targets = new Map<Alias, Node>();
  const unresolved: Alias[] = [];
  const anchors = new Map<string, Node>();
  visit(document, {
    Alias(_key, alias) {
      const target = anchors.get(alias.source);
      if (target === undefined) unresolved.push(alias);
      else targets.set(alias, target);
    },
    Value(_key, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return { targets, unresolved };
}

/** The text of a scalar as it was written, without quotes. */
export function writtenText(node: unknown): string | undefined {
  return isScalar(node) && node.value !== null ? (node.source ?? "") : undefined;
}

/** The first sentence of a message of the parser, in the style of our own. */
function sentenceOf(message: string): string {
  const first = message.replace(/: .*$/s, "");
  return `${first.slice(0, 1).toLowerCase()}${first.slice(1)}`;
}

const messages: ReadonlyMap<string, string> = new Map([
  [
    "TAG_RESOLVE_FAILED",
    "a tag without a meaning, expected quotes around a text with `!` before it",
  ],
  ["RESOURCE_EXHAUSTION", "lists and maps are nested too deeply"],
]);

import { isAlias, isMap, isScalar, isSeq } from "yaml";

import type { SourceSpan } from "../language/tree.ts";
import { writtenText, type YamlText } from "../model-test/file/yaml-text.ts";
import { ScalarMap } from "./scalar-map.ts";

/** A text in a YAML file. */
export interface ScalarText {
  readonly text: string;
  /** The scalar without the quotes or the head around it. */
  readonly span: SourceSpan;
  /** Undefined if the text is written with escapes. */
  readonly map: ScalarMap | undefined;
  /** Whether its lines are lines of the file (`|`). */
  readonly isLiteral: boolean;
}

/** An entry of a map. */
interface NodeEntry {
  readonly key: string;
  readonly keyNode: unknown;
  readonly value: unknown;
}

/** Reads the nodes of a YAML file, which may have faults. What has a wrong kind is left out. */
export class TestNodes {
  readonly #yaml: YamlText;

  constructor(yaml: YamlText) {
    this.#yaml = yaml;
  }

  /** The entries of a map, with those that `<<` merges into it. */
  entriesOf(node: unknown): readonly NodeEntry[] {
    const entries = new Map<string, NodeEntry>();
    const seen = new Set<unknown>();
    const collect = (from: unknown): void => {
      const map = this.#resolved(from);
      if (isSeq(map)) for (const item of map.items) collect(item);
      if (!isMap(map) || seen.has(map)) return;
      seen.add(map);
      const own = map.items.map(({ key: keyNode, value }) => ({
        key: writtenText(this.#resolved(keyNode)) ?? "",
        keyNode,
        value,
      }));
      // What is merged does not replace what the map has itself.
      for (const entry of own) if (!entries.has(entry.key)) entries.set(entry.key, entry);
      for (const { key, value } of own) if (key === "<<") collect(value);
    };
    if (isMap(this.#resolved(node))) collect(node);
    return [...entries.values()];
  }

  /** The value of a key of a map. */
  at(node: unknown, key: string): unknown {
    return this.entriesOf(node).find((entry) => entry.key === key)?.value;
  }

  itemsOf(node: unknown): readonly unknown[] {
    const seq = this.#resolved(node);
    return isSeq(seq) ? seq.items : [];
  }

  textOf(node: unknown): ScalarText | undefined {
    const scalar = this.#resolved(node);
    const text = writtenText(scalar);
    if (text === undefined || !isScalar(scalar)) return undefined;
    const [start = 0, end = 0] = scalar.range ?? [];
    const type = scalar.type ?? "PLAIN";
    const span = contentOf(this.#yaml.text, { start, end }, type);
    const map = ScalarMap.of(this.#yaml.text, span, text);
    return { text, span, map, isLiteral: type === "BLOCK_LITERAL" };
  }

  #resolved(node: unknown): unknown {
    return isAlias(node) ? this.#yaml.targets.get(node) : node;
  }
}

function contentOf(text: string, { start, end }: SourceSpan, type: string): SourceSpan {
  if (type.startsWith("QUOTE")) return { start: start + 1, end: Math.max(start + 1, end - 1) };
  if (!type.startsWith("BLOCK")) return { start, end };
  const head = text.indexOf("\n", start);
  return { start: head < 0 ? end : Math.min(head + 1, end), end };
}

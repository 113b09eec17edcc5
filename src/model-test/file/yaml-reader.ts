import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from "yaml";

import { must } from "../../base/assert.ts";
import { quote } from "../../base/quote.ts";
import { suggest } from "../../base/suggest.ts";
import type { JsonValue } from "../../base/tuple.ts";
import type { PlacedMessage, TextPlace } from "./text-place.ts";
import { maxYamlNesting, writtenText, type YamlText } from "./yaml-text.ts";

/** More values than the largest file can have. Only aliases can lead to more. */
const maxValues = 2_000_000;

/** A value of a map, with the place of its key. */
export interface YamlEntry {
  readonly key: string;
  readonly keyPlace: TextPlace;
  readonly value: unknown;
}

/** Ends the reading of a file whose aliases stand for too much. It never leaves the reader. */
class TooManyValues extends Error {
  override readonly name = "TooManyValues";
}

/**
 * Reads values of a YAML document, and collects what is wrong with them. A value that is absent, or
 * wrong, is undefined. Aliases and merges (`<<`) are resolved.
 */
export class YamlReader {
  readonly problems: PlacedMessage[] = [];
  /** As `doubt` adds them. */
  readonly doubts: PlacedMessage[] = [];
  readonly #yaml: YamlText;
  #values = 0;

  constructor(yaml: YamlText) {
    this.#yaml = yaml;
  }

  /** Runs `read` over the root. Undefined if the aliases of the file stand for too many values. */
  readRoot<T>(read: (root: unknown) => T): T | undefined {
    try {
      return read(this.#yaml.root);
    } catch (error) {
      if (!(error instanceof TooManyValues)) throw error;
      const message = `the aliases of the file stand for more than ${maxValues} values`;
      this.problems.push({ place: this.placeOf(this.#yaml.root), message });
      return undefined;
    }
  }

  placeOf(node: unknown): TextPlace {
    const range = isAlias(node) || isScalar(node) || isMap(node) || isSeq(node) ? node.range : null;
    return this.#yaml.placeAt(range?.[0] ?? 0);
  }

  problem(node: unknown, message: string): undefined {
    this.problems.push({ place: this.placeOf(node), message });
    return undefined;
  }

  /** Something that is wrong only if the reading is strict. */
  doubt(node: unknown, message: string): void {
    this.doubts.push({ place: this.placeOf(node), message });
  }

  /** Whether nothing stands there, or null. */
  isEmpty(node: unknown): boolean {
    return this.resolved(node) === undefined;
  }

  /** The entries of a map whose keys are among `known`. Others are doubts with a suggestion. */
  mapOf(
    node: unknown,
    what: string,
    known: readonly string[],
  ): ReadonlyMap<string, YamlEntry> | undefined {
    const entries = this.entriesOf(node, what);
    if (entries === undefined) return undefined;
    for (const { key, keyPlace } of entries.values()) {
      if (known.includes(key)) continue;
      const meant = suggest(key, known) || `, expected ${known.join(", ")}`;
      this.doubts.push({
        place: keyPlace,
        message: `${quote(key)} is not a key of ${what}${meant}`,
      });
    }
    return entries;
  }

  /** All entries of a map, in the order of the text. */
  entriesOf(node: unknown, what: string): ReadonlyMap<string, YamlEntry> | undefined {
    const value = this.resolved(node);
    if (value === undefined) return undefined;
    if (!isMap(value)) {
      return this.problem(node, `${what} is ${kindOf(value)}, expected a map of keys`);
    }
    const entries = new Map<string, YamlEntry>();
    this.#collect(value, entries, new Set());
    return entries;
  }

  /** The items of a list. */
  listOf(node: unknown, what: string): readonly unknown[] | undefined {
    const value = this.resolved(node);
    if (value === undefined) return undefined;
    if (isSeq(value)) return value.items;
    return this.problem(node, `${what} is ${kindOf(value)}, expected a list`);
  }

  /** A text as it is written: `007` and `true` stay as they are. */
  textOf(node: unknown, what: string): string | undefined {
    const value = this.resolved(node);
    if (value === undefined) return undefined;
    return writtenText(value) ?? this.problem(node, `${what} is ${kindOf(value)}, expected a text`);
  }

  booleanOf(node: unknown, what: string): boolean | undefined {
    const value = this.resolved(node);
    if (value === undefined) return this.problem(node, `${what} is empty, expected true or false`);
    if (isScalar(value) && typeof value.value === "boolean") return value.value;
    const written = writtenText(value);
    const found = written === undefined ? kindOf(value) : quote(written);
    return this.problem(node, `${what} is ${found}, expected true or false`);
  }

  integerOf(node: unknown, what: string): number | undefined {
    const value = this.resolved(node);
    if (value === undefined) return undefined;
    if (isScalar(value) && typeof value.value === "number" && Number.isInteger(value.value)) {
      return value.value;
    }
    return this.problem(
      node,
      `${what} is ${quote(writtenText(value) ?? kindOf(value))}, expected an integer`,
    );
  }

  /** Any value, as JSON. Dates are texts. */
  jsonOf(node: unknown, what: string, depth = 0): JsonValue | undefined {
    const value = this.resolved(node);
    if (value === undefined) return null;
    // An alias may stand for what it is in.
    if (depth > maxYamlNesting) {
      return this.problem(node, `${what} is nested deeper than ${maxYamlNesting} levels`);
    }
    if (isSeq(value)) {
      return value.items.map((item) => this.jsonOf(item, what, depth + 1) ?? null);
    }
    if (isMap(value)) {
      const entries = this.entriesOf(value, what) ?? new Map<string, YamlEntry>();
      return Object.fromEntries(
        [...entries].map(([key, { value: item }]) => [
          key,
          this.jsonOf(item, what, depth + 1) ?? null,
        ]),
      );
    }
    const plain = isScalar(value) ? value.value : undefined;
    return typeof plain === "number" || typeof plain === "boolean"
      ? plain
      : (writtenText(value) ?? null);
  }

  /** Merged entries come first, so that own ones replace them. */
  #collect(map: YAMLMap, into: Map<string, YamlEntry>, merging: Set<YAMLMap>): void {
    merging.add(map);
    const isMerge = (key: unknown): boolean => isScalar(key) && key.value === "<<";
    for (const { key, value } of map.items) {
      if (!isMerge(key)) continue;
      const merged = this.resolved(value);
      for (const part of isSeq(merged) ? merged.items : [merged]) {
        const from = this.resolved(part);
        if (!isMap(from)) this.problem(key, "`<<` stands for the keys of a map, expected one");
        else if (merging.has(from)) this.problem(key, "`<<` leads back to itself");
        else if (merging.size > maxYamlNesting) {
          this.problem(key, `\`<<\` leads through more than ${maxYamlNesting} maps`);
        } else this.#collect(from, into, merging);
      }
    }
    const own = new Set<string>();
    for (const { key, value } of map.items) {
      if (isMerge(key)) continue;
      const name = writtenText(this.resolved(key));
      if (name === undefined) {
        this.problem(key, "the key is not a text");
      } else if (own.has(name)) {
        this.problem(key, `${quote(name)} is given twice in one map`);
      } else {
        own.add(name);
        into.set(name, { key: name, keyPlace: this.placeOf(key), value });
      }
    }
    merging.delete(map);
  }

  /** The node, or the one that an alias stands for. Undefined for what is empty. */
  resolved(node: unknown): Node | undefined {
    this.#values += 1;
    if (this.#values > maxValues) throw new TooManyValues();
    const value = isAlias(node)
      ? must(this.#yaml.targets.get(node), "an alias without an anchor is a fault of the text")
      : node;
    if (isMap(value) || isSeq(value)) return value;
    return isScalar(value) && value.value !== null ? value : undefined;
  }
}

function kindOf(node: Node): string {
  if (isMap(node)) return "a map";
  return isSeq(node) ? "a list" : "a single value";
}

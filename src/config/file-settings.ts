import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";

import { roleOf, suggestPath } from "./key-name.ts";
import type { Setting, SettingSource } from "./setting.ts";
import { offsetOf, treeOf } from "./tree.ts";

/** How errors name the file, and a position in it by its offset. */
export interface SettingPlaces {
  readonly path: string;
  placeOf(offset: number): string;
}

interface Visitor extends SettingPlaces {
  readonly document: Document;
  readonly settings: Map<string, Setting>;
  readonly problems: string[];
  /** The maps that are being merged, so that a map that merges itself has an end. */
  readonly merging: Set<YAMLMap>;
}

/**
 * Collects the settings of a parsed file. Values keep their original text, so that `10MiB` and
 * `3476` are read like the values of flags.
 */
export function collectSettings(document: Document, places: SettingPlaces): SettingSource {
  const visitor: Visitor = {
    ...places,
    document,
    settings: new Map(),
    problems: [],
    merging: new Set(),
  };
  const { problems } = visitor;
  const top = document.contents;
  if (isMap(top)) collectMap(visitor, top, "");
  // An empty file has a scalar of nothing.
  else if (top !== null && !(isScalar(top) && top.value === null)) {
    problems.push(`${places.path}: expected keys with values, such as \`logger: {level: debug}\``);
  }
  return { settings: visitor.settings, problems };
}

/**
 * `above` is the dotted path of the map. Merged keys come first, so that the map's own keys replace
 * them.
 */
function collectMap(visitor: Visitor, map: YAMLMap, above: string): void {
  const isMerge = ({ key }: Pair): boolean => isScalar(key) && key.value === "<<";
  for (const item of map.items.filter(isMerge)) {
    const merged = resolved(visitor, item.value);
    for (const part of isSeq(merged) ? merged.items : [merged]) merge(visitor, item, part, above);
  }
  for (const item of map.items) if (!isMerge(item)) collectPair(visitor, item, above);
}

function merge(visitor: Visitor, item: Pair, part: unknown, above: string): void {
  const { merging, problems } = visitor;
  const map = resolved(visitor, part);
  if (!isMap(map)) {
    problems.push(
      `${placeOfKey(visitor, item)}: \`<<\` stands for the keys of a map, expected one`,
    );
  } else if (merging.has(map)) {
    problems.push(`${placeOfKey(visitor, item)}: \`<<\` leads back to itself`);
  } else {
    merging.add(map);
    collectMap(visitor, map, above);
    merging.delete(map);
  }
}

function collectPair(visitor: Visitor, item: Pair, above: string): void {
  const step = isScalar(item.key) ? String(item.key.value) : String(item.key);
  const path = above === "" ? step : `${above}.${step}`;
  const place = placeOfKey(visitor, item);
  const value = resolved(visitor, item.value);
  const problem = (text: string): void => {
    visitor.problems.push(`${place}: \`${path}\` ${text}`);
  };
  const set = (text: Setting["text"]): void => {
    visitor.settings.set(path, { name: path, source: "file", text, place });
  };
  for (const name of visitor.settings.keys()) {
    if (name === path || name.startsWith(`${path}.`)) visitor.settings.delete(name);
  }
  const isEmpty = value === null || (isScalar(value) && value.value === null);
  const role = roleOf(path);
  if (role === "unknown") {
    problem(`is not a key of the configuration${suggestPath(path)}`);
  } else if (step.includes(".")) {
    problem("has a dot, expected a level of the file for each of its steps");
  } else if (isEmpty) return;
  else if (value === undefined) {
    problem("has no such anchor before it, expected quotes around a text with `*` before it");
  } else if (role === "section") {
    if (isMap(value)) collectMap(visitor, value, path);
    else problem("is a value, expected keys below it");
  } else if (isScalar(value)) {
    set(value.source ?? "");
  } else if (role === "tree") {
    const text = JSON.stringify(treeOf(value, visitor.document));
    const placeOf = (part: string): string => {
      const offset = offsetOf(value, part, visitor.document);
      return offset === undefined ? place : visitor.placeOf(offset);
    };
    visitor.settings.set(path, { name: path, source: "file", text, place, placeOf });
  } else if (isSeq(value)) {
    const texts = value.items.map((part) => textOf(visitor, part));
    const items = texts.filter((text) => text !== undefined);
    if (items.length < texts.length) problem("is a list with more than plain values in it");
    else set(items);
  } else problem("is a map, expected a value");
}

/** Undefined if the node is not a plain value. */
function textOf(visitor: Visitor, node: unknown): string | undefined {
  const value = resolved(visitor, node);
  return isScalar(value) && value.value !== null ? (value.source ?? "") : undefined;
}

function resolved({ document }: Visitor, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function placeOfKey(visitor: Visitor, { key }: Pair): string {
  const offset = isScalar(key) ? key.range?.[0] : undefined;
  return offset === undefined ? visitor.path : visitor.placeOf(offset);
}

import { type Document, isAlias, isMap, isScalar, isSeq, parseDocument, type YAMLMap } from "yaml";

/**
 * A value with parts, whose leaves keep the text that they were written with, so that `007` is read
 * like that of a flag. Null is what is left empty, and what is deeper than any value can be.
 */
export type Tree = string | null | readonly Tree[] | { readonly [name: string]: Tree };

/** A list of maps that have lists, each of which may come by a merge of several. */
const maxDepth = 5;

/** Reads a text of JSON or, which includes it, of YAML. Undefined: it is neither. */
export function parseTree(text: string): Tree | undefined {
  const document = parseDocument(text, { logLevel: "silent", prettyErrors: false });
  return document.errors.length + document.warnings.length > 0
    ? undefined
    : treeOf(document.contents, document);
}

/** What stands in a document, with aliases and merges (`<<`) in their places. */
export function treeOf(node: unknown, document: Document, depth = 0): Tree {
  const value = isAlias(node) ? node.resolve(document) : node;
  if (isScalar(value)) return value.value === null ? null : (value.source ?? "");
  // Aliases may lead back to what they stand in.
  if (depth > maxDepth) return null;
  if (isSeq(value)) return value.items.map((item) => treeOf(item, document, depth + 1));
  return isMap(value) ? Object.fromEntries(entriesOf(value, document, depth)) : null;
}

/** What is merged comes first, for own names to take the place of. */
function entriesOf(
  map: YAMLMap,
  document: Document,
  depth: number,
): readonly (readonly [string, Tree])[] {
  const own: (readonly [string, Tree])[] = [];
  const merged: (readonly [string, Tree])[] = [];
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const tree = treeOf(value, document, depth + 1);
    if (name !== "<<") own.push([name, tree]);
    else for (const part of Array.isArray(tree) ? tree : [tree]) merged.push(...partsOf(part));
  }
  return [...merged, ...own];
}

function partsOf(tree: Tree): readonly (readonly [string, Tree])[] {
  return typeof tree === "object" && tree !== null && !Array.isArray(tree)
    ? Object.entries(tree)
    : [["<<", tree]];
}

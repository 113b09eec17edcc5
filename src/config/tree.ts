import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
  type YAMLMap,
} from "yaml";

/**
 * A value with parts. Its leaves keep their original text, so that `007` is read like the value of
 * a flag. Null stands for empty values and for parts that are nested too deeply.
 */
export type Tree = string | null | readonly Tree[] | { readonly [name: string]: Tree };

/** A list of maps with lists. Each of them may come from a merge of several. */
const maxDepth = 5;

/** Reads JSON or YAML, which includes JSON. Undefined if the text is neither. */
export function parseTree(text: string): Tree | undefined {
  const document = parseDocument(text, { logLevel: "silent", prettyErrors: false });
  return document.errors.length + document.warnings.length > 0
    ? undefined
    : treeOf(document.contents, document);
}

/** The value of a node, with aliases and merges (`<<`) resolved. */
export function treeOf(node: unknown, document: Document, depth = 0): Tree {
  const value = isAlias(node) ? node.resolve(document) : node;
  if (isScalar(value)) return value.value === null ? null : (value.source ?? "");
  // Aliases may form cycles.
  if (depth > maxDepth) return null;
  if (isSeq(value)) return value.items.map((item) => treeOf(item, document, depth + 1));
  return isMap(value) ? Object.fromEntries(entriesOf(value, document, depth)) : null;
}

/** Merged entries come first, so that own entries replace them. */
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

/**
 * Where a part of a value begins in the text, by its path such as `[1].scopes[0]`: a part of a map with its
 * name. If the part is not there, what would hold it. Undefined if that is not known either.
 */
export function offsetOf(node: unknown, path: string, document: Document): number | undefined {
  let at = node;
  let offset: number | undefined;
  for (const [, name, index] of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)) {
    const value = isAlias(at) ? at.resolve(document) : at;
    const pair = isMap(value)
      ? value.items.find(({ key }) => isScalar(key) && String(key.value) === name)
      : undefined;
    const item = isSeq(value) ? value.items[Number(index)] : undefined;
    const begin = pair?.key ?? item;
    if (!isNode(begin)) break;
    offset = begin.range?.[0];
    at = pair?.value ?? item;
  }
  return offset;
}

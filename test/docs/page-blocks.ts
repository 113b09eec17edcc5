import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A fenced block of a page. */
export interface PageBlock {
  readonly page: string;
  /** Such as `README.md:12`, where the block begins. */
  readonly place: string;
  /** The heading above it, with its marks. */
  readonly section: string | undefined;
  /** What stands behind the opening fence. */
  readonly kind: string;
  readonly text: string;
  /** The file that the paragraph above tells the reader to write. Undefined if it tells nothing. */
  readonly file: string | undefined;
  /** The program or the thing that the block cannot be run without, of a block that says so. */
  readonly needs: string | undefined;
}

/** The blocks of a page in their order. A block may be indented, as in a list. */
export function blocksOfPage(root: string, page: string): readonly PageBlock[] {
  const content = readFileSync(join(root, page), "utf8");
  const fence = /^(?<indent> *)```(?<kind>[^\n]*)\n(?<text>[^]*?)^\k<indent>```$/gm;
  return [...content.matchAll(fence)].map(({ groups, index }) => {
    const { indent = "", kind = "", text = "" } = groups ?? {};
    const before = content.slice(0, index);
    return {
      page,
      section: [...before.matchAll(/^##? .*$/gm)].at(-1)?.[0],
      place: `${page}:${before.split("\n").length}`,
      kind,
      text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      file: /\bWrite\s`(?<file>[\w.-]+)`:\n\n$/.exec(before)?.groups?.["file"],
      needs: /^\w+ needs (?<needs>[\w-]+)$/.exec(kind)?.groups?.["needs"],
    };
  });
}

import type { PlacedWord, WordGroup, WordLayout } from "./layout.ts";
import type { WordComment } from "./word.ts";

/** The most characters of a line that can be broken. */
const lineWidth = 100;

/** Writes the words with their comments, and breaks the groups that are too wide. */
export function writeLayout(layout: WordLayout): string {
  return new LayoutWriter(layout).run();
}

class LayoutWriter {
  readonly #placed: readonly PlacedWord[];
  readonly #groups: ReadonlyMap<number, readonly WordGroup[]>;
  readonly #broken = new Set<WordGroup>();
  /** The width of all words before a place, and how many comments before it need lines. */
  readonly #before: readonly WordSum[];
  readonly #parts: string[] = [];
  #column = 0;

  constructor({ placed, groups }: WordLayout) {
    this.#placed = placed;
    this.#groups = Map.groupBy(groups, ({ from }) => from);
    this.#before = sumsOf(placed);
  }

  run(): string {
    for (const [index, placed] of this.#placed.entries()) {
      for (const group of this.#groups.get(index) ?? []) {
        if (this.#isTooWide(group)) this.#broken.add(group);
      }
      this.#place(placed);
    }
    return this.#parts.length === 0 ? "" : `${this.#parts.join("")}\n`;
  }

  #place(placed: PlacedWord): void {
    const { word, gap, indent } = placed;
    const { hasBegunLine, needsBreak } = this.#comments(placed);
    if (word.kind === "EOF") return;
    const isBroken = gap.kind === "line" || (gap.kind === "soft" && this.#broken.has(gap.group));
    if (needsBreak || (isBroken && !hasBegunLine)) {
      const isFirst = !hasBegunLine;
      const isApart = word.kind !== "RCB" && isBlankBefore(placed, word.isApart, isFirst);
      this.#newLine(indent, isApart);
    } else if (gap.kind !== "tight" || word.comments.length > 0) {
      this.#write(" ");
    }
    this.#write(word.text);
  }

  /** Writes the comments before a word. */
  #comments(placed: PlacedWord): {
    /** Whether a comment has a line of its own. */
    readonly hasBegunLine: boolean;
    /** Whether the word cannot follow the last comment in its line. */
    readonly needsBreak: boolean;
  } {
    let hasBegunLine = false;
    let needsBreak = false;
    for (const comment of placed.word.comments) {
      if (comment.startsLine) {
        this.#newLine(placed.commentIndent, isBlankBefore(placed, comment.isApart, !hasBegunLine));
        hasBegunLine = true;
      } else {
        this.#write(" ");
      }
      this.#write(comment.text);
      needsBreak = comment.isLine || (comment.endsLine && hasBegunLine);
    }
    return { hasBegunLine, needsBreak };
  }

  #newLine(indent: number, isApart: boolean): void {
    if (this.#parts.length > 0) this.#write(isApart ? "\n\n" : "\n");
    this.#write(" ".repeat(indent));
  }

  #write(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
    const lineBreak = text.lastIndexOf("\n");
    this.#column = lineBreak === -1 ? this.#column + text.length : text.length - lineBreak - 1;
  }

  #isTooWide({ from, to }: WordGroup): boolean {
    // What cannot be parted from the last word must fit, too.
    let end = to + 1;
    while (isInLine(this.#placed[end])) end += 1;
    const before = this.#before[from] ?? noSum;
    const needed = (this.#before[to + 1] ?? noSum).lines - before.lines;
    const width = (this.#before[end] ?? noSum).width - before.width;
    return needed > 0 || this.#column + width > lineWidth;
  }
}

interface WordSum {
  readonly width: number;
  readonly lines: number;
}

const noSum: WordSum = { width: 0, lines: 0 };

/** The sums of the words before each place, and of all of them. */
function sumsOf(placed: readonly PlacedWord[]): readonly WordSum[] {
  const sums = [noSum];
  let { width, lines } = noSum;
  for (const one of placed) {
    width += widthOf(one);
    lines += one.word.comments.filter(needsLines).length;
    sums.push({ width, lines });
  }
  return sums;
}

function isInLine(placed: PlacedWord | undefined): boolean {
  return placed?.gap.kind === "tight" || placed?.gap.kind === "space";
}

/** Whether a blank line stands before a word or a comment that begins a line. */
function isBlankBefore({ gap }: PlacedWord, isApart: boolean, isFirst: boolean): boolean {
  if (gap.kind !== "line") return false;
  if (!isFirst || gap.blank === "keep") return isApart;
  return gap.blank === "add";
}

function needsLines({ isLine, startsLine, text }: WordComment): boolean {
  return isLine || startsLine || text.includes("\n");
}

/** The width of a word in a line, with what stands before it. */
function widthOf({ word, gap }: PlacedWord): number {
  const comments = word.comments.reduce((sum, { text }) => sum + 1 + text.length, 0);
  const blank = gap.kind === "tight" && comments === 0 ? 0 : 1;
  return comments + blank + word.text.length;
}

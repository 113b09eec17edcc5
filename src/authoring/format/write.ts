import { Pace, type Steps } from "../../base/steps.ts";
import type { PlacedWord, WordGroup, WordLayout } from "./layout.ts";
import type { WordComment } from "./word.ts";

/** The most characters of a line that can be broken. */
const lineWidth = 100;

/** Writes the words with their comments, and breaks the groups that are too wide. */
export function* writeLayout(layout: WordLayout): Steps<string> {
  return yield* new LayoutWriter(layout, yield* sumsOf(layout.placed)).run();
}

class LayoutWriter {
  readonly #placed: readonly PlacedWord[];
  readonly #groups: ReadonlyMap<number, WordGroup>;
  readonly #broken = new Set<WordGroup>();
  /** The width of all words before a place, and how many comments before it need lines. */
  readonly #before: readonly WordSum[];
  readonly #parts: string[] = [];
  readonly #pace = new Pace();
  #column = 0;

  constructor({ placed, groups }: WordLayout, before: readonly WordSum[]) {
    this.#placed = placed;
    this.#groups = groups;
    this.#before = before;
  }

  *run(): Steps<string> {
    for (const [index, placed] of this.#placed.entries()) {
      const group = this.#groups.get(index);
      if (group !== undefined && this.#isTooWide(group)) this.#broken.add(group);
      yield* this.#place(placed);
      if (this.#pace.step()) yield;
    }
    return this.#parts.length === 0 ? "" : `${this.#parts.join("")}\n`;
  }

  *#place(placed: PlacedWord): Steps<void> {
    const { word, gap, indent } = placed;
    const { hasBegunLine, needsBreak } = yield* this.#comments(placed);
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
  *#comments(placed: PlacedWord): Steps<{
    /** Whether a comment has a line of its own. */
    readonly hasBegunLine: boolean;
    /** Whether the word cannot follow the last comment in its line. */
    readonly needsBreak: boolean;
  }> {
    let hasBegunLine = false;
    let needsBreak = false;
    for (const comment of placed.word.comments) {
      if (this.#pace.step()) yield;
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

/** The sums of the words before each place, with what stands before each word, and of all of them. */
function* sumsOf(placed: readonly PlacedWord[]): Steps<readonly WordSum[]> {
  const pace = new Pace();
  const sums = [noSum];
  let { width, lines } = noSum;
  for (const { word, gap } of placed) {
    if (pace.step()) yield;
    for (const comment of word.comments) {
      if (pace.step()) yield;
      width += 1 + comment.text.length;
      if (needsLines(comment)) lines += 1;
    }
    if (gap.kind !== "tight" || word.comments.length > 0) width += 1;
    width += word.text.length;
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

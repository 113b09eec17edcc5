import { layOutBody } from "./rule-body.ts";
import type { SchemaWord } from "./word.ts";

/** How a blank line before a word or its comments is treated. */
export type BlankLine = "keep" | "drop" | "add";

/** What stands before a word. */
export type WordGap =
  | { readonly kind: "tight" | "space" }
  /** A line break. */
  | { readonly kind: "line"; readonly blank: BlankLine }
  /** A line break if the group is too wide for its line, else a blank. */
  | { readonly kind: "soft"; readonly group: WordGroup };

/** Words that stand on one line if they fit, from the first to the last by their places. */
export interface WordGroup {
  readonly from: number;
  readonly to: number;
}

/** A word with its place. */
export interface PlacedWord {
  readonly word: SchemaWord;
  readonly gap: WordGap;
  /** The indentation of the line that it begins, if it begins one. */
  readonly indent: number;
  /** The indentation of comments before it that have lines of their own. */
  readonly commentIndent: number;
}

/** The indentation of members, and of all that continues a line. */
const step = 2;

/** What stands between the words of a schema, up to the decision where a line is too long. */
export interface WordLayout {
  readonly placed: readonly PlacedWord[];
  readonly groups: readonly WordGroup[];
}

/** Lays out the words of a schema without syntax errors. */
export function layOut(words: readonly SchemaWord[]): WordLayout {
  return new Layout(words).run();
}

type OpenGroup = { -readonly [Key in keyof WordGroup]: WordGroup[Key] };

class Layout {
  readonly #words: readonly SchemaWord[];
  readonly #placed: PlacedWord[] = [];
  readonly #groups: WordGroup[] = [];

  constructor(words: readonly SchemaWord[]) {
    this.#words = words;
  }

  run(): WordLayout {
    let isShort = true;
    while (!this.#at("EOF")) {
      const isEmpty = this.#at("ENTITY") && this.#isEmptyEntity();
      const isFirst = this.#placed.length === 0;
      const blank = isFirst || (isShort && isEmpty) ? "keep" : "add";
      this.#line(0, blank);
      if (this.#placed.at(-1)?.word.kind === "ENTITY") this.#entity(isEmpty);
      else this.#rule();
      isShort = isEmpty;
    }
    this.#line(0, "keep");
    return { placed: this.#placed, groups: this.#groups };
  }

  get #next(): SchemaWord | undefined {
    return this.#words[this.#placed.length];
  }

  #at(...kinds: readonly SchemaWord["kind"][]): boolean {
    return this.#next !== undefined && kinds.includes(this.#next.kind);
  }

  #isEmptyEntity(): boolean {
    const [, , , close] = this.#words.slice(this.#placed.length, this.#placed.length + 4);
    return close?.kind === "RCB" && close.comments.length === 0;
  }

  #place(gap: WordGap, indent: number, commentIndent = indent): void {
    const word = this.#next;
    if (word !== undefined) this.#placed.push({ word, gap, indent, commentIndent });
  }

  #line(indent: number, blank: BlankLine, commentIndent = indent): void {
    this.#place({ kind: "line", blank }, indent, commentIndent);
  }

  #space(indent: number): void {
    this.#place({ kind: "space" }, indent);
  }

  #tight(indent: number): void {
    this.#place({ kind: "tight" }, indent);
  }

  /** The rest of an entity behind its keyword. */
  #entity(isEmpty: boolean): void {
    this.#space(step);
    this.#space(step);
    if (isEmpty) {
      this.#tight(0);
      return;
    }
    let blank: BlankLine = "drop";
    while (!this.#at("RCB")) {
      const isPermission = this.#at("PERMISSION");
      this.#line(step, blank);
      this.#space(2 * step);
      if (isPermission) this.#definition();
      else this.#memberEnd();
      blank = "keep";
    }
    this.#line(0, blank, step);
  }

  /** `= expression` of a permission. */
  #definition(): void {
    const indent = 2 * step;
    this.#space(indent);
    this.#group((group) => this.#expression({ kind: "soft", group }, group, indent));
  }

  /** The types of a relation, or the type of an attribute. */
  #memberEnd(): void {
    while (!this.#at("RELATION", "ATTRIBUTE", "PERMISSION", "RCB")) {
      const begins = this.#at("SIGN") || (this.#at("IDENT") && !this.#follows("SIGN", "HASH"));
      if (begins) this.#space(2 * step);
      else this.#tight(2 * step);
    }
  }

  #follows(...kinds: readonly SchemaWord["kind"][]): boolean {
    const last = this.#placed.at(-1);
    return last !== undefined && kinds.includes(last.word.kind);
  }

  /** The rest of a rule behind its keyword. */
  #rule(): void {
    this.#space(step);
    while (!this.#at("LCB")) {
      if (this.#at("IDENT") && !this.#follows("LP")) this.#space(step);
      else this.#tight(step);
    }
    this.#space(step);
    if (this.#at("BODY")) this.#body();
    else this.#tight(0);
  }

  #body(): void {
    const word = this.#next;
    if (word === undefined) return;
    const { text, hasOwnLines } = layOutBody(word.text);
    const gap: WordGap = hasOwnLines ? { kind: "line", blank: "drop" } : { kind: "space" };
    const isEmpty = text === "";
    // Lines of the body have their indentation already.
    this.#placed.push({
      word: { ...word, text },
      gap: isEmpty ? { kind: "tight" } : gap,
      indent: 0,
      commentIndent: 0,
    });
    this.#place(isEmpty ? { kind: "tight" } : gap, 0);
  }

  #group(fill: (group: WordGroup) => void): void {
    const group: OpenGroup = { from: this.#placed.length, to: 0 };
    fill(group);
    group.to = this.#placed.length - 1;
    this.#groups.push(group);
  }

  /** Operands, with a break behind each operator if the group is too wide for a line. */
  #expression(first: WordGap, group: WordGroup, indent: number): void {
    this.#operand(first, indent);
    while (this.#at("OR", "AND", "NOT")) {
      this.#space(indent);
      this.#operand({ kind: "soft", group }, indent);
    }
  }

  #operand(gap: WordGap, indent: number): void {
    const isGroup = this.#at("LP");
    this.#place(gap, indent);
    if (isGroup) {
      const inner = indent + step;
      this.#group((group) => this.#expression({ kind: "tight" }, group, inner));
      this.#tight(inner);
      return;
    }
    while (this.#at("DOT")) {
      this.#tight(indent);
      this.#tight(indent);
    }
    if (this.#at("LP")) this.#arguments(indent + step);
  }

  #arguments(indent: number): void {
    while (!this.#at("RP")) {
      if (this.#follows("COMMA")) this.#space(indent);
      else this.#tight(indent);
    }
    this.#tight(indent);
  }
}

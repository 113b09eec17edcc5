import { Pace, type Steps } from "../../base/steps.ts";
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

/** Deeper parts begin as far right as this. Otherwise a text of many lines deep inside would grow a thousandfold. */
const indentMax = 80;

/** What stands between the words of a schema, up to the decision where a line is too long. */
export interface WordLayout {
  readonly placed: readonly PlacedWord[];
  /** By the places of their first words. No two groups begin at the same one. */
  readonly groups: ReadonlyMap<number, WordGroup>;
}

/** Lays out the words of a schema without syntax errors. */
export function layOut(words: readonly SchemaWord[]): Steps<WordLayout> {
  return new Layout(words).run();
}

type OpenGroup = { -readonly [Key in keyof WordGroup]: WordGroup[Key] };

class Layout {
  readonly #words: readonly SchemaWord[];
  readonly #placed: PlacedWord[] = [];
  readonly #groups = new Map<number, WordGroup>();
  readonly #pace = new Pace();

  constructor(words: readonly SchemaWord[]) {
    this.#words = words;
  }

  *run(): Steps<WordLayout> {
    let isShort = true;
    while (!this.#at("EOF")) {
      const isEmpty = this.#at("ENTITY") && this.#isEmptyEntity();
      const isFirst = this.#placed.length === 0;
      const blank = isFirst || (isShort && isEmpty) ? "keep" : "add";
      this.#line(0, blank);
      if (this.#placed.at(-1)?.word.kind === "ENTITY") yield* this.#entity(isEmpty);
      else yield* this.#rule();
      if (this.#pace.step()) yield;
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
  *#entity(isEmpty: boolean): Steps<void> {
    this.#space(step);
    this.#space(step);
    if (isEmpty) {
      this.#tight(0);
      return;
    }
    let blank: BlankLine = "drop";
    while (!this.#at("RCB")) {
      if (this.#pace.step()) yield;
      const isPermission = this.#at("PERMISSION");
      this.#line(step, blank);
      this.#space(2 * step);
      if (isPermission) yield* this.#definition();
      else yield* this.#memberEnd();
      blank = "keep";
    }
    this.#line(0, blank, step);
  }

  /** `= expression` of a permission. */
  *#definition(): Steps<void> {
    const indent = 2 * step;
    this.#space(indent);
    const group = this.#openGroup();
    yield* this.#expression({ kind: "soft", group }, group, indent);
    this.#closeGroup(group);
  }

  /** The types of a relation, or the type of an attribute. */
  *#memberEnd(): Steps<void> {
    while (!this.#at("RELATION", "ATTRIBUTE", "PERMISSION", "RCB")) {
      if (this.#pace.step()) yield;
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
  *#rule(): Steps<void> {
    this.#space(step);
    while (!this.#at("LCB")) {
      if (this.#pace.step()) yield;
      if (this.#at("IDENT") && !this.#follows("LP")) this.#space(step);
      else this.#tight(step);
    }
    this.#space(step);
    if (this.#at("BODY")) yield* this.#body();
    else this.#tight(0);
  }

  *#body(): Steps<void> {
    const word = this.#next;
    if (word === undefined) return;
    const { text, hasOwnLines } = yield* layOutBody(word.text);
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

  /** A group that begins with the next word. */
  #openGroup(): OpenGroup {
    return { from: this.#placed.length, to: 0 };
  }

  #closeGroup(group: OpenGroup): void {
    group.to = this.#placed.length - 1;
    this.#groups.set(group.from, group);
  }

  /** Operands, with a break behind each operator if the group is too wide for a line. */
  *#expression(first: WordGap, group: WordGroup, indent: number): Steps<void> {
    yield* this.#operand(first, indent);
    while (this.#at("OR", "AND", "NOT")) {
      this.#space(indent);
      yield* this.#operand({ kind: "soft", group }, indent);
    }
  }

  *#operand(gap: WordGap, indent: number): Steps<void> {
    if (this.#pace.step()) yield;
    const isGroup = this.#at("LP");
    this.#place(gap, indent);
    const inner = Math.min(indent + step, indentMax);
    if (isGroup) {
      const group = this.#openGroup();
      yield* this.#expression({ kind: "tight" }, group, inner);
      this.#closeGroup(group);
      this.#tight(inner);
      return;
    }
    while (this.#at("DOT")) {
      if (this.#pace.step()) yield;
      this.#tight(indent);
      this.#tight(indent);
    }
    if (this.#at("LP")) yield* this.#arguments(inner);
  }

  *#arguments(indent: number): Steps<void> {
    while (!this.#at("RP")) {
      if (this.#pace.step()) yield;
      if (this.#follows("COMMA")) this.#space(indent);
      else this.#tight(indent);
    }
    this.#tight(indent);
  }
}

import { beginningOf } from "../base/quote.ts";
import { Pace, type Steps } from "../base/steps.ts";
import { scanToken } from "./lexer.ts";
import { Problems } from "./problem.ts";
import { type CountedMember, schemaSizeMax, tooLarge } from "./size.ts";
import { OpenStrings } from "./skip.ts";
import { type Position, positionAt, type Source } from "./source.ts";
import { type Token, type TokenKind, spellings } from "./token.ts";
import type { Name } from "./tree.ts";

const nameLengthMax = 64;

/** The most parts of one member, which is read without a pause. */
const partsMax = 100_000;

/** All semicolons and blanks that stand together. */
const semicolons = /[;\s]+/y;

/** Unwinds from a syntax error to the statement that contains it. It never leaves the parser. */
class SyntaxFault extends Error {
  override readonly name = "SyntaxFault";
}

/** Cuts a long text for a message. */
function quote(text: string): string {
  const more = text.length > nameLengthMax ? "..." : "";
  return `\`${beginningOf(text, nameLengthMax)}${more}\``;
}

/** Reads a source token by token, with one token of look-ahead. */
export class Cursor {
  readonly source: Source;
  readonly #problems: Problems;
  readonly #open = new OpenStrings();
  #previousEnd = 0;
  #failedAt: number | undefined;
  #size = 0;
  #parts = 0;
  #member: CountedMember | undefined;
  #token: Token;

  constructor(source: Source, problems: Problems) {
    this.source = source;
    this.#problems = problems;
    this.#token = scanToken(source.text, 0, this.#open);
  }

  /** The look-ahead. */
  get token(): Token {
    return this.#token;
  }

  /** The look-ahead as it was written. */
  get text(): string {
    return this.source.text.slice(this.#token.start, this.#token.end);
  }

  get position(): Position {
    return positionAt(this.source, this.#token.start);
  }

  /** The offset behind the last token that was read. */
  get previousEnd(): number {
    return this.#previousEnd;
  }

  at(...kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.#token.kind);
  }

  advance(): void {
    this.jump(this.#token.end);
  }

  /** Continues at `offset`, which then counts as the end of what was read. */
  jump(offset: number): void {
    this.#previousEnd = offset;
    this.#token = scanToken(this.source.text, offset, this.#open);
  }

  /** Reads the look-ahead if it is of this kind. */
  accept(kind: TokenKind): boolean {
    if (!this.at(kind)) return false;
    this.advance();
    return true;
  }

  /** Reads the look-ahead, which must be of this kind. */
  expect(kind: TokenKind): void {
    if (!this.accept(kind)) this.failExpecting(kind);
  }

  /** Skips semicolons where a line break may stand, because a semicolon stands for one. */
  passSemicolons(): void {
    while (this.at("SEMICOLON")) {
      semicolons.lastIndex = this.#token.start;
      const [passed = ";"] = semicolons.exec(this.source.text) ?? [];
      this.jump(this.#token.start + passed.length);
    }
  }

  name(): Name {
    if (!this.at("IDENT")) this.failExpecting("IDENT");
    const { text, position } = this;
    if (text.length > nameLengthMax) {
      const message = `name ${quote(text)} has ${text.length} characters, at most ${nameLengthMax} are allowed`;
      this.#problems.add(position, message);
    }
    this.advance();
    return { text, position };
  }

  /**
   * Returns the result of `read`. After a syntax error in it, notes the error, skips to the next
   * token of one of the kinds `stops` or to the end, and returns undefined.
   */
  *attempt<T>(read: () => Steps<T>, stops: readonly TokenKind[]): Steps<T | undefined> {
    try {
      return yield* read();
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
    }
    const pace = new Pace();
    const ends: readonly TokenKind[] = ["EOF", ...stops];
    while (!ends.includes(this.#token.kind)) {
      this.advance();
      if (pace.step()) yield;
    }
    return undefined;
  }

  /**
   * Counts a name, a relation type or an operator. Fails with SCHEMA_COMPILE if there are more than
   * a schema may have, because reading on would take as long as the text is.
   */
  count(): void {
    this.#size += 1;
    if (this.#size <= schemaSizeMax) return;
    const problems = new Problems("SCHEMA_COMPILE");
    problems.add(this.#member?.position ?? this.position, tooLarge(this.#member));
    problems.throwIfAny();
  }

  /**
   * Counts parts that take time but do not count for the size of a schema. Fails as `fail` does.
   */
  countPart(): void {
    this.#parts += 1;
    if (this.#parts <= partsMax) return;
    this.fail(
      `too long: it has more than ${partsMax} parentheses, arguments and steps of references`,
    );
  }

  /** Attributes what is counted from now on to this member. */
  enterMember(member: CountedMember): void {
    this.#member = member;
    this.#parts = 0;
    this.count();
  }

  /** Ends the statement with a syntax error at the look-ahead. */
  fail(message: string): never {
    // What is still open at the end of the text would fail again and again at the same token.
    if (this.#token.start !== this.#failedAt) this.#problems.add(this.position, message);
    this.#failedAt = this.#token.start;
    throw new SyntaxFault(message);
  }

  failExpecting(kind: TokenKind): never {
    const wanted = spellings.get(kind) ?? kind;
    this.fail(
      `expected next token to be ${kind}, got ${this.#token.kind} instead: expected ${wanted}, found ${this.describe()}`,
    );
  }

  /** The look-ahead in words, for a message. */
  describe(): string {
    const { kind, start } = this.#token;
    if (kind === "EOF") return spellings.get(kind) ?? kind;
    if (kind === "ILLEGAL" && this.source.text.startsWith("/*", start)) {
      return "a comment that is not closed";
    }
    const found = quote(this.text);
    if (this.#continuesName()) return `${found} (names are made of letters and \`_\`)`;
    if (kind !== "ILLEGAL") return found;
    const code = `U+${(this.text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    const invisible = /[\p{Other}\p{Separator}]/u.test(this.text);
    return `${invisible ? code : found}, which is no part of the language`;
  }

  #continuesName(): boolean {
    const { text } = this.source;
    return (
      this.at("INTEGER", "DOUBLE", "MINUS", "ILLEGAL") &&
      this.#token.start === this.#previousEnd &&
      /[A-Za-z_]/.test(text.charAt(this.#previousEnd - 1))
    );
  }
}

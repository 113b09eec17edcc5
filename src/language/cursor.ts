import { Pace, type Steps } from "../base/steps.ts";
import { scanToken } from "./lexer.ts";
import { Problems } from "./problem.ts";
import { type CountedMember, schemaSizeMax, tooLarge } from "./size.ts";
import { type Position, positionAt, type Source } from "./source.ts";
import { type Token, type TokenKind, spellings } from "./token.ts";
import type { Name } from "./tree.ts";

const nameLengthMax = 64;

/** Of one member, which is read at once. */
const partsMax = 100_000;

/** As many as stand together. */
const semicolons = /[;\s]+/y;

/** Unwinds from the place of a syntax error to the statement it is in; never leaves the parser. */
class SyntaxFault extends Error {
  override readonly name = "SyntaxFault";
}

/** A message does not repeat a text of any length. */
function quote(text: string): string {
  const more = text.length > nameLengthMax ? "..." : "";
  return `\`${text.slice(0, nameLengthMax)}${more}\``;
}

/** Reads a source token by token, with one token of look-ahead. */
export class Cursor {
  readonly source: Source;
  readonly #problems: Problems;
  #previousEnd = 0;
  #failedAt: number | undefined;
  #size = 0;
  #parts = 0;
  #member: CountedMember | undefined;
  #token: Token;

  constructor(source: Source, problems: Problems) {
    this.source = source;
    this.#problems = problems;
    this.#token = scanToken(source.text, 0);
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

  /** The offset behind the token that was read last. */
  get previousEnd(): number {
    return this.#previousEnd;
  }

  at(...kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.#token.kind);
  }

  advance(): void {
    this.jump(this.#token.end);
  }

  /** Goes on behind `offset`, which then counts as the end of what was read. */
  jump(offset: number): void {
    this.#previousEnd = offset;
    this.#token = scanToken(this.source.text, offset);
  }

  /** Reads the look-ahead if it is of that kind. */
  accept(kind: TokenKind): boolean {
    if (!this.at(kind)) return false;
    this.advance();
    return true;
  }

  /** Reads the look-ahead, which must be of that kind. */
  expect(kind: TokenKind): void {
    if (!this.accept(kind)) this.failExpecting(kind);
  }

  /** A semicolon stands for a line break, so it is passed over where one may stand. */
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
   * What `read` comes to; undefined after a syntax error in it, which is noted. The look-ahead is
   * then the next token of one of the kinds `stops`, or the end.
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
   * Counts a name, a type of a relation or an operator. Fails with SCHEMA_COMPILE when there are more
   * than a schema may have: to read on would take as long as the text is.
   */
  count(): void {
    this.#size += 1;
    if (this.#size <= schemaSizeMax) return;
    const problems = new Problems("SCHEMA_COMPILE");
    problems.add(this.#member?.position ?? this.position, tooLarge(this.#member));
    problems.throwIfAny();
  }

  /** Counts what is not of the size of a schema, but takes time. Fails as `fail` does. */
  countPart(): void {
    this.#parts += 1;
    if (this.#parts <= partsMax) return;
    this.fail(
      `too long: it has more than ${partsMax} parentheses, arguments and steps of references`,
    );
  }

  /** What is counted from now on belongs to that member. */
  enterMember(member: CountedMember): void {
    this.#member = member;
    this.#parts = 0;
    this.count();
  }

  /** Ends the statement with a syntax error at the look-ahead. */
  fail(message: string): never {
    // What is still open when the text ends fails again and again at the same token.
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

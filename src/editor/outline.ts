import { Pace, type Steps } from "../base/steps.ts";
import { endOfRuleBody, scanToken } from "../language/lexer.ts";
import { OpenStrings } from "../language/skip.ts";
import type { Token, TokenKind } from "../language/token.ts";
import {
  type Declaration,
  type DeclaredType,
  memberKey,
  type Mention,
  type Naming,
  parameterKey,
} from "./naming.ts";
import { parameterMentions } from "./rule-body.ts";

/** The declarations and the names of a text, in their order. */
export interface Outline {
  readonly declarations: readonly Declaration[];
  readonly mentions: readonly Mention[];
  /** Whether all of the text was read. */
  readonly isWhole: boolean;
}

/** A schema may have 50,000 names and operators. Its arguments and the words of its rules come to that. */
const mentionsMax = 200_000;

/** To look for the end of a body takes time that grows with the text behind it. */
const openBodiesMax = 100;

const memberKeywords: readonly TokenKind[] = ["RELATION", "ATTRIBUTE", "PERMISSION"];
const statementKeywords: readonly TokenKind[] = ["ENTITY", "RULE"];
const entityEnds: readonly TokenKind[] = ["EOF", "RCB", ...statementKeywords];
const expressionEnds: readonly TokenKind[] = [...entityEnds, "LCB", ...memberKeywords];
const listParts: readonly TokenKind[] = ["IDENT", "COMMA", "DOT", "SEMICOLON"];

/**
 * Reads the names of the text of a schema. It goes on after mistakes, so it also serves a text that is being
 * written. In a text without syntax errors it finds the names of its tree.
 */
export function* outlineOf(text: string): Steps<Outline> {
  const reader = new OutlineReader(text);
  const declarations: Declaration[] = [];
  while (reader.token.kind !== "EOF" && reader.isWithin) {
    const { kind } = reader.token;
    if (kind === "ENTITY") declarations.push(yield* readEntity(reader));
    else if (kind === "RULE") declarations.push(yield* readRule(reader));
    else if (memberKeywords.includes(kind)) yield* readMember(reader, "");
    else yield* reader.pass();
  }
  return { declarations, mentions: reader.mentions, isWhole: reader.isWithin };
}

/** Reads the tokens of a text, and notes the names. */
class OutlineReader {
  readonly text: string;
  readonly mentions: Mention[] = [];
  /** The offset behind the last token that was read. */
  end = 0;
  /** The key of the declaration that is being read. */
  within = "";
  openBodies = 0;
  readonly #open = new OpenStrings();
  readonly #pace = new Pace();
  #token: Token;

  constructor(text: string) {
    this.text = text;
    this.#token = scanToken(text, 0, this.#open);
  }

  get token(): Token {
    return this.#token;
  }

  get isWithin(): boolean {
    return this.mentions.length < mentionsMax;
  }

  jump(offset: number): void {
    this.end = offset;
    this.#token = scanToken(this.text, offset, this.#open);
  }

  /** Skips the look-ahead. */
  *pass(): Steps<void> {
    this.jump(this.#token.end);
    if (this.#pace.step()) yield;
  }

  accept(kind: TokenKind): boolean {
    if (this.#token.kind !== kind) return false;
    this.jump(this.#token.end);
    return true;
  }

  /** Reads a name and notes what it names. Undefined if there is none. */
  *name(naming: Naming): Steps<Mention | undefined> {
    const { kind, start, end } = this.#token;
    if (kind !== "IDENT") return undefined;
    const text = this.text.slice(start, end);
    const mention = { text, span: { start, end }, naming, within: this.within };
    this.mentions.push(mention);
    yield* this.pass();
    return mention;
  }

  /** Reads the name of a declaration, whose key is `keyOf` its text. An empty name if there is none. */
  *declaredName(keyOf: (name: string) => string): Steps<Pick<Declaration, "key" | "name">> {
    const { kind, start, end } = this.#token;
    const key = keyOf(kind === "IDENT" ? this.text.slice(start, end) : "");
    this.within = key;
    const mention = yield* this.name({ role: "declaration" });
    return { key, name: mention?.span ?? { start: this.end, end: this.end } };
  }
}

function* readEntity(reader: OutlineReader): Steps<Declaration> {
  const { start } = reader.token;
  yield* reader.pass();
  const { key, name } = yield* reader.declaredName((text) => text);
  reader.accept("LCB");
  const children: Declaration[] = [];
  while (!entityEnds.includes(reader.token.kind) && reader.isWithin) {
    if (memberKeywords.includes(reader.token.kind)) children.push(yield* readMember(reader, key));
    else yield* reader.pass();
  }
  reader.accept("RCB");
  return { kind: "entity", key, name, whole: { start, end: reader.end }, types: [], children };
}

function* readMember(reader: OutlineReader, entity: string): Steps<Declaration> {
  const { kind: keyword, start } = reader.token;
  yield* reader.pass();
  const declared = yield* reader.declaredName((name) => memberKey(entity, name));
  let types: readonly DeclaredType[] = [];
  if (keyword === "RELATION") types = yield* readRelationTypes(reader);
  else if (keyword === "ATTRIBUTE") types = yield* readValueType(reader);
  else yield* readExpression(reader, entity);
  const kind =
    keyword === "RELATION" ? "relation" : keyword === "ATTRIBUTE" ? "attribute" : "permission";
  return { kind, ...declared, whole: { start, end: reader.end }, types, children: [] };
}

function* readRelationTypes(reader: OutlineReader): Steps<readonly DeclaredType[]> {
  const types: DeclaredType[] = [];
  while (reader.token.kind === "SIGN" && reader.isWithin) {
    yield* reader.pass();
    const type = (yield* reader.name({ role: "type" }))?.text ?? "";
    if (!reader.accept("HASH")) {
      if (type !== "") types.push({ type, relation: "" });
      continue;
    }
    const relation = (yield* reader.name({ role: "member", entity: type }))?.text;
    if (relation !== undefined) types.push({ type, relation });
  }
  return types;
}

function* readValueType(reader: OutlineReader): Steps<readonly DeclaredType[]> {
  const name = (yield* reader.name({ role: "value-type" }))?.text;
  if (name === undefined) return [];
  const isList = reader.accept("LSB") && reader.accept("RSB");
  return [{ type: isList ? `${name}[]` : name, relation: "" }];
}

/** Up to the next word that begins a member or a statement. */
function* readExpression(reader: OutlineReader, entity: string): Steps<void> {
  while (!expressionEnds.includes(reader.token.kind) && reader.isWithin) {
    if (reader.token.kind === "IDENT") yield* readOperand(reader, entity);
    else yield* reader.pass();
  }
}

function* readOperand(reader: OutlineReader, entity: string): Steps<void> {
  if (scanToken(reader.text, reader.token.end).kind === "LP") {
    const rule = (yield* reader.name({ role: "rule" }))?.text ?? "";
    yield* reader.pass();
    yield* readArguments(reader, entity, rule);
    return;
  }
  const relation = (yield* reader.name({ role: "member", entity }))?.text ?? "";
  if (!reader.accept("DOT")) return;
  yield* reader.name({ role: "walked", entity, relation });
  while (reader.token.kind === "DOT" && reader.isWithin) {
    yield* reader.pass();
    yield* reader.name({ role: "unknown" });
  }
}

function* readArguments(reader: OutlineReader, entity: string, rule: string): Steps<void> {
  while (listParts.includes(reader.token.kind) && reader.isWithin) {
    const isStep = reader.token.kind === "DOT";
    if (reader.token.kind !== "IDENT") yield* reader.pass();
    if (isStep) yield* reader.name({ role: "unknown" });
    else yield* reader.name({ role: "argument", entity, rule });
  }
  reader.accept("RP");
}

function* readRule(reader: OutlineReader): Steps<Declaration> {
  const { start } = reader.token;
  yield* reader.pass();
  const { key, name } = yield* reader.declaredName((text) => text);
  const children: Declaration[] = [];
  if (reader.accept("LP")) {
    while (listParts.includes(reader.token.kind) && reader.isWithin) {
      if (reader.token.kind === "IDENT") children.push(yield* readParameter(reader, key));
      else yield* reader.pass();
    }
    reader.within = key;
    reader.accept("RP");
  }
  while (reader.token.kind === "SEMICOLON") yield* reader.pass();
  if (reader.token.kind === "LCB") yield* readBody(reader, key, children);
  return { kind: "rule", key, name, whole: { start, end: reader.end }, types: [], children };
}

function* readParameter(reader: OutlineReader, rule: string): Steps<Declaration> {
  const { start } = reader.token;
  const declared = yield* reader.declaredName((name) => parameterKey(rule, name));
  const types = yield* readValueType(reader);
  const whole = { start, end: reader.end };
  return { kind: "parameter", ...declared, whole, types, children: [] };
}

function* readBody(
  reader: OutlineReader,
  rule: string,
  parameters: readonly Declaration[],
): Steps<void> {
  const { text } = reader;
  const start = reader.token.end;
  const close = reader.openBodies < openBodiesMax ? endOfRuleBody(text, start) : undefined;
  yield;
  if (close === undefined) reader.openBodies += 1;
  const end = close ?? endOfOpenBody(text, start);
  const names = new Set(parameters.map(({ name }) => text.slice(name.start, name.end)));
  for (const span of parameterMentions(text.slice(start, end), names)) {
    yield;
    if (span === undefined) continue;
    const mention = { start: start + span.start, end: start + span.end };
    const name = text.slice(mention.start, mention.end);
    const naming = { role: "parameter", rule } as const;
    reader.mentions.push({ text: name, span: mention, naming, within: rule });
    if (!reader.isWithin) break;
  }
  reader.jump(close === undefined ? end : close + 1);
}

/** A body that is not closed ends where a line begins as a statement does. */
function endOfOpenBody(text: string, start: number): number {
  const next = /^[ \t]*(?:entity|rule)\b/gm;
  next.lastIndex = start;
  return next.exec(text)?.index ?? text.length;
}

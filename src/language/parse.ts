import { runThrough, type Steps } from "../base/steps.ts";
import { suggest } from "../base/suggest.ts";
import { Cursor } from "./cursor.ts";
import { endOfRuleBody } from "./lexer.ts";
import { parseExpression } from "./parse-expression.ts";
import { Problems } from "./problem.ts";
import { createSource } from "./source.ts";
import { type TokenKind, keywords } from "./token.ts";
import type {
  EntityNode,
  MemberNode,
  SchemaTree,
  StatementNode,
  ParameterNode,
  RuleNode,
  AttributeNode,
  Name,
  PermissionNode,
  RelationNode,
  RelationTypeNode,
} from "./tree.ts";

const statementStarts: readonly TokenKind[] = ["ENTITY", "RULE"];
const memberStarts: readonly TokenKind[] = ["RELATION", "ATTRIBUTE", "PERMISSION"];

/**
 * Reads the text of a whole schema. After a syntax error it continues at the next statement. Throws
 * SCHEMA_PARSE with all syntax errors.
 */
export function parseSchema(text: string): SchemaTree {
  return runThrough(parseSchemaSteps(text));
}

/** The same in steps. Throws SCHEMA_COMPILE early if the schema is too large. */
export function* parseSchemaSteps(text: string): Steps<SchemaTree> {
  const problems = new Problems("SCHEMA_PARSE");
  const cursor = new Cursor(createSource(text), problems);
  const statements: StatementNode[] = [];
  cursor.passSemicolons();
  while (!cursor.at("EOF")) {
    const statement = yield* cursor.attempt(() => parseStatement(cursor), statementStarts);
    if (statement !== undefined) statements.push(statement);
    cursor.passSemicolons();
    yield;
  }
  problems.throwIfAny();
  return { source: cursor.source, statements };
}

/** A member that was parsed from its own text, with that text as the parser saw it. */
export interface LooseMember {
  readonly text: string;
  readonly member: MemberNode;
}

/**
 * Reads a text of exactly one relation, attribute or permission. If `keyword` is optional, reads
 * one permission that may begin with its name. `field` is the JSON path of the text. Adds syntax
 * errors to `problems` and then returns undefined.
 */
export function* parseLooseMember(
  text: string,
  options: {
    readonly field: string;
    readonly keyword: "required" | "optional";
    readonly problems: Problems;
  },
): Steps<LooseMember | undefined> {
  const source = createSource(text, options.field);
  const cursor = new Cursor(source, options.problems);
  return yield* cursor.attempt(function* () {
    yield;
    cursor.passSemicolons();
    const optional = options.keyword === "optional";
    const bare = optional && cursor.at("IDENT");
    if (optional && !bare && !cursor.at("PERMISSION")) cursor.failExpecting("PERMISSION");
    const member = bare ? parsePermission(cursor, cursor.token.start) : parseMember(cursor);
    cursor.passSemicolons();
    cursor.expect("EOF");
    const { start, end } = member.span;
    return { text: `${bare ? "permission " : ""}${source.text.slice(start, end)}`, member };
  }, []);
}

function* parseStatement(cursor: Cursor): Steps<StatementNode | undefined> {
  cursor.count();
  if (cursor.at("ENTITY")) return yield* parseEntity(cursor);
  if (cursor.at("RULE")) return yield* parseRule(cursor);
  const meant = suggest(cursor.text, ["entity", "rule"]);
  cursor.fail(
    `expected token to be ENTITY, RULE, got ${cursor.token.kind} instead: found ${cursor.describe()}${meant}`,
  );
}

function* parseEntity(cursor: Cursor): Steps<EntityNode> {
  cursor.expect("ENTITY");
  const name = cursor.name();
  cursor.passSemicolons();
  cursor.expect("LCB");
  const members: MemberNode[] = [];
  cursor.passSemicolons();
  while (!cursor.at("RCB")) {
    if (cursor.at("EOF", ...statementStarts)) {
      cursor.fail(
        `expected token to be RCB, got ${cursor.token.kind} instead: entity \`${name.text}\` is not closed`,
      );
    }
    const member = yield* cursor.attempt(
      // One member is read without a pause: it is no larger than a schema may be.
      function* () {
        yield;
        return parseMember(cursor, name.text);
      },
      [...memberStarts, "RCB", ...statementStarts],
    );
    if (member !== undefined) members.push(member);
    cursor.passSemicolons();
  }
  const close = cursor.token.start;
  cursor.expect("RCB");
  return { kind: "entity", name, members, close };
}

/** Reads `rule name(parameter type, ...) { body }`. The body is another language and stays text. */
function* parseRule(cursor: Cursor): Steps<RuleNode | undefined> {
  const { start } = cursor.token;
  cursor.expect("RULE");
  const head = yield* cursor.attempt(() => parseHead(cursor), ["LCB", "ENTITY", "RULE"]);
  // A rule with a wrong head still has a body, whose words must not be read as statements.
  if (head === undefined && !cursor.at("LCB")) return undefined;
  if (!cursor.at("LCB")) cursor.failExpecting("LCB");
  const offset = cursor.token.end;
  const end = endOfRuleBody(cursor.source.text, offset);
  if (end === undefined) {
    const name = head === undefined ? "" : ` \`${head.name.text}\``;
    cursor.fail(
      `expected token to be RCB, got EOF instead: the body of rule${name} that begins here is not closed`,
    );
  }
  cursor.jump(end + 1);
  if (head === undefined) return undefined;
  return {
    kind: "rule",
    ...head,
    body: { text: cursor.source.text.slice(offset, end), offset },
    span: { start, end: end + 1 },
  };
}

function* parseHead(cursor: Cursor): Steps<Pick<RuleNode, "name" | "parameters">> {
  const name = cursor.name();
  cursor.expect("LP");
  const parameters: ParameterNode[] = [];
  cursor.passSemicolons();
  while (!cursor.at("RP")) {
    parameters.push({ name: cursor.name(), type: parseAttributeType(cursor) });
    yield;
    cursor.passSemicolons();
    if (!cursor.accept("COMMA")) break;
    cursor.passSemicolons();
  }
  cursor.expect("RP");
  cursor.passSemicolons();
  return { name, parameters };
}

/** What other languages have in the place of the operators. */
const signs: ReadonlySet<string> = new Set(["&", "|", "!", "-"]);

/** Reads one statement of the entity with this name: a relation, an attribute or a permission. */
function parseMember(cursor: Cursor, entity = ""): MemberNode {
  const { start } = cursor.token;
  if (cursor.accept("RELATION")) return parseRelation(cursor, start, entity);
  if (cursor.accept("ATTRIBUTE")) return parseAttribute(cursor, start, entity);
  if (cursor.accept("PERMISSION")) return parsePermission(cursor, start, entity);
  const meant = signs.has(cursor.text)
    ? ", the operators are `and`, `or` and `not`"
    : suggest(cursor.text, keywords.keys());
  cursor.fail(
    `expected token to be RELATION, PERMISSION, ATTRIBUTE, got ${cursor.token.kind} instead: found ${cursor.describe()}${meant}`,
  );
}

/**
 * Reads `name = expression`, the part of a permission behind its keyword, which began at `start`.
 */
function parsePermission(cursor: Cursor, start: number, entity = ""): PermissionNode {
  const name = nameOf(cursor, "permission", entity);
  cursor.expect("ASSIGN");
  cursor.passSemicolons();
  const expression = parseExpression(cursor);
  return { kind: "permission", name, expression, span: { start, end: cursor.previousEnd } };
}

/** Reads a word with or without `[]`. The compiler decides whether it is a type. */
function parseAttributeType(cursor: Cursor): Name {
  const { text, position } = cursor.name();
  if (!cursor.accept("LSB")) return { text, position };
  cursor.expect("RSB");
  return { text: `${text}[]`, position };
}

function parseRelation(cursor: Cursor, start: number, entity: string): RelationNode {
  const name = nameOf(cursor, "relation", entity);
  const types: RelationTypeNode[] = [];
  do {
    cursor.expect("SIGN");
    cursor.count();
    const type = cursor.name();
    types.push({ type, relation: cursor.accept("HASH") ? cursor.name() : undefined });
  } while (cursor.at("SIGN"));
  return { kind: "relation", name, types, span: { start, end: cursor.previousEnd } };
}

function parseAttribute(cursor: Cursor, start: number, entity: string): AttributeNode {
  const name = nameOf(cursor, "attribute", entity);
  const type = parseAttributeType(cursor);
  return { kind: "attribute", name, type, span: { start, end: cursor.previousEnd } };
}

function nameOf(cursor: Cursor, kind: MemberNode["kind"], entity: string): Name {
  const name = cursor.name();
  cursor.enterMember({ kind, entity, name: name.text, position: name.position });
  return name;
}

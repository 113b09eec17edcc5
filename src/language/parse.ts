import { runThrough, type Steps } from "../base/steps.ts";
import { suggest } from "../base/suggest.ts";
import { Cursor } from "./cursor.ts";
import { parseMember, parsePermission } from "./parse-member.ts";
import { parseRule } from "./parse-rule.ts";
import { Problems } from "./problem.ts";
import { createSource } from "./source.ts";
import type { TokenKind } from "./token.ts";
import type { EntityNode, MemberNode, SchemaTree, StatementNode } from "./tree.ts";

const statementStarts: readonly TokenKind[] = ["ENTITY", "RULE"];
const memberStarts: readonly TokenKind[] = ["RELATION", "ATTRIBUTE", "PERMISSION"];

/**
 * Reads the text of a whole schema. Throws SCHEMA_PARSE with all syntax errors: after one, reading
 * goes on at the next statement.
 */
export function parseSchema(text: string): SchemaTree {
  return runThrough(parseSchemaSteps(text));
}

/** The same in steps. Throws SCHEMA_COMPILE early when the schema is too large. */
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

/** A member that stands alone in a text, with that text as the parser sees it. */
export interface LooseMember {
  readonly text: string;
  readonly member: MemberNode;
}

/**
 * Reads a text of exactly one relation, attribute or permission; with `keyword` optional, of one
 * permission that may begin with its name. `field` is the JSON path of the text. Syntax errors
 * are added to `problems`, the result is then undefined.
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
      // One member is read at once: it is no larger than a schema may be.
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

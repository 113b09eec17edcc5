import { suggest } from "../base/suggest.ts";
import type { Cursor } from "./cursor.ts";
import { parseExpression } from "./parse-expression.ts";
import { keywords } from "./token.ts";
import type {
  AttributeNode,
  MemberNode,
  Name,
  PermissionNode,
  RelationNode,
  RelationTypeNode,
} from "./tree.ts";

/** One statement in the body of an entity, which has that name: a relation, an attribute or a permission. */
export function parseMember(cursor: Cursor, entity = ""): MemberNode {
  const { start } = cursor.token;
  if (cursor.accept("RELATION")) return parseRelation(cursor, start, entity);
  if (cursor.accept("ATTRIBUTE")) return parseAttribute(cursor, start, entity);
  if (cursor.accept("PERMISSION")) return parsePermission(cursor, start, entity);
  const meant = suggest(cursor.text, keywords.keys());
  cursor.fail(
    `expected token to be RELATION, PERMISSION, ATTRIBUTE, got ${cursor.token.kind} instead: found ${cursor.describe()}${meant}`,
  );
}

/** `name = expression`, the part of a permission behind its keyword, which began at `start`. */
export function parsePermission(cursor: Cursor, start: number, entity = ""): PermissionNode {
  const name = nameOf(cursor, "permission", entity);
  cursor.expect("ASSIGN");
  cursor.passSemicolons();
  const expression = parseExpression(cursor);
  return { kind: "permission", name, expression, span: { start, end: cursor.previousEnd } };
}

/** A word with `[]` behind it or not; whether it is a type is for the compiler to say. */
export function parseAttributeType(cursor: Cursor): Name {
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

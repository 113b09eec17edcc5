import { type ErrorCode, PembaError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { Steps } from "../base/steps.ts";
import { suggest } from "../base/suggest.ts";
import { compileSchemaSteps } from "./compile.ts";
import { type LooseMember, parseLooseMember, parseSchemaSteps } from "./parse.ts";
import { Problems } from "./problem.ts";
import { type Position, startOfText } from "./source.ts";
import { type EditedMember, editedTree, type EntityEdit, splice } from "./splice.ts";
import type { EntityNode, MemberNode, SchemaTree } from "./tree.ts";

/** Changes to the entities of a schema, by the name of the entity. */
export type SchemaPartials = ReadonlyMap<string, EntityPartial>;

/** The changes to one entity, applied in this order. */
export interface EntityPartial {
  /** Statements with their keyword, whose names are new in the entity. */
  readonly write: readonly string[];
  /**
   * Permissions as `name = expression`, with or without their keyword. A name may be new or replace
   * a permission.
   */
  readonly writePermissions: readonly string[];
  /** Statements that replace one of the same name and kind. */
  readonly update: readonly string[];
  /** The names of members. */
  readonly delete: readonly string[];
}

/**
 * Returns the schema `text` with the changes made in it. Unchanged parts keep their text, comments
 * included. The result compiles. Throws SCHEMA_PARSE or SCHEMA_COMPILE (`details` give the
 * statement, such as `partials.doc.write[0]`, and the position in it; if a statement breaks another
 * part of `text`, the message gives that position), ENTITY_STATEMENT_NOT_FOUND, REFERENCE_NOT_FOUND
 * or ALREADY_EXIST.
 */
export function* applyPartials(text: string, partials: SchemaPartials): Steps<string> {
  const tree = yield* parseSchemaSteps(text);
  const changes = yield* parsePartials(partials);
  const entities = new Map<string, EntityNode>();
  for (const statement of tree.statements) {
    if (statement.kind === "entity") entities.set(statement.name.text, statement);
  }
  const edits: EntityEdit[] = [];
  for (const [name, change] of changes) {
    const entity = entities.get(name);
    if (entity === undefined) throw unknownEntity(name, tree);
    edits.push(editEntity(entity, change));
  }
  const places = placesOf(changes);
  yield* compileSchemaSteps(editedTree(tree, edits), (member) => places.get(member));
  return splice(tree, edits);
}

interface LocatedMember extends LooseMember {
  readonly field: string;
}

interface EntityChange {
  readonly write: readonly LocatedMember[];
  readonly writePermissions: readonly LocatedMember[];
  readonly update: readonly LocatedMember[];
  readonly delete: readonly { readonly name: string; readonly field: string }[];
}

function* parsePartials(partials: SchemaPartials): Steps<ReadonlyMap<string, EntityChange>> {
  const problems = new Problems("SCHEMA_PARSE");
  const parse = function* (
    statements: readonly string[],
    path: string,
    keyword: "required" | "optional" = "required",
  ): Steps<readonly LocatedMember[]> {
    const members: LocatedMember[] = [];
    for (const [index, statement] of statements.entries()) {
      const field = `${path}[${index}]`;
      const loose = yield* parseLooseMember(statement, { field, keyword, problems });
      if (loose !== undefined) members.push({ ...loose, field });
    }
    return members;
  };
  const changes = new Map<string, EntityChange>();
  for (const [name, partial] of partials) {
    const path = `partials.${name}`;
    changes.set(name, {
      write: yield* parse(partial.write, `${path}.write`),
      writePermissions: yield* parse(
        partial.writePermissions,
        `${path}.write_permissions`,
        "optional",
      ),
      update: yield* parse(partial.update, `${path}.update`),
      delete: partial.delete.map((member, index) => ({
        name: member,
        field: `${path}.delete[${index}]`,
      })),
    });
  }
  problems.throwIfAny();
  return changes;
}

/**
 * Where each member, written `type#name`, is updated or deleted. What used the member may then not
 * compile.
 */
function placesOf(changes: ReadonlyMap<string, EntityChange>): ReadonlyMap<string, Position> {
  const places = new Map<string, Position>();
  for (const [type, change] of changes) {
    for (const { member } of change.update) {
      const { name } = member;
      places.set(`${type}#${name.text}`, name.position);
    }
    for (const { name, field } of change.delete) {
      places.set(`${type}#${name}`, { ...startOfText, field });
    }
  }
  return places;
}

function editEntity(entity: EntityNode, change: EntityChange): EntityEdit {
  const type = entity.name.text;
  const members = new Map<string, EditedMember>();
  for (const member of entity.members) members.set(member.name.text, { member, text: undefined });
  for (const { field, text, member } of change.write) {
    const name = member.name.text;
    if (members.has(name)) {
      const hint = "`update` changes what exists";
      throw refusal("ALREADY_EXIST", field, `entity \`${type}\` already has \`${name}\`, ${hint}`);
    }
    members.set(name, { member, text });
  }
  for (const { field, text, member } of change.writePermissions) {
    const kind = members.get(member.name.text)?.member.kind ?? "permission";
    if (kind !== "permission") {
      const message = `entity \`${type}\` already has the ${kind} \`${member.name.text}\``;
      throw refusal("ALREADY_EXIST", field, message);
    }
    members.set(member.name.text, { member, text });
  }
  for (const { field, text, member } of change.update) {
    const name = member.name.text;
    if (members.get(name)?.member.kind !== member.kind) {
      throw unknownMember(type, members, { field, name, kind: member.kind });
    }
    members.set(name, { member, text });
  }
  for (const { field, name } of change.delete) {
    if (!members.delete(name)) throw unknownMember(type, members, { field, name, kind: undefined });
  }
  return { entity, members };
}

function unknownMember(
  type: string,
  members: ReadonlyMap<string, EditedMember>,
  missing: {
    readonly field: string;
    readonly name: string;
    readonly kind: MemberNode["kind"] | undefined;
  },
): PembaError {
  const { field, name, kind } = missing;
  const other = members.get(name)?.member.kind;
  const hint =
    other === undefined ? suggest(name, members.keys()) : `, \`${name}\` is of kind ${other}`;
  const wanted = kind === undefined ? "" : `${kind} `;
  const message = `entity \`${type}\` has no ${wanted}${quote(name)}${hint}`;
  return refusal("REFERENCE_NOT_FOUND", field, message);
}

function unknownEntity(name: string, tree: SchemaTree): PembaError {
  const entities: string[] = [];
  for (const statement of tree.statements) {
    if (statement.kind === "entity") entities.push(statement.name.text);
    else if (statement.name.text === name) {
      const message = `\`${name}\` is a rule, only entities can be changed in parts`;
      return refusal("ENTITY_STATEMENT_NOT_FOUND", `partials.${name}`, message);
    }
  }
  const message = `the schema has no entity ${quote(name)}${suggest(name, entities)}`;
  return refusal("ENTITY_STATEMENT_NOT_FOUND", `partials.${name}`, message);
}

function refusal(code: ErrorCode, field: string, message: string): PembaError {
  return new PembaError(code, `${field}: ${message}`, { details: [{ field, message }] });
}

import { runThrough, type Steps } from "../base/steps.ts";
import { suggest } from "../base/suggest.ts";
import { type AttributeType, attributeTypes } from "../base/tuple.ts";
import { compileCondition } from "../condition/compile.ts";
import { compileExpression } from "./compile-expression.ts";
import { blankComments } from "./lexer.ts";
import { parseSchemaSteps } from "./parse.ts";
import { type ChangeOf, Problems } from "./problem.ts";
import type {
  EntityDefinition,
  PermissionDefinition,
  RelationDefinition,
  RelationType,
  RuleDefinition,
  Schema,
} from "./schema.ts";
import { type EntityScope, relationOf, type SchemaScope, scopeOf } from "./scope.ts";
import { checkSize } from "./size.ts";
import { type Position, startOfText, positionAt, type Source } from "./source.ts";
import type { Name, RelationNode, SchemaTree, StatementNode, RuleNode } from "./tree.ts";

/** Reads and compiles a schema. Throws SCHEMA_PARSE or SCHEMA_COMPILE with all mistakes. */
export function compileSchemaText(text: string): Schema {
  return runThrough(compileSchemaTextSteps(text));
}

/** The same in steps, so that other requests can run in between. */
export function* compileSchemaTextSteps(text: string): Steps<Schema> {
  return yield* compileSchemaSteps(yield* parseSchemaSteps(text));
}

/** Resolves and checks every name of a schema. Throws SCHEMA_COMPILE with all mistakes. */
export function compileSchema(tree: SchemaTree): Schema {
  return runThrough(compileSchemaSteps(tree));
}

/**
 * The same in steps. If a change to another member of a changed schema caused a mistake, the error
 * names the position of that change.
 */
export function* compileSchemaSteps(tree: SchemaTree, changeOf?: ChangeOf): Steps<Schema> {
  const problems = new Problems("SCHEMA_COMPILE", changeOf);
  const scope = scopeOf(tree);
  checkSize(tree, problems);
  // A schema that is too large would take too long to compile.
  problems.throwIfAny();
  if (scope.entities.size === 0) problems.add(startOfText, "no entity references found in schema");
  const entities = new Map<string, EntityDefinition>();
  const rules = new Map<string, RuleDefinition>();
  for (const statement of tree.statements) {
    yield;
    const name = statement.name.text;
    const first = declaredAs(scope, name);
    if (statement !== first) {
      reportDuplicate(problems, name, { here: statement.name, first: first?.name });
    } else if (statement.kind === "rule") {
      const rule = compileRule(tree.source, statement, problems);
      if (rule !== undefined) rules.set(name, rule);
    } else {
      const entity = scope.entities.get(name);
      if (entity !== undefined) entities.set(name, yield* compileEntity(scope, entity, problems));
    }
  }
  problems.throwIfAny();
  return { entities, rules };
}

function declaredAs(scope: SchemaScope, name: string): StatementNode | undefined {
  return scope.entities.get(name)?.node ?? scope.rules.get(name);
}

function reportDuplicate(
  problems: Problems,
  name: string,
  places: { readonly here: Name; readonly first: Name | undefined },
): void {
  const first = places.first === undefined ? "" : ` (first at ${placeOf(places.first.position)})`;
  problems.add(places.here.position, `duplication found for \`${name}\`${first}`);
}

function placeOf({ line, column, field }: Position): string {
  return field === undefined ? `${line}:${column}` : `${field}: ${line}:${column}`;
}

function* compileEntity(
  scope: SchemaScope,
  entity: EntityScope,
  problems: Problems,
): Steps<EntityDefinition> {
  const type = entity.node.name.text;
  const relations = new Map<string, RelationDefinition>();
  const attributes = new Map<string, AttributeType>();
  const permissions = new Map<string, PermissionDefinition>();
  for (const member of entity.node.members) {
    yield;
    const name = member.name.text;
    const first = entity.members.get(name);
    if (member !== first) {
      reportDuplicate(problems, `${type}#${name}`, { here: member.name, first: first?.name });
      continue;
    }
    switch (member.kind) {
      case "relation":
        relations.set(name, { name, types: compileTypes(scope, member, problems) });
        break;
      case "attribute": {
        const attribute = resolveAttributeType(member.type, problems);
        if (attribute !== undefined) attributes.set(name, attribute);
        break;
      }
      case "permission": {
        const place = { scope, entity, problems };
        permissions.set(name, { name, expression: compileExpression(place, member.expression) });
        break;
      }
    }
  }
  return { name: type, relations, attributes, permissions };
}

function compileTypes(
  scope: SchemaScope,
  node: RelationNode,
  problems: Problems,
): readonly RelationType[] {
  const types = new Map<string, RelationType>();
  for (const { type, relation } of node.types) {
    const target = scope.entities.get(type.text);
    if (target === undefined) {
      problems.add(
        type.position,
        `relation reference not found in entity references: type \`${type.text}\` is not an entity${suggest(type.text, scope.entities.keys())}`,
      );
    } else if (relation !== undefined && !relationOf(scope, type.text, relation.text)) {
      const member = target.members.get(relation.text);
      const hint =
        member === undefined
          ? suggest(relation.text, target.members.keys())
          : `, \`${relation.text}\` is ${member.kind === "attribute" ? "an attribute" : "a permission"}`;
      problems.add(
        relation.position,
        `relation reference not found in entity references: entity \`${type.text}\` has no relation \`${relation.text}\`${hint}`,
        [`${type.text}#${relation.text}`],
      );
    }
    const subject = { type: type.text, relation: relation?.text ?? "" };
    types.set(`${subject.type}#${subject.relation}`, subject);
  }
  return [...types.values()];
}

/**
 * Compiles a rule with its condition. Returns undefined and adds a problem if the rule is wrong.
 */
function compileRule(
  source: Source,
  rule: RuleNode,
  problems: Problems,
): RuleDefinition | undefined {
  const name = rule.name.text;
  const parameters = compileParameters(rule, problems);
  if (parameters === undefined) return undefined;
  const text = rule.body.text.trim();
  if (text === "") {
    problems.add(rule.name.position, `rule \`${name}\` has no expression: its body is empty`);
    return undefined;
  }
  // The condition language has no block comments, and ends a line comment at a line feed alone, not
  // at a carriage return. The text that is shown keeps them all.
  const compiled = compileCondition(blankComments(text), parameters);
  if (compiled.ok) return { name, parameters, condition: { ...compiled.condition, text } };
  const leading = rule.body.text.length - rule.body.text.trimStart().length;
  problems.add(
    positionAt(source, rule.body.offset + leading + compiled.offset),
    `rule \`${name}\`: ${compiled.message}`,
  );
  return undefined;
}

function compileParameters(
  rule: RuleNode,
  problems: Problems,
): ReadonlyMap<string, AttributeType> | undefined {
  const parameters = new Map<string, AttributeType>();
  for (const parameter of rule.parameters) {
    const { text, position } = parameter.name;
    const type = resolveAttributeType(parameter.type, problems);
    if (parameters.has(text)) {
      problems.add(position, `duplication found for \`${rule.name.text}#${text}\``);
    } else if (text === "context") {
      problems.add(
        position,
        "invalid argument: `context` is the context of the request, a parameter needs another name",
      );
    } else if (type !== undefined) {
      parameters.set(text, type);
    }
  }
  return parameters.size === rule.parameters.length ? parameters : undefined;
}

const types: ReadonlyMap<string, AttributeType> = new Map(
  attributeTypes.map((type) => [type, type]),
);

/** The attribute type with this name. Returns undefined and adds a problem if there is none. */
function resolveAttributeType(name: Name, problems: Problems): AttributeType | undefined {
  const type = types.get(name.text);
  if (type === undefined) {
    const hint = suggest(name.text, attributeTypes) || `, one of ${attributeTypes.join(", ")}`;
    problems.add(
      name.position,
      `invalid argument: \`${name.text}\` is not an attribute type${hint}`,
    );
  }
  return type;
}

import { suggest } from "../base/suggest.ts";
import type { Problems } from "./problem.ts";
import type { Expression } from "./schema.ts";
import {
  type EntityScope,
  isAskable,
  isAskableBehind,
  membersBehind,
  type SchemaScope,
} from "./scope.ts";
import type {
  ExpressionNode,
  InvocationNode,
  Name,
  OperationNode,
  ReferenceNode,
  RelationNode,
} from "./tree.ts";

/** The entity that an expression belongs to, and the list that its mistakes are added to. */
export interface ExpressionContext {
  readonly scope: SchemaScope;
  readonly entity: EntityScope;
  readonly problems: Problems;
}

/**
 * Resolves the names of an expression. Mistakes are added to the problems. The returned expression
 * then has a placeholder at each mistake and must not be used.
 */
export function compileExpression(place: ExpressionContext, root: ExpressionNode): Expression {
  const spine: OperationNode[] = [];
  let node = root;
  while (isOperation(node)) {
    spine.push(node);
    node = node.left;
  }
  let compiled = compileLeaf(place, node);
  for (const { kind, right } of spine.reverse()) {
    compiled = { kind, left: compiled, right: compileExpression(place, right) };
  }
  return compiled;
}

function isOperation(node: ExpressionNode): node is OperationNode {
  return node.kind === "or" || node.kind === "and" || node.kind === "not";
}

function compileLeaf(place: ExpressionContext, leaf: ReferenceNode | InvocationNode): Expression {
  if (leaf.kind === "invocation") return compileCall(place, leaf);
  const [second, third] = leaf.rest;
  if (second === undefined) return compileName(place, leaf.first);
  if (third !== undefined) {
    place.problems.add(
      third.position,
      `not supported relation walk: \`${textOf(leaf)}\` has more than one step, name the rest in a permission of its own`,
    );
    return { kind: "walk", relation: leaf.first.text, name: second.text };
  }
  return compileWalk(place, leaf.first, second);
}

function compileName({ scope, entity, problems }: ExpressionContext, name: Name): Expression {
  const member = entity.members.get(name.text);
  if (member === undefined) {
    const hint = scope.rules.has(name.text)
      ? ": it is a rule, which is called with attributes in parentheses"
      : suggest(name.text, entity.members.keys());
    problems.add(
      name.position,
      `undefined relation reference: entity \`${entity.node.name.text}\` has no \`${name.text}\`${hint}`,
      [memberOf(entity, name)],
    );
    return { kind: "relation", name: name.text };
  }
  if (member.kind === "attribute" && member.type.text !== "boolean") {
    problems.add(
      name.position,
      `schema compile: attribute \`${name.text}\` of type \`${member.type.text}\` is no operand, only a \`boolean\` attribute is`,
      [memberOf(entity, name)],
    );
  }
  return { kind: member.kind, name: name.text };
}

function compileWalk(place: ExpressionContext, first: Name, second: Name): Expression {
  const { entity, problems } = place;
  const type = entity.node.name.text;
  const relation = entity.members.get(first.text);
  if (relation?.kind === "relation") {
    checkWalk(place, relation, second);
  } else {
    const hint =
      relation === undefined
        ? suggest(first.text, relationsOf(entity))
        : `: \`${first.text}\` is ${relation.kind === "attribute" ? "an attribute" : "a permission"}, a walk begins with a relation`;
    problems.add(
      first.position,
      `undefined relation reference: entity \`${type}\` has no relation \`${first.text}\`${hint}`,
      [memberOf(entity, first)],
    );
  }
  return { kind: "walk", relation: first.text, name: second.text };
}

function checkWalk(place: ExpressionContext, via: RelationNode, name: Name): void {
  const { scope, entity, problems } = place;
  for (const { type, relation } of via.types) {
    const target = scope.entities.get(type.text);
    if (target === undefined || isAskable(scope, type.text, name.text)) continue;
    const userset = { type: type.text, relation: relation?.text ?? "" };
    if (relation !== undefined && isAskableBehind(scope, userset, name.text)) continue;
    const hint =
      target.members.get(name.text)?.kind === "attribute"
        ? ": it is an attribute there"
        : suggest(name.text, target.members.keys());
    problems.add(
      name.position,
      `undefined relation reference: entity \`${type.text}\`, to which \`${via.name.text}\` leads, has no relation or permission \`${name.text}\`${hint}`,
      [
        `${type.text}#${name.text}`,
        memberOf(entity, via.name),
        ...(relation === undefined ? [] : membersBehind(scope, userset, name.text)),
      ],
    );
    return;
  }
}

/**
 * Arguments and parameters are matched by name: an attribute `n` is the value of the parameter `n`.
 */
function compileCall(place: ExpressionContext, call: InvocationNode): Expression {
  const { scope, problems } = place;
  const name = call.rule.text;
  const rule = scope.rules.get(name);
  const values = call.arguments.map((argument) => argument.first.text);
  if (rule === undefined) {
    problems.add(
      call.rule.position,
      `invalid rule reference: there is no rule \`${name}\`${suggest(name, scope.rules.keys())}`,
    );
  } else if (values.length === 0) {
    problems.add(
      call.rule.position,
      `missing argument: a call needs at least one argument, \`${name}\` is called without`,
    );
  } else if (values.length !== rule.parameters.length) {
    problems.add(
      call.rule.position,
      `missing argument: rule \`${name}\` has ${rule.parameters.length} parameters, the call has ${values.length} arguments`,
    );
  } else {
    checkArguments(place, call, new Map(rule.parameters.map((p) => [p.name.text, p.type.text])));
  }
  return { kind: "call", rule: name, arguments: values };
}

function checkArguments(
  { entity, problems }: ExpressionContext,
  call: InvocationNode,
  parameters: ReadonlyMap<string, string>,
): void {
  const seen = new Set<string>();
  for (const argument of call.arguments) {
    const { text, position } = argument.first;
    const attribute = entity.members.get(text);
    const type = parameters.get(text);
    if (argument.rest.length > 0) {
      problems.add(
        position,
        `not supported walk: the argument \`${textOf(argument)}\` must be an attribute of the entity itself`,
      );
    } else if (attribute?.kind !== "attribute") {
      problems.add(
        position,
        `invalid rule reference: entity \`${entity.node.name.text}\` has no attribute \`${text}\`${suggest(text, attributesOf(entity))}`,
        [memberOf(entity, argument.first)],
      );
    } else if (type === undefined) {
      problems.add(
        position,
        `invalid argument: rule \`${call.rule.text}\` has no parameter \`${text}\`, arguments are matched by name${suggest(text, parameters.keys())}`,
      );
    } else if (type !== attribute.type.text) {
      problems.add(
        position,
        `invalid argument: attribute \`${text}\` is of type \`${attribute.type.text}\`, the parameter of rule \`${call.rule.text}\` is of type \`${type}\``,
        [memberOf(entity, argument.first)],
      );
    } else if (seen.has(text)) {
      problems.add(position, `invalid argument: \`${text}\` is given twice`);
    }
    seen.add(text);
  }
}

function* relationsOf(entity: EntityScope): Iterable<string> {
  for (const [name, { kind }] of entity.members) if (kind === "relation") yield name;
}

function* attributesOf(entity: EntityScope): Iterable<string> {
  for (const [name, { kind }] of entity.members) if (kind === "attribute") yield name;
}

function memberOf(entity: EntityScope, name: Name): string {
  return `${entity.node.name.text}#${name.text}`;
}

function textOf(reference: ReferenceNode): string {
  return [reference.first, ...reference.rest].map(({ text }) => text).join(".");
}

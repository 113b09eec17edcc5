import { must } from "../../src/base/assert.ts";
import type { AttributeType } from "../../src/base/tuple.ts";
import { compileSchemaText } from "../../src/language/compile.ts";
import type { Expression, RelationType } from "../../src/language/schema.ts";
import { type RuleTemplate, rulePool } from "./generate-rules.ts";

/** A generated schema with its expressions as trees, to be changed and written again. */
export interface SchemaModel {
  readonly entities: readonly EntityModel[];
  readonly rules: readonly RuleTemplate[];
}

export interface EntityModel {
  readonly name: string;
  readonly relations: readonly { readonly name: string; readonly types: readonly RelationType[] }[];
  readonly attributes: readonly { readonly name: string; readonly type: AttributeType }[];
  readonly permissions: readonly PermissionModel[];
}

export interface PermissionModel {
  readonly name: string;
  readonly expression: Expression;
}

/** The model of a text whose rules are of the pool. */
export function modelOf(text: string): SchemaModel {
  const schema = compileSchemaText(text);
  return {
    entities: [...schema.entities.values()].map((entity) => ({
      name: entity.name,
      relations: [...entity.relations.values()],
      attributes: [...entity.attributes].map(([name, type]) => ({ name, type })),
      permissions: [...entity.permissions.values()],
    })),
    rules: [...schema.rules.keys()].map((name) =>
      must(
        rulePool.find((rule) => rule.name === name),
        "a generated rule is of the pool",
      ),
    ),
  };
}

export function modelText({ entities, rules }: SchemaModel): string {
  return [
    ...entities.map((entity) =>
      [
        `entity ${entity.name} {`,
        ...entity.relations.map(
          ({ name, types }) =>
            `  relation ${name} ${types.map((one) => `@${one.type}${one.relation && `#${one.relation}`}`).join(" ")}`,
        ),
        ...entity.attributes.map(({ name, type }) => `  attribute ${name} ${type}`),
        ...entity.permissions.map(
          ({ name, expression }) => `  permission ${name} = ${expressionText(expression)}`,
        ),
        "}",
      ].join("\n"),
    ),
    ...rules.map(({ name, parameters, body }) => {
      const list = parameters.map((one) => `${one.name} ${one.type}`).join(", ");
      return `rule ${name}(${list}) {\n  ${body}\n}`;
    }),
  ].join("\n");
}

function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case "or":
    case "and":
    case "not":
      return `${operandText(expression.left)} ${expression.kind} ${operandText(expression.right)}`;
    case "walk":
      return `${expression.relation}.${expression.name}`;
    case "call":
      return `${expression.rule}(${expression.arguments.join(", ")})`;
    default:
      return expression.name;
  }
}

function operandText(expression: Expression): string {
  const text = expressionText(expression);
  return isOperation(expression) ? `(${text})` : text;
}

export type Operation = Extract<Expression, { readonly kind: "or" | "and" | "not" }>;

export function isOperation(expression: Expression): expression is Operation {
  return expression.kind === "or" || expression.kind === "and" || expression.kind === "not";
}

/** The expression with each part replaced, from its leaves on. */
export function rewritten(
  expression: Expression,
  change: (part: Expression) => Expression,
): Expression {
  if (!isOperation(expression)) return change(expression);
  const left = rewritten(expression.left, change);
  const right = rewritten(expression.right, change);
  return change({ ...expression, left, right });
}

/** The model with the expressions of all permissions rewritten. */
export function withExpressions(
  model: SchemaModel,
  change: (part: Expression, entity: EntityModel) => Expression,
): SchemaModel {
  return {
    ...model,
    entities: model.entities.map((entity) => ({
      ...entity,
      permissions: entity.permissions.map(({ name, expression }) => ({
        name,
        expression: rewritten(expression, (part) => change(part, entity)),
      })),
    })),
  };
}

import type { RelationType } from "../../src/language/schema.ts";
import type { RuleTemplate } from "./generate-rules.ts";
import type { EntityShape, Sketch } from "./generate-schema.ts";
import { permissionNames, plainNames, relationNames } from "./name-pool.ts";
import { chosen } from "./pick.ts";

/** Whether an expression of the entity may call the rule: a call has at least one argument. */
function canCall(shape: EntityShape, rule: RuleTemplate): boolean {
  return rule.parameters.length > 0 && canAsk(shape, rule);
}

/** Whether the rule can be asked of the entity: every parameter is an attribute there. */
export function canAsk(shape: EntityShape, rule: RuleTemplate): boolean {
  return rule.parameters.every((parameter) =>
    shape.attributes.some((one) => one.name === parameter.name && one.type === parameter.type),
  );
}

/** The text of a schema, and so what each expression sketch comes to. */
export function schemaText(
  entities: readonly EntityShape[],
  rules: readonly RuleTemplate[],
): string {
  const lines: string[] = [];
  for (const shape of entities) {
    lines.push(`entity ${shape.name} {`);
    for (const { name, types } of shape.relations) {
      const list = types.map((one) => `@${one.type}${one.relation && `#${one.relation}`}`);
      lines.push(`  relation ${name} ${list.join(" ")}`);
    }
    for (const { name, type } of shape.attributes) lines.push(`  attribute ${name} ${type}`);
    for (const { name, expression: sketch } of shape.permissions) {
      const text = expressionText(sketch, { name, shape, entities, rules, used: new Set() });
      lines.push(`  permission ${name} = ${text}`);
    }
    lines.push("}");
  }
  for (const { name, parameters, body } of rules) {
    const list = parameters.map((one) => `${one.name} ${one.type}`).join(", ");
    lines.push(`rule ${name}(${list}) {`, `  ${body}`, "}");
  }
  return lines.join("\n");
}

interface Scope {
  /** The permission that is being defined. */
  readonly name: string;
  readonly shape: EntityShape;
  readonly entities: readonly EntityShape[];
  readonly rules: readonly RuleTemplate[];
  /** The leaves of the expression so far. */
  readonly used: Set<string>;
}

function expressionText(sketch: Sketch, scope: Scope): string {
  if (sketch.kind === "leaf") return leafText(sketch, scope);
  const left = expressionText(sketch.left, scope);
  const right = expressionText(sketch.right, scope);
  return `${left} ${sketch.operator} ${sketch.right.kind === "leaf" ? right : `(${right})`}`;
}

function leafText(sketch: Sketch & { readonly kind: "leaf" }, scope: Scope): string {
  const { shape, rules } = scope;
  const relations = shape.relations.map((one) => one.name);
  const walks = walksOf(scope);
  const flags = shape.attributes.filter((one) => one.type === "boolean").map((one) => one.name);
  const options: Record<typeof sketch.form, readonly string[]> = {
    name: [],
    relation: relations,
    holds: shape.relations.filter(({ types }) => isHeld(scope, types)).map((one) => one.name),
    forbids: shape.relations
      .filter(({ types }) => types.every((one) => one.relation === "") && !isHeld(scope, types))
      .map((one) => one.name),
    walk: walks,
    again: walks.filter((walk) => walk.endsWith(`.${scope.name}`)),
    flag: flags,
    call: rules
      .filter((rule) => canCall(shape, rule))
      .map((rule) => `${rule.name}(${rule.parameters.map((one) => one.name).join(", ")})`),
  };
  const names = [...relations, ...shape.permissions.map((one) => one.name), ...flags];
  const wanted = options[sketch.form].length > 0 ? options[sketch.form] : names;
  // What stands twice in an expression says little new, so that is the exception.
  const unused = wanted.filter((one) => !scope.used.has(one));
  const isNew = unused.length > 0 && sketch.pick % 5 > 0;
  const text = chosen(isNew ? unused : wanted, sketch.pick);
  scope.used.add(text);
  return text;
}

/** Every expression has a plain type that some of its operands take and others forbid. */
function isHeld({ name, shape }: Scope, types: readonly RelationType[]): boolean {
  const place = shape.permissions.findIndex((one) => one.name === name);
  const plain = chosen(plainNames, place);
  return types.some((one) => one.type === plain && one.relation === "");
}

function walksOf(scope: Scope): readonly string[] {
  const names = [...permissionNames, ...relationNames];
  return scope.shape.relations.flatMap((one) =>
    names
      .filter((name) => canWalk(one.types, name, scope.entities))
      .map((name) => `${one.name}.${name}`),
  );
}

/** A type has the name itself, or, behind a userset, all the types that it leads to have it. */
function canWalk(
  types: readonly RelationType[],
  name: string,
  entities: readonly EntityShape[],
): boolean {
  const has = (type: string): boolean => {
    const shape = entities.find((one) => one.name === type);
    return [...(shape?.relations ?? []), ...(shape?.permissions ?? [])].some(
      (one) => one.name === name,
    );
  };
  return types.every((one) => {
    if (has(one.type)) return true;
    if (one.relation === "") return false;
    const behind = typesBehind(one, entities, new Set());
    return behind.length > 0 && behind.every(has);
  });
}

function typesBehind(
  userset: RelationType,
  entities: readonly EntityShape[],
  seen: Set<string>,
): readonly string[] {
  const key = `${userset.type}#${userset.relation}`;
  if (seen.has(key)) return [];
  seen.add(key);
  const shape = entities.find((one) => one.name === userset.type);
  const types = shape?.relations.find((one) => one.name === userset.relation)?.types ?? [];
  return types.flatMap((one) =>
    one.relation === "" ? [one.type] : typesBehind(one, entities, seen),
  );
}

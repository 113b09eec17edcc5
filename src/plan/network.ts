import { must } from "../base/assert.ts";
import type { EntityDefinition, Expression, Schema } from "../language/schema.ts";
import type { Formula, Network, NetworkNode, Question, Test } from "./plan.ts";
import { resolveQuestion } from "./question.ts";
import { nameKey, walkTargets, type Name } from "./references.ts";

/**
 * The equations of every name that the question reaches: what can't be one search is solved over
 * them as a fixpoint.
 */
export function buildNetwork(schema: Schema, question: Question): Network {
  const asked = resolveQuestion(schema, question, (field) => field);
  const table = new NodeTable();
  const nodes: NetworkNode[] = [];
  if (asked.kind === "rule") {
    const formula: Formula = { kind: "test", test: { kind: "rule", rule: asked.rule } };
    nodes.push({ id: 0, entityType: asked.entity.name, name: asked.rule.name, formula });
    return { nodes };
  }
  table.intern({ entityType: asked.entity.name, name: asked.name });
  // The table grows while it is read: a formula interns the names that it mentions.
  for (const name of table.names) {
    const entity = must(schema.entities.get(name.entityType), "a node's entity exists");
    const formula = nameFormula({ schema, question, table }, entity, name.name);
    nodes.push({ id: nodes.length, ...name, formula });
  }
  return { nodes };
}

class NodeTable {
  readonly names: Name[] = [];
  readonly #ids = new Map<string, number>();

  intern(name: Name): number {
    const key = nameKey(name);
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.names.length;
      this.#ids.set(key, id);
      this.names.push(name);
    }
    return id;
  }
}

interface Build {
  readonly schema: Schema;
  readonly question: Question;
  readonly table: NodeTable;
}

function nameFormula(build: Build, entity: EntityDefinition, name: string): Formula {
  if (entity.attributes.has(name)) return test({ kind: "attribute", name });
  const operands: Formula[] = [];
  const { subjectType, subjectRelation } = build.question;
  if (subjectType === entity.name && subjectRelation === name)
    operands.push(test({ kind: "self" }));
  const relation = entity.relations.get(name);
  for (const type of relation?.types ?? []) {
    if (type.type === subjectType && type.relation === subjectRelation) {
      operands.push(test({ kind: "direct", relations: [name] }));
    }
    if (type.relation === "") continue;
    operands.push({
      kind: "hop",
      hop: { relation: name, subjectType: type.type, subjectRelation: type.relation },
      node: build.table.intern({ entityType: type.type, name: type.relation }),
    });
  }
  const permission = entity.permissions.get(name);
  if (permission !== undefined) {
    operands.push(expressionFormula(build, entity, permission.expression));
  }
  return { kind: "or", operands };
}

function expressionFormula(
  build: Build,
  entity: EntityDefinition,
  expression: Expression,
): Formula {
  switch (expression.kind) {
    case "or":
    case "and":
      return {
        kind: expression.kind,
        operands: spine(expression).map((operand) => expressionFormula(build, entity, operand)),
      };
    case "not":
      return {
        kind: "not",
        left: expressionFormula(build, entity, expression.left),
        right: expressionFormula(build, entity, expression.right),
      };
    case "relation":
    case "permission":
      return {
        kind: "node",
        node: build.table.intern({ entityType: entity.name, name: expression.name }),
      };
    case "attribute":
      return test({ kind: "attribute", name: expression.name });
    case "call":
      return test({
        kind: "rule",
        rule: must(build.schema.rules.get(expression.rule), "a compiled call names a rule"),
      });
    case "walk":
      return {
        kind: "or",
        operands: walkTargets(build.schema, entity, expression).map((target) => ({
          kind: "hop",
          hop: {
            relation: expression.relation,
            subjectType: target.entityType,
            subjectRelation: undefined,
          },
          node: build.table.intern(target),
        })),
      };
  }
}

/** The operands of a left-deep run of one operator, so that long runs need no deep recursion. */
function spine(expression: Extract<Expression, { kind: "or" | "and" | "not" }>): Expression[] {
  const operands: Expression[] = [expression.right];
  let left = expression.left;
  while (left.kind === expression.kind) {
    operands.push(left.right);
    left = left.left;
  }
  return [left, ...operands.toReversed()];
}

function test(made: Test): Formula {
  return { kind: "test", test: made };
}

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
  for (const { entityType, name, operand } of table.entries) {
    const entity = must(schema.entities.get(entityType), "a node's entity exists");
    const build = { schema, question, table };
    const formula =
      operand === undefined
        ? nameFormula(build, entity, name)
        : expressionFormula(build, entity, { expression: operand, owner: name });
    nodes.push({ id: nodes.length, entityType, name, formula });
  }
  return { nodes };
}

interface NodeEntry extends Name {
  /** Set for an operand in the expression of the name. */
  readonly operand: Expression | undefined;
}

class NodeTable {
  readonly entries: NodeEntry[] = [];
  readonly #names = new Map<string, number>();
  readonly #operands = new Map<Expression, number>();

  intern(name: Name): number {
    const key = nameKey(name);
    const id = this.#names.get(key) ?? this.#add({ ...name, operand: undefined });
    this.#names.set(key, id);
    return id;
  }

  internOperand(owner: Name, operand: Expression): number {
    const id = this.#operands.get(operand) ?? this.#add({ ...owner, operand });
    this.#operands.set(operand, id);
    return id;
  }

  #add(entry: NodeEntry): number {
    this.entries.push(entry);
    return this.entries.length - 1;
  }
}

interface Build {
  readonly schema: Schema;
  readonly question: Question;
  readonly table: NodeTable;
}

function nameFormula(build: Build, entity: EntityDefinition, name: string): Formula {
  const operands: Formula[] = [];
  const { subjectType, subjectRelation } = build.question;
  if (subjectType === entity.name && subjectRelation === name)
    operands.push(test({ kind: "self" }));
  if (entity.attributes.has(name)) operands.push(test({ kind: "attribute", name }));
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
    const { expression } = permission;
    operands.push(expressionFormula(build, entity, { expression, owner: name }));
  }
  return { kind: "or", operands };
}

/** What lies deeper in an expression is a node of its own: whatever reads formulas may recurse. */
const formulaDepthMax = 100;

function expressionFormula(
  build: Build,
  entity: EntityDefinition,
  operand: { readonly expression: Expression; readonly owner: string; readonly depth?: number },
): Formula {
  const { expression, owner, depth = 0 } = operand;
  if (depth > formulaDepthMax) {
    const name = { entityType: entity.name, name: owner };
    return { kind: "node", node: build.table.internOperand(name, expression) };
  }
  const part = (inner: Expression): Formula =>
    expressionFormula(build, entity, { expression: inner, owner, depth: depth + 1 });
  switch (expression.kind) {
    case "or":
    case "and":
      return { kind: expression.kind, operands: spine(expression).map(part) };
    case "not": {
      // A node of its own, so that an answer does not depend on whether an operand has a name: two
      // negations inside one expression are two of them, as over two names.
      const name = { entityType: entity.name, name: owner };
      const right: Formula = {
        kind: "node",
        node: build.table.internOperand(name, expression.right),
      };
      return { kind: "not", left: part(expression.left), right };
    }
    case "relation":
    case "permission":
    case "attribute":
      return {
        kind: "node",
        node: build.table.intern({ entityType: entity.name, name: expression.name }),
      };
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

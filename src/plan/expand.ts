import { must } from "../base/assert.ts";
import type { EntityDefinition, Expression, RuleDefinition, Schema } from "../language/schema.ts";
import type { Components } from "./components.ts";
import { splitComposite } from "./composite.ts";
import type { GatherReason, Question } from "./plan.ts";
import { usersetTypes, walkTargets } from "./references.ts";

/** What a state stands for: names of its entity type, or an operand of a composite. */
export type Item =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "rule"; readonly rule: RuleDefinition }
  | { readonly kind: "operand"; readonly expression: Expression; readonly owner: string };

/** An operand that must (or must not) hold at the same entity. */
export interface OpenGuard {
  readonly operand: Extract<Item, { kind: "operand" }>;
  readonly polarity: "required" | "excluded";
}

/** One way to be allowed: its guards hold, and then the step accepts or leads on. */
export interface Alternative {
  readonly guards: readonly OpenGuard[];
  readonly step: Step;
}

export type Step =
  | { readonly kind: "direct"; readonly relation: string }
  | { readonly kind: "self" }
  | { readonly kind: "attribute"; readonly name: string }
  | { readonly kind: "rule"; readonly rule: RuleDefinition }
  | {
      readonly kind: "userset";
      readonly relation: string;
      readonly subjectType: string;
      readonly subjectRelation: string;
    }
  | {
      readonly kind: "walk";
      readonly relation: string;
      readonly subjectType: string;
      readonly name: string;
    };

export interface Expansion {
  readonly alternatives: readonly Alternative[];
  readonly reasons: readonly GatherReason[];
}

/** Past this, a state is not worth a branch for each alternative: the plan is gathered instead. */
const branchesMax = 512;

interface Pending {
  readonly item: Item;
  readonly guards: readonly OpenGuard[];
}

/**
 * All alternatives of a set of items of one entity type: the names of the same entity are inlined,
 * with the guards that stand between. A name that was already expanded with a subset of the guards
 * adds nothing (least fixpoint), so names that refer to each other end.
 */
export function expandItems(
  input: { schema: Schema; components: Components; question: Question },
  entity: EntityDefinition,
  items: readonly Item[],
): Expansion {
  const alternatives: Alternative[] = [];
  const reasons: GatherReason[] = [];
  const expanded = new Map<string, (readonly OpenGuard[])[]>();
  const stack: Pending[] = items.map((item) => ({ item, guards: [] })).toReversed();
  const branches = new BranchCount();
  const add = (...more: readonly Alternative[]): void => {
    for (const alternative of more) {
      alternatives.push(alternative);
      branches.count(alternative);
    }
  };

  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { item, guards } = next;
    if (branches.size > branchesMax || guards.length > branchesMax) {
      reasons.push(reason(entity, "it has too many alternatives", label(items)));
      break;
    }
    if (item.kind === "rule") {
      add({ guards, step: { kind: "rule", rule: item.rule } });
    } else if (item.kind === "operand") {
      const step = expandExpression(input, entity, item, guards);
      add(...step.alternatives);
      reasons.push(...step.reasons);
      stack.push(...step.pending.toReversed());
    } else if (isNews(expanded, item.name, guards)) {
      const steps = expandName(input.question, entity, item.name);
      add(...steps.map((step) => ({ guards, step })));
      const permission = entity.permissions.get(item.name);
      if (permission !== undefined) {
        const { expression } = permission;
        stack.push({ item: { kind: "operand", expression, owner: item.name }, guards });
      }
    }
  }
  return { alternatives, reasons };
}

/**
 * How many branches the alternatives make in a statement: those that differ in their relation alone
 * share one, and each guard of a branch is one more.
 */
class BranchCount {
  readonly #branches = new Set<string>();
  readonly #guards = new Map<OpenGuard, number>();

  get size(): number {
    return this.#branches.size;
  }

  count({ guards, step }: Alternative): void {
    const numbers = guards.map((guard) => this.#number(guard));
    const behind = JSON.stringify(numbers.toSorted((a, b) => a - b));
    for (const number of numbers) this.#branches.add(`${behind} ${number}`);
    this.#branches.add(`${behind} ${branchOf(step)}`);
  }

  #number(guard: OpenGuard): number {
    const number = this.#guards.get(guard) ?? this.#guards.size;
    this.#guards.set(guard, number);
    return number;
  }
}

function branchOf(step: Step): string {
  switch (step.kind) {
    case "direct":
    case "self":
      return step.kind;
    case "attribute":
      return `attribute ${step.name}`;
    case "rule":
      return `rule ${step.rule.name}`;
    case "userset":
      return `userset ${step.subjectType}#${step.subjectRelation}`;
    case "walk":
      return `walk ${step.relation} ${step.subjectType}`;
  }
}

/** For people: the names, or the place of an operand. */
export function label(items: readonly Item[]): string {
  return items
    .map((item) => {
      if (item.kind === "name") return item.name;
      return item.kind === "rule" ? item.rule.name : `${item.owner}/operand`;
    })
    .join("|");
}

/** False when the name was expanded with the same guards or fewer, which allows at least as much. */
function isNews(
  expanded: Map<string, (readonly OpenGuard[])[]>,
  name: string,
  guards: readonly OpenGuard[],
): boolean {
  const before = expanded.get(name) ?? [];
  if (before.some((fewer) => fewer.every((guard) => guards.includes(guard)))) return false;
  expanded.set(name, [...before, guards]);
  return true;
}

/** The steps of a name itself; a permission has but the self reference, its expression comes apart. */
function expandName(question: Question, entity: EntityDefinition, name: string): Step[] {
  const steps: Step[] = [];
  if (question.subjectType === entity.name && question.subjectRelation === name) {
    steps.push({ kind: "self" });
  }
  if (entity.attributes.has(name)) steps.push({ kind: "attribute", name });
  const relation = entity.relations.get(name);
  if (relation === undefined) return steps;
  const isDirect = relation.types.some(
    (type) => type.type === question.subjectType && type.relation === question.subjectRelation,
  );
  if (isDirect) steps.push({ kind: "direct", relation: name });
  for (const type of usersetTypes(relation.types)) {
    steps.push({
      kind: "userset",
      relation: name,
      subjectType: type.type,
      subjectRelation: type.relation,
    });
  }
  return steps;
}

interface ExpressionExpansion extends Expansion {
  readonly pending: readonly Pending[];
}

/** One operator or leaf; what is left of it goes back on the stack. */
function expandExpression(
  input: { schema: Schema; components: Components },
  entity: EntityDefinition,
  item: Extract<Item, { kind: "operand" }>,
  guards: readonly OpenGuard[],
): ExpressionExpansion {
  const { expression, owner } = item;
  const pending = (operand: Expression, with_: readonly OpenGuard[]): Pending => ({
    item: { kind: "operand", expression: operand, owner },
    guards: with_,
  });
  const step = (found: Step): ExpressionExpansion => ({
    alternatives: [{ guards, step: found }],
    reasons: [],
    pending: [],
  });
  switch (expression.kind) {
    case "or":
      return {
        alternatives: [],
        reasons: [],
        pending: [pending(expression.left, guards), pending(expression.right, guards)],
      };
    case "and":
    case "not": {
      const { inlined, guard, polarity, cause } = splitComposite(input, entity, expression, owner);
      const open = guardOf(guard, owner, polarity);
      return {
        alternatives: [],
        reasons: cause === undefined ? [] : [reason(entity, cause, owner)],
        pending: [pending(inlined, guards.includes(open) ? guards : [...guards, open])],
      };
    }
    case "relation":
    case "permission":
    case "attribute":
      return {
        alternatives: [],
        reasons: [],
        pending: [{ item: { kind: "name", name: expression.name }, guards }],
      };
    case "walk": {
      const targets = walkTargets(input.schema, entity, expression);
      return {
        alternatives: targets.map((target) => ({
          guards,
          step: {
            kind: "walk",
            relation: expression.relation,
            subjectType: target.entityType,
            name: target.name,
          },
        })),
        reasons: [],
        pending: [],
      };
    }
    case "call": {
      const rule = must(input.schema.rules.get(expression.rule), "a compiled call names a rule");
      return step({ kind: "rule", rule });
    }
  }
}

const guards = new WeakMap<Expression, OpenGuard>();

/** One object for one operand of a schema, so that guards compare by identity. */
function guardOf(
  expression: Expression,
  owner: string,
  polarity: "required" | "excluded",
): OpenGuard {
  let guard = guards.get(expression);
  if (guard === undefined) {
    guard = { operand: { kind: "operand", expression, owner }, polarity };
    guards.set(expression, guard);
  }
  return guard;
}

function reason(
  entity: EntityDefinition,
  cause: GatherReason["cause"],
  permission: string,
): GatherReason {
  return { entityType: entity.name, permission, cause };
}

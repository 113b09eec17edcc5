import { unreachable } from "../../src/base/assert.ts";
import type { Formula, Program } from "./ground.ts";
import type { Model } from "./well-founded.ts";

/** For a type that stands here, entities with other ids lead nowhere. */
export type Scope = Readonly<Record<string, readonly string[]>>;

/** Whether evidence leads to the root through entities of the scope alone. */
export interface ScopeReach {
  /** It does, for every operand of `and`. */
  readonly surely: boolean;
  /** It does, for one operand at least; negations and faults count as allowed. */
  readonly perhaps: boolean;
}

/** How far the scope lets the evidence for the root come. */
export function scopeReach(program: Program, model: Model, scope: Scope): ScopeReach {
  const surely = reached(program, scope, {
    faultsHold: false,
    everyOperand: true,
    denied: (key) => !model.possible.has(key),
  });
  const perhaps = reached(program, scope, {
    faultsHold: true,
    everyOperand: false,
    denied: () => true,
  });
  return { surely: surely.has(program.root), perhaps: perhaps.has(program.root) };
}

interface Assumptions {
  readonly faultsHold: boolean;
  readonly everyOperand: boolean;
  readonly denied: (key: string) => boolean;
}

function reached(program: Program, scope: Scope, assumptions: Assumptions): ReadonlySet<string> {
  const derived = new Set<string>();
  for (;;) {
    const before = derived.size;
    for (const [key, formula] of program.rules) {
      if (isWithin(program, key, scope) && holds(formula, derived, assumptions)) derived.add(key);
    }
    if (derived.size === before) return derived;
  }
}

function isWithin({ entities }: Program, key: string, scope: Scope): boolean {
  const entity = entities.get(key);
  return entity === undefined || isInScope(scope, entity.type, entity.id);
}

export function isInScope(scope: Scope, type: string, id: string): boolean {
  return !Object.hasOwn(scope, type) || scope[type]?.includes(id) === true;
}

function holds(formula: Formula, derived: ReadonlySet<string>, assumptions: Assumptions): boolean {
  const again = (one: Formula): boolean => holds(one, derived, assumptions);
  switch (formula.kind) {
    case "value":
      return formula.value;
    case "fault":
      return assumptions.faultsHold;
    case "atom":
      return derived.has(formula.key);
    case "or":
      return formula.operands.some(again);
    case "and":
      return assumptions.everyOperand
        ? formula.operands.every(again)
        : formula.operands.some(again);
    case "not":
      return again(formula.left) && assumptions.denied(formula.right);
    default:
      return unreachable(formula);
  }
}

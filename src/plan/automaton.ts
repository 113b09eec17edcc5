import { must } from "../base/assert.ts";
import type { Expression, Schema } from "../language/schema.ts";
import type { Components } from "./components.ts";
import { expandItems, label, type Alternative, type Item, type Step } from "./expand.ts";
import type { GatherReason, Question, Test } from "./plan.ts";

/** A state before pruning: it may lead nowhere, and its guards stand at each alternative. */
export interface OpenState {
  readonly entityType: string;
  readonly label: string;
  readonly tests: readonly { readonly guards: readonly OpenStateGuard[]; readonly test: Test }[];
  readonly hops: readonly {
    readonly guards: readonly OpenStateGuard[];
    readonly hop: OpenHop;
    readonly target: number;
  }[];
}

export interface OpenStateGuard {
  readonly state: number;
  readonly polarity: "required" | "excluded";
}

export type OpenHop =
  | {
      readonly kind: "userset";
      readonly relations: readonly string[];
      readonly subjectType: string;
      readonly subjectRelation: string;
    }
  | { readonly kind: "walk"; readonly relations: readonly string[]; readonly subjectType: string };

export interface Automaton {
  /** State 0 is the question. */
  readonly states: readonly OpenState[];
  readonly reasons: readonly GatherReason[];
}

/** Past this, hops to several names stay apart: sets of names could grow without end. */
const mergedStatesMax = 256;

/**
 * All states that the question reaches. Hops over the same relations to the same type are one hop
 * to the set of names asked there, so that one probe serves them all; relations with the same
 * target are one hop over all of them.
 */
export function buildAutomaton(input: {
  readonly schema: Schema;
  readonly components: Components;
  readonly question: Question;
  readonly root: Item;
}): Automaton {
  const table = new StateTable();
  table.intern(input.question.entityType, [input.root]);
  const states: OpenState[] = [];
  const reasons: GatherReason[] = [];
  // The table grows while it is read: a state's expansion interns the states that it leads to.
  for (const { entityType, items } of table.entries) {
    const entity = must(input.schema.entities.get(entityType), "a state's entity exists");
    const expansion = expandItems(input, entity, items);
    reasons.push(...expansion.reasons);
    states.push(openState(table, entityType, label(items), expansion.alternatives));
  }
  return { states, reasons };
}

class StateTable {
  readonly entries: { readonly entityType: string; readonly items: readonly Item[] }[] = [];
  readonly #ids = new Map<string, number>();
  readonly #operands = new Map<Expression, number>();

  /** The number of the state for these items, which is made when it is new. */
  intern(entityType: string, items: readonly Item[]): number {
    const key = JSON.stringify([entityType, ...items.map((item) => this.#key(item)).toSorted()]);
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.entries.length;
      this.#ids.set(key, id);
      this.entries.push({ entityType, items });
    }
    return id;
  }

  get mayMerge(): boolean {
    return this.entries.length < mergedStatesMax;
  }

  #key(item: Item): string {
    switch (item.kind) {
      case "name":
        return `name ${item.name}`;
      case "rule":
        return `rule ${item.rule.name}`;
      case "operand": {
        const number = this.#operands.get(item.expression) ?? this.#operands.size;
        this.#operands.set(item.expression, number);
        return `operand ${number}`;
      }
    }
  }
}

/** Alternatives that stand behind the same guards. */
interface Group {
  readonly guards: readonly OpenStateGuard[];
  readonly steps: Step[];
}

function openState(
  table: StateTable,
  entityType: string,
  stateLabel: string,
  alternatives: readonly Alternative[],
): OpenState {
  const groups = new Map<string, Group>();
  for (const alternative of alternatives) {
    const guards = alternative.guards.map((guard) => ({
      state: table.intern(entityType, [guard.operand]),
      polarity: guard.polarity,
    }));
    guards.sort((a, b) => a.state - b.state);
    const key = JSON.stringify(guards);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { guards, steps: [alternative.step] });
    else group.steps.push(alternative.step);
  }
  return {
    entityType,
    label: stateLabel,
    tests: [...groups.values()].flatMap(({ guards, steps }) =>
      testsOf(steps).map((test) => ({ guards, test })),
    ),
    hops: [...groups.values()].flatMap(({ guards, steps }) =>
      [...usersetHops(table, steps), ...walkHops(table, steps)].map((hop) => ({ guards, ...hop })),
    ),
  };
}

/** The cheap tests first: self needs no data, direct tuples are one probe, rules come last. */
function testsOf(steps: readonly Step[]): Test[] {
  const relations = unique(
    steps.flatMap((step) => (step.kind === "direct" ? [step.relation] : [])),
  );
  const attributes = unique(
    steps.flatMap((step) => (step.kind === "attribute" ? [step.name] : [])),
  );
  const rules = unique(steps.flatMap((step) => (step.kind === "rule" ? [step.rule] : [])));
  return [
    ...(steps.some((step) => step.kind === "self") ? [{ kind: "self" } as const] : []),
    ...(relations.length > 0 ? [{ kind: "direct", relations } as const] : []),
    ...attributes.map((name) => ({ kind: "attribute", name }) as const),
    ...rules.map((rule) => ({ kind: "rule", rule }) as const),
  ];
}

interface TargetedHop {
  readonly hop: OpenHop;
  readonly target: number;
}

function usersetHops(table: StateTable, steps: readonly Step[]): TargetedHop[] {
  const usersets = steps.filter((step) => step.kind === "userset");
  const byTarget = Map.groupBy(usersets, (step) => `${step.subjectType}#${step.subjectRelation}`);
  return [...byTarget.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const { subjectType, subjectRelation } = first;
    const relations = unique(same.map((step) => step.relation));
    const target = table.intern(subjectType, [{ kind: "name", name: subjectRelation }]);
    return [{ hop: { kind: "userset", relations, subjectType, subjectRelation }, target }];
  });
}

function walkHops(table: StateTable, steps: readonly Step[]): TargetedHop[] {
  const walks = steps.filter((step) => step.kind === "walk");
  const names = Map.groupBy(walks, (step) =>
    table.mayMerge
      ? `${step.subjectType}#${step.relation}`
      : `${step.subjectType}#${step.relation}#${step.name}`,
  );
  const relationsOf = new Map<number, { subjectType: string; relations: string[] }>();
  for (const same of names.values()) {
    const [first] = same;
    if (first === undefined) continue;
    const asked = unique(same.map((step) => step.name)).map(
      (name) => ({ kind: "name", name }) as const,
    );
    const target = table.intern(first.subjectType, asked);
    const known = relationsOf.get(target);
    if (known === undefined) {
      relationsOf.set(target, { subjectType: first.subjectType, relations: [first.relation] });
    } else {
      known.relations.push(first.relation);
    }
  }
  return [...relationsOf].map(([target, { subjectType, relations }]) => ({
    hop: { kind: "walk", relations: unique(relations), subjectType },
    target,
  }));
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

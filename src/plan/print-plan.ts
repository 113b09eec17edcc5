import { componentsOf } from "../base/graph.ts";
import { runThrough } from "../base/steps.ts";
import type { JsonValue } from "../base/tuple.ts";
import { type Formula, type Node, reachedNodes } from "./network.ts";
import type { GatherPlan, Guard, Hop, Plan, SearchPlan, State, Test } from "./plan.ts";

/** A plan for people: its states by region, with guards, tests, hops and the direction of each. */
export function printPlan(plan: Plan): string {
  return plan.kind === "search" ? printSearch(plan) : printGather(plan);
}

/** The same for programs. */
export function planJson(plan: Plan): JsonValue {
  const { question } = plan;
  const asked = {
    entity_type: question.entityType,
    permission: question.permission,
    subject_type: question.subjectType,
    subject_relation: question.subjectRelation,
  };
  if (plan.kind === "gather") {
    const numbers = numbersOf(plan);
    return {
      kind: "gather",
      question: asked,
      reasons: plan.reasons.map((reason) => reasonText(reason)),
      nodes: [...numbers].map(([node, id]) => ({
        id,
        name: `${node.entityType}#${node.name}`,
        formula: formulaText(node.formula, numbers),
      })),
    };
  }
  const regions = regionsOf(plan);
  return {
    kind: "search",
    question: asked,
    states: plan.states.map((state) => ({
      id: state.id,
      name: nameOf(state),
      region: regions.numberOf(state.id),
      recursive: regions.isRecursive(state.id),
      arrival: state.arrival.map((guard) => guardJson(guard)),
      tests: state.tests.map(({ guards, test }) => ({
        guards: guards.map((guard) => guardJson(guard)),
        test: testText(test),
      })),
      hops: state.hops.map(({ guards, hop, target }) => ({
        guards: guards.map((guard) => guardJson(guard)),
        hop: hopText(hop),
        direction: directionOf(hop),
        target,
      })),
    })),
    usersets: plan.usersets.map((userset) => `${userset.entityType}#${userset.relation}`),
  };
}

function printSearch(plan: SearchPlan): string {
  const regions = regionsOf(plan);
  const { length } = plan.states;
  const lines = [`${questionText(plan)}: one search of ${length} state${length === 1 ? "" : "s"}`];
  for (const state of plan.states) {
    const region = regions.numberOf(state.id);
    const recursive = regions.isRecursive(state.id) ? ", recursive" : "";
    lines.push(`state ${state.id}: ${nameOf(state)} (region ${region}${recursive})`);
    for (const guard of state.arrival) lines.push(`  only ${guardText(plan, guard)}`);
    for (const { guards, test } of state.tests) {
      lines.push(`  accepts: ${testText(test)}${behind(plan, guards)}`);
    }
    for (const { guards, hop, target } of state.hops) {
      const direction =
        directionOf(hop) === "from the subject"
          ? `closed from the subject, state ${target} where that is incomplete`
          : `to state ${target}`;
      lines.push(`  hop: ${hopText(hop)}, ${direction}${behind(plan, guards)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function printGather(plan: GatherPlan): string {
  const numbers = numbersOf(plan);
  return `${[
    `${questionText(plan)}: gathered, then solved as a fixpoint`,
    ...plan.reasons.map((reason) => `because: ${reasonText(reason)}`),
    ...[...numbers].map(
      ([node, number]) =>
        `node ${number}: ${node.entityType}#${node.name} = ${formulaText(node.formula, numbers)}`,
    ),
  ].join("\n")}\n`;
}

/** The nodes that the question leads to, in that order. */
function numbersOf({ root }: GatherPlan): ReadonlyMap<Node, number> {
  return new Map([...reachedNodes(root)].map((node, number) => [node, number]));
}

function questionText({ question }: Plan): string {
  const relation = question.subjectRelation === "" ? "" : `#${question.subjectRelation}`;
  return `${question.entityType}#${question.permission}@${question.subjectType}${relation}`;
}

function nameOf(state: State): string {
  return `${state.entityType}#${state.label}`;
}

function reasonText(reason: GatherPlan["reasons"][number]): string {
  return `${reason.entityType}#${reason.permission}: ${reason.cause}`;
}

function guardText(plan: SearchPlan, guard: Guard): string {
  const state = plan.states[guard.state];
  const name = state === undefined ? "" : ` (${nameOf(state)})`;
  return `${guard.polarity === "required" ? "if" : "if not"} state ${guard.state}${name}`;
}

function behind(plan: SearchPlan, guards: readonly Guard[]): string {
  return guards.map((guard) => `, ${guardText(plan, guard)}`).join("");
}

function guardJson(guard: Guard): JsonValue {
  return { state: guard.state, polarity: guard.polarity };
}

function testText(test: Test): string {
  switch (test.kind) {
    case "direct":
      return `a tuple of ${test.relations.join(", ")} to the subject`;
    case "self":
      return "the entity is the subject";
    case "attribute":
      return `attribute ${test.name}`;
    case "rule":
      return `rule ${test.rule.name}(${[...test.rule.parameters.keys()].join(", ")})`;
  }
}

function hopText(hop: Hop): string {
  return hop.kind === "userset"
    ? `usersets ${hop.subjectType}#${hop.subjectRelation} of ${hop.relations.join(", ")}`
    : `walk ${hop.relations.join(", ")} to ${hop.subjectType}`;
}

function directionOf(hop: Hop): "from the subject" | "from the entity" {
  return hop.kind === "userset" ? "from the subject" : "from the entity";
}

function formulaText(formula: Formula, numbers: ReadonlyMap<Node, number>): string {
  const nodeText = (node: Node): string => `node ${numbers.get(node)}`;
  switch (formula.kind) {
    case "or":
      return `(${formula.operands.map((operand) => formulaText(operand, numbers)).join(" or ")})`;
    case "and":
      return `(${formula.operands.map(nodeText).join(" and ")})`;
    case "not":
      return `(${nodeText(formula.left)} not ${nodeText(formula.right)})`;
    case "node":
      return nodeText(formula.node);
    case "relation": {
      const usersets = formula.usersets.map(
        (node) => ` or ${formula.relation} -> ${node.entityType}#${node.name} ${nodeText(node)}`,
      );
      return `a tuple of ${formula.relation} to the subject${usersets.join("")}`;
    }
    case "walk":
      return formula.targets
        .map((node) => `${formula.relation} -> ${node.entityType} ${nodeText(node)}`)
        .join(" or ");
    case "attribute":
    case "rule":
      return testText(formula);
  }
}

/** Regions of a search: the states that lead to each other along hops. */
interface Regions {
  /** Lower regions first: a hop leads to the same region or to a lower number. */
  readonly numberOf: (state: number) => number;
  readonly isRecursive: (state: number) => boolean;
}

function regionsOf({ states }: SearchPlan): Regions {
  const next = (id: number): number[] => states[id]?.hops.map(({ target }) => target) ?? [];
  const components = runThrough(componentsOf(states.keys(), next));
  const regions = new Map(
    components.flatMap(({ members, isCyclic }, number) =>
      members.map((member) => [member, { number, isCyclic }] as const),
    ),
  );
  return {
    numberOf: (state) => regions.get(state)?.number ?? 0,
    isRecursive: (state) => regions.get(state)?.isCyclic === true,
  };
}

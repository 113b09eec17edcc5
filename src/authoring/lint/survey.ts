import type { Steps } from "../../base/steps.ts";
import type { Schema } from "../../language/schema.ts";
import { buildMeasuredPlan } from "../../plan/build.ts";
import { planMax } from "../../plan/limit.ts";
import type { Network, Node } from "../../plan/network.ts";
import { isPossible, restrict, type RestrictedNetwork } from "../../plan/passes/2-restrict.ts";
import type { PlanSize } from "../../plan/passes/plan-size.ts";
import { charactersMax, pushDown } from "../../sql/push-down.ts";

/** How the checks of a permission are answered, for each type of subject that may have it. */
export interface Survey {
  /** By the id of a node: 1 if data may let an entity have it. */
  readonly possible: Uint8Array;
  readonly questions: readonly SurveyedQuestion[];
  /** The number of questions that were not planned, because there are more than `questionsMax`. */
  readonly omitted: number;
  /** Whether every type of subject was looked at, so that `possible` is final. */
  readonly isWhole: boolean;
}

export interface SurveyedQuestion {
  readonly node: Node;
  readonly subjectType: string;
  /** Why it is gathered. Empty for a search. */
  readonly reasons: readonly string[];
  /** What a search uses of the bounds of a search. Empty for a gather. */
  readonly uses: readonly BoundUse[];
}

/** How much of a bound is used up. */
export interface BoundUse {
  readonly count: number;
  readonly most: number;
  /** What is counted. */
  readonly unit: string;
}

/** Planning takes up to some milliseconds for each question. */
const questionsMax = 2_000;

const subjectTypesMax = 200;

/** Plans a check of each permission for each type of subject. */
export function* surveyPlans(schema: Schema, network: Network): Steps<Survey> {
  const types = subjectTypesOf(schema);
  const permissions = network.nodes.filter(
    ({ entityType, name, isOperand }) =>
      !isOperand && schema.entities.get(entityType)?.permissions.has(name) === true,
  );
  const possible = new Uint8Array(network.nodes.length);
  const questions: SurveyedQuestion[] = [];
  let omitted = Math.max(0, types.length - subjectTypesMax) * permissions.length;
  for (const subjectType of types.slice(0, subjectTypesMax)) {
    const restricted = yield* restrict(network, { subjectType, subjectRelation: "" });
    for (const node of network.nodes) if (isPossible(restricted, node)) possible[node.id] = 1;
    for (const node of permissions) {
      if (!isPossible(restricted, node)) continue;
      if (questions.length < questionsMax) questions.push(yield* surveyQuestion(restricted, node));
      else omitted += 1;
    }
  }
  return { possible, questions, omitted, isWhole: types.length <= subjectTypesMax };
}

/** The types that can stand in a relation. If there are none, any type will do. */
function subjectTypesOf({ entities }: Schema): readonly string[] {
  const named = new Set(
    [...entities.values()].flatMap((entity) =>
      [...entity.relations.values()].flatMap(({ types }) =>
        types.flatMap(({ type, relation }) => (relation === "" ? [type] : [])),
      ),
    ),
  );
  return named.size > 0 ? [...named] : [...entities.keys()].slice(0, 1);
}

function* surveyQuestion(network: RestrictedNetwork, node: Node): Steps<SurveyedQuestion> {
  const { subjectType } = network.kind;
  const question = {
    ...network.kind,
    entityType: node.entityType,
    permission: node.name,
    arguments: [],
  };
  const { plan, size } = yield* buildMeasuredPlan({ question, network, root: node });
  yield;
  if (plan.kind === "gather") {
    const reasons = plan.reasons.map(
      ({ entityType, permission, cause }) => `\`${entityType}#${permission}\`: ${cause}`,
    );
    return { node, subjectType, reasons, uses: [] };
  }
  const pushed = pushDown(plan);
  if (pushed.kind === "untranslatable") {
    const reasons = [`it cannot be one statement: ${pushed.obstacle}`];
    return { node, subjectType, reasons, uses: [] };
  }
  const text = { count: pushed.characters, most: charactersMax, unit: "characters of SQL" };
  const uses = [...(size === undefined ? [] : usesOf(size)), text];
  return { node, subjectType, reasons: [], uses };
}

function usesOf(size: PlanSize): readonly BoundUse[] {
  const use = (part: keyof PlanSize, unit: string): BoundUse => ({
    count: size[part],
    most: planMax[part],
    unit,
  });
  return [
    use("states", "states of a search"),
    use("branches", "branches of its statement"),
    use("guards", "guards of one branch"),
    use("names", "names that it leads through"),
    use("visits", "visits of names"),
    use("leaves", "parts of formulas"),
  ];
}

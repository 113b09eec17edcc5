import { Pace, type Steps } from "../../base/steps.ts";
import type { Schema } from "../../language/schema.ts";
import { planMax } from "../../plan/limit.ts";
import { mentionedNodes, type Network, type Node } from "../../plan/network.ts";
import {
  holdsDirectly,
  isPossible,
  restrict,
  type RestrictedNetwork,
} from "../../plan/passes/2-restrict.ts";
import { unfold } from "../../plan/passes/3-unfold.ts";
import { arrange } from "../../plan/passes/4-arrange.ts";
import { type Automaton, sizeFrom } from "../../plan/passes/automaton.ts";
import type { PlanSize } from "../../plan/passes/plan-size.ts";
import { type GatherReason, tooLarge } from "../../plan/plan.ts";
import { charactersMax, pushDown, tooLong } from "../../sql/push-down.ts";
import { tooManyGuards } from "../../sql/search/search-writer.ts";

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
  /** What a search uses of the bounds of a search. Empty for a gather, and for one that is near none. */
  readonly uses: readonly BoundUse[];
}

/** How much of a bound is used up. */
export interface BoundUse {
  readonly count: number;
  readonly most: number;
  /** What is counted. */
  readonly unit: string;
}

/** Planning takes up to some milliseconds for each question. Those that need none do not count. */
const questionsMax = 2_000;

/** From this part of a bound on, it is near. */
export const nearShare = 0.8;

/**
 * If a statement uses less than this of its bound, no part of it is near the bound by itself. The statement of a part
 * may be somewhat longer than its share, since it writes its beginning in another way.
 */
const shortShare = nearShare - 0.1;

const subjectTypesMax = 200;

/**
 * Plans a check of each permission for each type of subject. Two kinds of questions need no plan of their own: a
 * permission that has a state in the search of another one, and a type of subject that the schema treats as it does
 * another one.
 */
export function* surveyPlans(schema: Schema, network: Network): Steps<Survey> {
  const types = subjectTypesOf(schema);
  const permissions = network.nodes.filter(
    ({ entityType, name, isOperand }) =>
      !isOperand && schema.entities.get(entityType)?.permissions.has(name) === true,
  );
  const asked = yield* nodesBehind(permissions);
  // What others lead to comes behind them.
  const inOrder = permissions.toSorted((one, other) => other.component - one.component);
  const possible = new Uint8Array(network.nodes.length);
  const questions: SurveyedQuestion[] = [];
  const settledByView = new Map<string, SettledQuestions>();
  const survey = { questions, planned: 0, omitted: 0 };
  survey.omitted = Math.max(0, types.length - subjectTypesMax) * permissions.length;
  for (const subjectType of types.slice(0, subjectTypesMax)) {
    const restricted = yield* restrict(network, { subjectType, subjectRelation: "" });
    for (const node of network.nodes) if (isPossible(restricted, node)) possible[node.id] = 1;
    const view = viewOf(restricted, asked);
    const settled = settledByView.get(view) ?? new Map<Node, SurveyedQuestion>();
    settledByView.set(view, settled);
    const nodes = inOrder.filter((node) => isPossible(restricted, node));
    yield* surveyNodes(survey, { network: restricted, settled, nodes });
  }
  const isWhole = types.length <= subjectTypesMax;
  return { possible, questions, omitted: survey.omitted, isWhole };
}

/** What is known for all types of subjects that the schema treats in one way. */
type SettledQuestions = Map<Node, SurveyedQuestion>;

/** A survey that goes on. */
interface OpenSurvey {
  readonly questions: SurveyedQuestion[];
  planned: number;
  omitted: number;
}

/**
 * Surveys names, those that lead to others first. If one of them is too large for a search, the others behind it may be
 * so too. Then the second half of them goes before the rest of the first half: to unfold a name that leads to one that
 * is known to be too large costs little.
 */
function* surveyNodes(
  survey: OpenSurvey,
  asked: {
    readonly network: RestrictedNetwork;
    readonly settled: SettledQuestions;
    readonly nodes: readonly Node[];
  },
): Steps<void> {
  const { network, settled, nodes } = asked;
  const { subjectType } = network.kind;
  for (const [index, node] of nodes.entries()) {
    yield;
    const known = settled.get(node);
    if (known !== undefined) {
      survey.questions.push({ ...known, subjectType });
      continue;
    }
    if (survey.planned >= questionsMax) {
      survey.omitted += 1;
      continue;
    }
    survey.planned += 1;
    const { question, isTooLarge } = yield* surveyQuestion(network, node, settled);
    survey.questions.push(question);
    if (isTooLarge && nodes.length > index + 2) {
      const middle = Math.ceil((index + 1 + nodes.length) / 2);
      yield* surveyNodes(survey, { ...asked, nodes: nodes.slice(middle) });
      yield* surveyNodes(survey, { ...asked, nodes: nodes.slice(index + 1, middle) });
      return;
    }
  }
}

/** The nodes that the plans of these may look at. */
function* nodesBehind(roots: readonly Node[]): Steps<readonly Node[]> {
  const pace = new Pace();
  const reached = new Set(roots);
  // Grows while it is read.
  for (const { formula } of reached) {
    if (pace.step()) yield;
    for (const node of mentionedNodes(formula)) reached.add(node);
  }
  return [...reached];
}

/** A text that is the same for types of subjects whose plans differ in the name of the type alone. */
function viewOf(network: RestrictedNetwork, nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (!isPossible(network, node)) return "-";
      return node.formula.kind === "relation" && holdsDirectly(network, node.formula) ? "d" : "p";
    })
    .join("");
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

interface Surveyed {
  readonly question: SurveyedQuestion;
  /** Whether it is gathered because of the size of what it leads to. */
  readonly isTooLarge: boolean;
}

/** Surveys a question, and settles what else follows from it. */
function* surveyQuestion(
  network: RestrictedNetwork,
  node: Node,
  settled: SettledQuestions,
): Steps<Surveyed> {
  const { subjectType } = network.kind;
  const known = { node, subjectType, uses: [], reasons: [] };
  const isObstacle = (name: Node): boolean => (settled.get(name)?.reasons.length ?? 0) > 0;
  const unfolded = yield* unfold(network, node, { purpose: "check", isObstacle });
  yield;
  if (unfolded.kind === "obstacle") {
    const [first] = unfolded.known;
    const inherited = first === undefined ? [] : (settled.get(first)?.reasons ?? []);
    const own = unfolded.reasons.map(reasonText);
    const question = { ...known, reasons: own.length > 0 ? own : inherited };
    settled.set(node, question);
    return { question, isTooLarge: unfolded.reasons.some(({ cause }) => cause === tooLarge) };
  }
  const { automaton, size } = unfolded;
  const { entityType, name: permission } = node;
  const asked = { ...network.kind, entityType, permission, arguments: [] };
  const pushed = pushDown(arrange({ question: asked, network, root: node }, automaton));
  yield;
  if (pushed.kind === "untranslatable") {
    const { obstacle } = pushed;
    const question = { ...known, reasons: [`it cannot be one statement: ${obstacle}`] };
    // The length of a statement depends on the name of the type.
    if (obstacle !== tooLong) settled.set(node, question);
    return { question, isTooLarge: obstacle === tooLong || obstacle === tooManyGuards };
  }
  const text = { count: pushed.characters, most: charactersMax, unit: "characters of SQL" };
  const question = { ...known, uses: [...usesOf(size), text] };
  if (shareOf(text) < shortShare) yield* settleParts(automaton, question, settled);
  return { question, isTooLarge: false };
}

/** Settles a question whose statement is short, with those whose searches are parts of its own. */
function* settleParts(
  automaton: Automaton,
  question: SurveyedQuestion,
  settled: SettledQuestions,
): Steps<void> {
  const isNear = question.uses.some((use) => shareOf(use) >= nearShare);
  settled.set(question.node, isNear ? question : { ...question, uses: [] });
  for (const [number, { nodes }] of automaton.states.entries()) {
    const [part] = nodes;
    if (part === undefined || nodes.length > 1 || settled.has(part)) continue;
    const uses = isNear ? usesOf(sizeFrom(automaton, number)) : [];
    settled.set(part, { ...question, node: part, uses });
    if (isNear) yield;
  }
}

function reasonText({ entityType, permission, cause }: GatherReason): string {
  return `\`${entityType}#${permission}\`: ${cause}`;
}

export function shareOf({ count, most }: BoundUse): number {
  return count / most;
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

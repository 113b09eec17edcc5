import { heapBytes } from "../base/heap-bytes.ts";
import { runThrough } from "../base/steps.ts";
import type { Schema } from "../language/schema.ts";
import {
  buildPlan,
  buildCandidatePlan,
  buildLookupPlans,
  type JudgingPlans,
  rootOf,
} from "../plan/build.ts";
import type { Network } from "../plan/network.ts";
import { restrict, type RestrictedNetwork } from "../plan/passes/2-restrict.ts";
import type { CandidatePlan } from "../plan/passes/5-drop-guards.ts";
import type { Plan } from "../plan/plan.ts";
import { questionKey } from "../plan/question-of.ts";
import type { Question } from "../plan/question.ts";
import { type HeldBytes, KeptMap } from "./kept.ts";

/** What a text becomes, for every tenant that has it. */
export interface CompiledText {
  /** Tells it from all other texts; a text that is compiled anew gets another one. */
  readonly id: number;
  readonly text: string;
  readonly schema: Schema;
  readonly network: Network;
  readonly bytes: number;
}

/** What is asked of the planner: a question under a schema. `signal` aborts when its caller leaves. */
export interface Planning {
  readonly compiled: CompiledText;
  readonly question: Question;
  /** How the request spells a field. */
  readonly path: (field: string) => string;
  readonly signal?: AbortSignal | undefined;
}

/** Plans of all schemas in use, each built once while it is kept. */
export class Planner {
  readonly #networks: KeptMap<RestrictedNetwork>;
  readonly #plans: KeptMap<Plan>;
  readonly #candidates: KeptMap<CandidatePlan>;
  readonly #lookups: KeptMap<JudgingPlans & { readonly plan: Plan }>;

  constructor(limit: HeldBytes) {
    this.#networks = new KeptMap(limit, ({ possible }) => possible.length);
    this.#plans = new KeptMap(limit, planBytes);
    this.#candidates = new KeptMap(limit, candidateBytes);
    this.#lookups = new KeptMap(
      limit,
      ({ plan, judging, candidates }) =>
        candidateBytes(candidates) + (judging === plan ? 0 : planBytes(judging)),
    );
  }

  /** The plan of a question (see `questionUnder`). Fails as `buildPlan` does, and with CANCELLED. */
  planOf(planning: Planning): Plan | Promise<Plan> {
    const { compiled, question } = planning;
    const known = this.#plans.get(planKey(compiled, question));
    return known ?? this.#build(planning);
  }

  /** The plan of the checks that a lookup comes to, and those of the lookup. Fails as `planOf` does. */
  async lookupOf(planning: Planning): Promise<JudgingPlans & { readonly plan: Plan }> {
    const { compiled, question, signal } = planning;
    const plan = await this.planOf(planning);
    return await this.#lookups.find(
      planKey(compiled, question),
      function* () {
        return { plan, ...(yield* buildLookupPlans(plan)) };
      },
      signal,
    );
  }

  /** The plan that finds what a plan of checks accepts, and more. Fails as `planOf` does. */
  async candidatesOf(planning: Planning): Promise<CandidatePlan> {
    const { compiled, question, signal } = planning;
    const plan = await this.planOf(planning);
    return await this.#candidates.find(
      planKey(compiled, question),
      () => buildCandidatePlan(plan),
      signal,
    );
  }

  async #build({ compiled, question, path, signal }: Planning): Promise<Plan> {
    // An error names a field as its own request spells it, so it is found before anything is shared.
    const root = rootOf(compiled.network, question, path);
    const { subjectType, subjectRelation } = question;
    const network = await this.#networks.find(
      `${compiled.id} ${subjectType} ${subjectRelation}`,
      () => restrict(compiled.network, { subjectType, subjectRelation }),
      signal,
    );
    const asked = { question, network, root };
    return await this.#plans.find(planKey(compiled, question), () => buildPlan(asked), signal);
  }
}

/** Equal for equal questions under the same text. */
export function planKey({ id }: CompiledText, question: Question): string {
  return `${id} ${questionKey(question)}`;
}

function candidateBytes({ states }: CandidatePlan): number {
  return ownBytes(states);
}

function planBytes(plan: Plan): number {
  const isShared = (object: object): boolean =>
    object === plan.network || object === plan.root || isRule(object);
  const labels = plan.kind === "search" ? plan.states.map(({ label }) => label) : [];
  return runThrough(heapBytes(plan, { isShared, countsStrings: false })) + textBytes(labels);
}

/** The bytes of what is made of a plan, whose strings, rules and tests are held elsewhere. */
export function ownBytes(value: unknown): number {
  const isShared = (object: object): boolean => isRule(object) || isTest(object);
  return runThrough(heapBytes(value, { isShared, countsStrings: false }));
}

function isRule(object: object): boolean {
  return "condition" in object;
}

function isTest(object: object): boolean {
  return "kind" in object && (object.kind === "direct" || object.kind === "self");
}

function textBytes(texts: readonly string[]): number {
  return runThrough(heapBytes(texts, { isShared: () => false, countsStrings: true }));
}

/** The bytes of a statement: its text is its own. */
export function statementBytes({
  text,
  params,
}: {
  readonly text: string;
  readonly params: readonly string[];
}): number {
  return text.length + ownBytes(params);
}

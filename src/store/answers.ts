import { must } from "../base/assert.ts";
import { Pace, type Steps } from "../base/steps.ts";
import type { Facts } from "../memory/facts.ts";
import { GroundBudget } from "../memory/ground-budget.ts";
import { interpret, type Interpretation } from "../memory/interpret.ts";
import type { EvaluationInput } from "../memory/judge.ts";
import { SearchMemo } from "../memory/search-memo.ts";
import { solveTogether } from "../memory/solve.ts";
import type { Plan } from "../plan/plan.ts";
import { answerOf } from "./check-error.ts";
import type { CheckAnswer, CheckItem, CheckQuestion } from "./store.ts";

/** What an item is answered from. */
export type Evidence =
  | { readonly kind: "facts"; readonly facts: Facts }
  /** It is known already, or known that there is no answer. */
  | { readonly kind: "decided"; readonly interpretation: Interpretation };

/**
 * The answers of a question's items: those that are decided as they are, the others by their plans over
 * their facts. What is gathered of one entity for one subject is solved together. Fails with the error of the first item
 * that has no answer.
 */
export function* answersOf(
  question: CheckQuestion,
  plans: readonly Plan[],
  evidenceOf: (item: number) => Evidence,
): Steps<readonly CheckAnswer[]> {
  const { depth, context, items, path } = question;
  const budget = new GroundBudget();
  const pace = new Pace();
  const askedOf = (facts: Facts, item: CheckItem): Omit<EvaluationInput, "onFault"> => ({
    facts,
    entityId: item.entity.id,
    subject: item.subject,
    depth,
    data: context.data,
    budget,
    pace,
  });
  const together = yield* answersTogether(question, plans, (index, item) => {
    const evidence = evidenceOf(index);
    return evidence.kind === "facts" ? askedOf(evidence.facts, item) : undefined;
  });
  const answers: CheckAnswer[] = [];
  const memos = items.length > 1 ? new Memos() : undefined;
  for (const [index, item] of items.entries()) {
    if (pace.step()) yield;
    const known = together.get(index);
    if (known !== undefined) {
      answers.push({ allowed: known, nodes: 1 });
      continue;
    }
    const evidence = evidenceOf(index);
    let interpretation: Interpretation;
    if (evidence.kind === "decided") {
      ({ interpretation } = evidence);
    } else {
      const plan = must(plans[index], "every item has a plan");
      const memo = memos?.of(plan, evidence.facts, item);
      interpretation = yield* interpret(plan, askedOf(evidence.facts, item), memo);
    }
    answers.push(answerOf(interpretation, item, { depth, path: (field) => path(index, field) }));
  }
  return answers;
}

/** What searches found out, for those of the same plan and subject over the same facts. */
class Memos {
  readonly #numbers = new Map<Plan | Facts, number>();
  readonly #memos = new Map<string, SearchMemo>();

  of(plan: Plan, facts: Facts, { subject }: CheckItem): SearchMemo | undefined {
    if (plan.kind !== "search") return undefined;
    // The type and the relation of the subject are those of the plan.
    const key = `${this.#number(plan)} ${this.#number(facts)} ${subject.id}`;
    const known = this.#memos.get(key);
    if (known !== undefined) return known;
    const memo = new SearchMemo(plan);
    this.#memos.set(key, memo);
    return memo;
  }

  #number(of: Plan | Facts): number {
    const number = this.#numbers.get(of) ?? this.#numbers.size;
    this.#numbers.set(of, number);
    return number;
  }
}

/** By item, the answers that several names of an entity have together, over the same facts. */
function* answersTogether(
  { items }: CheckQuestion,
  plans: readonly Plan[],
  askedOf: (index: number, item: CheckItem) => Omit<EvaluationInput, "onFault"> | undefined,
): Steps<ReadonlyMap<number, boolean>> {
  const answers = new Map<number, boolean>();
  if (items.length < 2) return answers;
  const gathered = items.flatMap((item, index) => {
    const plan = plans[index];
    if (plan?.kind !== "gather") return [];
    const asked = askedOf(index, item);
    return asked === undefined ? [] : [{ item, index, plan, asked }];
  });
  const numbers = new Map<Facts, number>();
  const alike = Map.groupBy(gathered, ({ item: { entity, subject }, asked: { facts } }) => {
    // What was gathered for one name may lack what another one asks.
    const number = numbers.get(facts) ?? numbers.size;
    numbers.set(facts, number);
    const { type, id, relation } = subject;
    return JSON.stringify([number, entity.type, entity.id, type, id, relation]);
  });
  for (const [first, ...others] of alike.values()) {
    if (first === undefined || others.length === 0) continue;
    const roots = [...new Set([first, ...others].map(({ plan }) => plan.root))];
    // What this attempt leaves open is grounded again: it must not use up what that may.
    const asked = { ...first.asked, budget: new GroundBudget(), onFault: () => {} };
    const found = yield* solveTogether(first.plan.network, roots, asked);
    for (const { index, plan } of [first, ...others]) {
      const answer = found.get(plan.root);
      if (answer !== undefined) answers.set(index, answer);
    }
  }
  return answers;
}

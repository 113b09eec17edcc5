import { must } from "../base/assert.ts";
import type { Steps } from "../base/steps.ts";
import type { Entity } from "../base/tuple.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import type { Guard, GuardedHop, GuardedTest, SearchPlan, State } from "../plan/plan.ts";
import type { Facts } from "./facts.ts";
import { type EvaluationInput, judgeQuickTest, judgeTest, type QuickTest } from "./judge.ts";
import { SearchMemo } from "./search-memo.ts";

export interface SearchResult {
  readonly verdict: Verdict;
  /** Nodes of the search itself; those of guards are not counted. */
  readonly nodes: number;
}

/**
 * Runs a search plan breadth-first over the facts. An accepting path longer than the depth, or one
 * behind a guard that is unknown, makes the answer unknown unless another path is definite.
 */
export function runSearch(
  plan: SearchPlan,
  asked: EvaluationInput,
  memo = new SearchMemo(undefined),
): Steps<SearchResult> {
  return new PlanSearch(plan, asked, memo).run(0, asked.entityId, 0);
}

/**
 * The fast path: the answer of a plan that reads only the entity, such as a relation that grants
 * directly. Undefined for any other plan, one with a rule too, and if the verdict is unknown. A search gives the same
 * answer for several times the work.
 */
export function fastPath(
  { states }: SearchPlan,
  asked: EvaluationInput,
): typeof ALLOWED | typeof DENIED | undefined {
  const [root] = states;
  if (root === undefined || root.hops.length > 0 || root.arrival.length > 0) return undefined;
  if (!areQuick(root.tests)) return undefined;
  const verdict = strongest(root.tests, { type: root.entityType, id: asked.entityId }, asked);
  return verdict === UNKNOWN ? undefined : verdict;
}

interface SearchRow {
  readonly state: State;
  readonly id: string;
  readonly level: number;
  /** False behind a guard that is unknown: nothing beyond it can make the answer definite. */
  readonly definite: boolean;
  /** Where the hop that led to it began. */
  readonly from: SearchRow | undefined;
}

class PlanSearch {
  readonly #plan: SearchPlan;
  readonly #asked: EvaluationInput;
  /** All searches of one question share it. */
  readonly #memo: SearchMemo;
  readonly #queue: SearchRow[] = [];
  readonly #seen = new Map<string, boolean>();

  constructor(plan: SearchPlan, asked: EvaluationInput, memo: SearchMemo) {
    this.#plan = plan;
    this.#asked = asked;
    this.#memo = memo;
  }

  // Steps without guards stay in this one generator: more generators would cost more than the work.
  *run(state: number, id: string, level: number): Steps<SearchResult> {
    const memo = this.#memo;
    const { pace } = this.#asked;
    let isUnknown = false;
    let nodes = 0;
    const root = this.#state(state);
    // A state without hops has no path, and only a path can be too long.
    const depth = root.hops.length === 0 ? Number.POSITIVE_INFINITY : this.#asked.depth;
    const start = { state: root, id, level, definite: true, from: undefined };
    this.#enter(
      start,
      root.arrival.length === 0 ? ALLOWED : yield* this.#pass(root.arrival, start),
    );
    // The queue grows while it is read, level by level.
    for (const row of this.#queue) {
      nodes += 1;
      if (pace.step()) yield;
      const { entityType, tests } = row.state;
      const verdict = areQuick(tests)
        ? strongest(tests, { type: entityType, id: row.id }, this.#asked)
        : yield* this.#test(row);
      if (verdict === ALLOWED && row.definite && row.level <= depth) {
        this.#accept(row, 0);
        return { verdict, nodes };
      }
      if (verdict !== DENIED) isUnknown = true;
      for (const { guards, hop, target } of row.state.hops) {
        const passed = guards.length === 0 ? ALLOWED : yield* this.#pass(guards, row);
        if (passed === DENIED) continue;
        const next = this.#state(target);
        const definite = row.definite && passed === ALLOWED;
        for (const found of targets(this.#asked.facts, row, hop)) {
          if (pace.step()) yield;
          const to = { state: next, id: found, level: row.level + 1, definite, from: row };
          if (!this.#isNews(to)) continue;
          const known = memo.find(rowKey(to));
          if (known === "dead") continue;
          if (known !== undefined && definite && to.level + known <= depth) {
            this.#accept(to, known);
            return { verdict: ALLOWED, nodes };
          }
          const { arrival } = next;
          this.#enter(to, arrival.length === 0 ? ALLOWED : yield* this.#pass(arrival, to));
        }
      }
    }
    if (isUnknown) return { verdict: UNKNOWN, nodes };
    if (memo.keepsNodes) {
      memo.deny(this.#queue.filter(({ from }) => from !== undefined).map(rowKey));
    }
    return { verdict: DENIED, nodes };
  }

  /** The row, and those on the definite path to it, lead to a test that accepts. */
  #accept(row: SearchRow, hops: number): void {
    let on = hops;
    for (let at: SearchRow = row; at.from !== undefined; at = at.from) {
      this.#memo.accepts(rowKey(at), on++);
    }
  }

  #state(id: number): State {
    return must(this.#plan.states[id], "a plan's states refer to each other");
  }

  /** Whether the row was not reached before, or not by a definite path. */
  #isNews(row: SearchRow): boolean {
    const before = this.#seen.get(rowKey(row));
    return before === undefined || (!before && row.definite);
  }

  /** Queues a row that is news, behind arrival guards of that verdict. */
  #enter(row: SearchRow, passed: Verdict): void {
    const key = rowKey(row);
    // The shortest path comes first, so an entity that a guard refuses there stays refused.
    const definite = passed === DENIED || (row.definite && passed === ALLOWED);
    if (this.#seen.get(key) === definite) return;
    this.#seen.set(key, definite);
    if (passed !== DENIED) this.#queue.push(definite === row.definite ? row : { ...row, definite });
  }

  /** The strongest verdict of the row's tests. */
  *#test(row: SearchRow): Steps<Verdict> {
    const entity = { type: row.state.entityType, id: row.id };
    let met: Verdict = DENIED;
    for (const { guards, test } of row.state.tests) {
      const passed = yield* this.#pass(guards, row);
      if (passed === DENIED) continue;
      const verdict = yield* judgeTest(test, entity, this.#asked);
      if (verdict === ALLOWED && passed === ALLOWED) return ALLOWED;
      if (verdict !== DENIED) met = UNKNOWN;
    }
    return met;
  }

  /** Kleene's `and` over the guards at the row's entity. */
  *#pass(guards: readonly Guard[], row: SearchRow): Steps<Verdict> {
    let passed: Verdict = ALLOWED;
    for (const guard of guards) {
      const verdict = yield* this.#judge(guard.state, row);
      const holds = guard.polarity === "required" ? verdict : negate(verdict);
      if (holds === DENIED) return DENIED;
      if (holds === UNKNOWN) passed = UNKNOWN;
    }
    return passed;
  }

  *#judge(state: number, row: SearchRow): Steps<Verdict> {
    const { judged } = this.#memo;
    const key = `${state}\0${row.id}\0${row.level}`;
    const known = judged.get(key);
    if (known !== undefined) return known;
    const search = new PlanSearch(this.#plan, this.#asked, this.#memo);
    const { verdict } = yield* search.run(state, row.id, row.level);
    judged.set(key, verdict);
    return verdict;
  }
}

/** The strongest verdict of tests at an entity. */
function strongest(
  tests: readonly UnguardedQuickTest[],
  entity: Entity,
  asked: EvaluationInput,
): Verdict {
  let met: Verdict = DENIED;
  for (const { test } of tests) {
    const verdict = judgeQuickTest(test, entity, asked);
    if (verdict === ALLOWED) return ALLOWED;
    if (verdict !== DENIED) met = UNKNOWN;
  }
  return met;
}

interface UnguardedQuickTest extends GuardedTest {
  readonly test: QuickTest;
}

function areQuick(tests: readonly GuardedTest[]): tests is readonly UnguardedQuickTest[] {
  return tests.every(({ guards, test }) => guards.length === 0 && test.kind !== "rule");
}

function rowKey({ state, id }: SearchRow): string {
  return `${state.id}\0${id}`;
}

function targets(facts: Facts, row: SearchRow, hop: GuardedHop["hop"]): Iterable<string> {
  const entity: Entity = { type: row.state.entityType, id: row.id };
  const relation = hop.kind === "userset" ? hop.subjectRelation : undefined;
  return facts.subjectIds(entity, hop.relations, hop.subjectType, relation);
}

function negate(verdict: Verdict): Verdict {
  if (verdict === UNKNOWN) return UNKNOWN;
  return verdict === ALLOWED ? DENIED : ALLOWED;
}

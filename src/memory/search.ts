import { must } from "../base/assert.ts";
import type { Entity } from "../base/tuple.ts";
import { ALLOWED, DENIED, UNKNOWN, type Verdict } from "../base/verdict.ts";
import type { Guard, GuardedHop, SearchPlan, State } from "../plan/plan.ts";
import type { Facts } from "./facts.ts";
import { judgeTest, type Asked } from "./judge.ts";

export interface SearchResult {
  readonly verdict: Verdict;
  /** Nodes of the search itself; those of guards are not counted. */
  readonly nodes: number;
}

/**
 * Runs a search plan breadth-first over the facts. An accepting path longer than the depth, or one
 * behind a guard that is unknown, makes the answer unknown unless another path is sure.
 */
export function runSearch(plan: SearchPlan, asked: Asked): SearchResult {
  return new Search(plan, asked, new Map()).run(0, asked.entityId, 0);
}

interface Row {
  readonly state: State;
  readonly id: string;
  readonly level: number;
  /** False behind a guard that is unknown: nothing beyond can make the answer sure. */
  readonly sure: boolean;
}

class Search {
  readonly #plan: SearchPlan;
  readonly #asked: Asked;
  /** Verdicts of guards, shared by all searches of one question. */
  readonly #judged: Map<string, Verdict>;
  readonly #queue: Row[] = [];
  readonly #seen = new Map<string, boolean>();

  constructor(plan: SearchPlan, asked: Asked, judged: Map<string, Verdict>) {
    this.#plan = plan;
    this.#asked = asked;
    this.#judged = judged;
  }

  run(state: number, id: string, level: number): SearchResult {
    let isUnknown = false;
    let nodes = 0;
    const root = this.#state(state);
    // A guard without hops is judged where it stands; only a path can be too long.
    const depth = root.hops.length === 0 ? Number.POSITIVE_INFINITY : this.#asked.depth;
    this.#enter({ state: root, id, level, sure: true });
    // The queue grows while it is read, level by level.
    for (const row of this.#queue) {
      nodes += 1;
      const verdict = this.#test(row);
      if (verdict === ALLOWED && row.sure && row.level <= depth) return { verdict, nodes };
      if (verdict !== DENIED) isUnknown = true;
      for (const hop of row.state.hops) this.#follow(row, hop);
    }
    return { verdict: isUnknown ? UNKNOWN : DENIED, nodes: Math.max(nodes, 1) };
  }

  #state(id: number): State {
    return must(this.#plan.states[id], "a plan's states refer to each other");
  }

  #enter(row: Row): void {
    const key = `${row.state.id}\0${row.id}`;
    const before = this.#seen.get(key);
    if (before === true || (before === false && !row.sure)) return;
    const passed = this.#pass(row.state.arrival, row);
    // The shortest way comes first, so what a guard refuses there stays refused.
    const sure = passed === DENIED || (row.sure && passed === ALLOWED);
    if (before === sure) return;
    this.#seen.set(key, sure);
    if (passed !== DENIED) this.#queue.push({ ...row, sure });
  }

  /** The strongest verdict of the row's tests. */
  #test(row: Row): Verdict {
    const entity = { type: row.state.entityType, id: row.id };
    let strongest: Verdict = DENIED;
    for (const { guards, test } of row.state.tests) {
      const passed = this.#pass(guards, row);
      if (passed === DENIED) continue;
      const verdict = judgeTest(test, entity, this.#asked);
      if (verdict === ALLOWED && passed === ALLOWED) return ALLOWED;
      if (verdict !== DENIED) strongest = UNKNOWN;
    }
    return strongest;
  }

  #follow(row: Row, { guards, hop, target }: GuardedHop): void {
    const passed = this.#pass(guards, row);
    if (passed === DENIED) return;
    const state = this.#state(target);
    for (const id of targets(this.#asked.facts, row, hop)) {
      const sure = row.sure && passed === ALLOWED;
      this.#enter({ state, id, level: row.level + 1, sure });
    }
  }

  /** Kleene's `and` over the guards at the row's entity. */
  #pass(guards: readonly Guard[], row: Row): Verdict {
    let passed: Verdict = ALLOWED;
    for (const guard of guards) {
      const verdict = this.#judge(guard.state, row);
      const holds = guard.polarity === "required" ? verdict : negate(verdict);
      if (holds === DENIED) return DENIED;
      if (holds === UNKNOWN) passed = UNKNOWN;
    }
    return passed;
  }

  #judge(state: number, row: Row): Verdict {
    const key = `${state}\0${row.id}\0${row.level}`;
    let verdict = this.#judged.get(key);
    if (verdict === undefined) {
      verdict = new Search(this.#plan, this.#asked, this.#judged).run(
        state,
        row.id,
        row.level,
      ).verdict;
      this.#judged.set(key, verdict);
    }
    return verdict;
  }
}

function targets(facts: Facts, row: Row, hop: GuardedHop["hop"]): Iterable<string> {
  const entity: Entity = { type: row.state.entityType, id: row.id };
  const relation = hop.kind === "userset" ? hop.subjectRelation : undefined;
  return facts.subjectIds(entity, hop.relations, hop.subjectType, relation);
}

function negate(verdict: Verdict): Verdict {
  if (verdict === UNKNOWN) return UNKNOWN;
  return verdict === ALLOWED ? DENIED : ALLOWED;
}

import { must } from "../../../base/assert.ts";
import type { Plan } from "../../../plan/plan.ts";
import type { Question } from "../../../plan/question.ts";
import type { DirectBody, PlannedBody } from "../../../sql/check.ts";
import { type Footprint, footprintKey } from "../../../sql/footprint.ts";
import { type DirectQuestion, directQuestion } from "../../direct-question.ts";
import type { CompiledText } from "../../planner.ts";

/** Items of a question that one part of a statement answers. */
export type Group = PlannedGroup | DirectGroup;

export interface PlannedGroup {
  readonly kind: "planned";
  readonly key: string;
  /** How they are asked of the database: pushed down, or gathered for the interpreter. */
  readonly body: PlannedBody;
  readonly footprint: Footprint;
  /** Positions of its items in the question, each with its plan. */
  readonly items: readonly GroupItem[];
  /** One read serves all items: they are names of one entity, gathered for one subject. */
  readonly isShared: boolean;
}

/** Items that ask for tuples alone, each in a relation of its own. */
export interface DirectGroup {
  readonly kind: "direct";
  readonly key: string;
  readonly body: DirectBody;
  readonly footprint: Footprint;
  readonly items: readonly DirectItem[];
}

export interface GroupItem {
  readonly position: number;
  readonly plan: Plan;
}

/** The plan of the first item; of all items, unless the group is shared. */
export function planIn({ items: [first] }: PlannedGroup): Plan {
  return must(first, "a group has items").plan;
}

export interface DirectItem extends DirectQuestion {
  readonly position: number;
}

/** Questions that tuples of one relation decide: all of one kind are one group. */
export class DirectGroups {
  readonly #groups = new Map<string, DirectGroup & { readonly items: DirectItem[] }>();
  readonly #footprints = new Map<string, Set<string>>();

  /** Whether the question is such a one, which is then among the groups. */
  takes(compiled: CompiledText, question: Question, position: number): boolean {
    const direct = directQuestion(compiled, question);
    if (direct === undefined) return false;
    const { entityType, permission, subjectType, subjectRelation } = question;
    const key = `direct ${entityType} ${subjectType}`;
    const footprint = this.#footprints.get(key) ?? new Set<string>();
    this.#footprints.set(key, footprint.add(footprintKey(entityType, permission)));
    const group = this.#groups.get(key) ?? {
      kind: "direct",
      key,
      body: { kind: "direct", entityType, subject: { subjectType, subjectRelation } },
      footprint,
      items: [],
    };
    this.#groups.set(key, group);
    group.items.push({ position, ...direct });
    return true;
  }

  list(): readonly DirectGroup[] {
    return [...this.#groups.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }
}

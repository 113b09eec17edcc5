import type { Plan } from "../../../plan/plan.ts";
import type { Question } from "../../../plan/question.ts";
import type { DirectBody, PlannedBody } from "../../../sql/check.ts";
import { type Footprint, footprintKey } from "../../../sql/footprint.ts";
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

export interface DirectItem {
  readonly position: number;
  /** "" where no subject of the kind can stand in it: no tuple has that. */
  readonly relation: string;
}

/** What asks for tuples of one relation alone needs no plan: all of one kind are one group. */
export class DirectGroups {
  readonly #groups = new Map<string, DirectGroup & { readonly items: DirectItem[] }>();
  readonly #footprints = new Map<string, Set<string>>();

  /** Whether the question is such a one, which is then among the groups. */
  takes({ network }: CompiledText, question: Question, position: number): boolean {
    const { entityType, permission, subjectType, subjectRelation } = question;
    const formula = network.byName.get(entityType)?.get(permission)?.formula;
    if (formula?.kind !== "relation" || formula.usersets.length > 0) return false;
    // A subject with a relation may be the entity itself, or unknown.
    if (subjectRelation !== "" || !network.byName.has(subjectType)) return false;
    const isHeld = formula.types.some((type) => type.type === subjectType && type.relation === "");
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
    group.items.push({ position, relation: isHeld ? permission : "" });
    return true;
  }

  list(): readonly DirectGroup[] {
    return [...this.#groups.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }
}

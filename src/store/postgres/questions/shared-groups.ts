import { sharedItemsMin } from "../../../sql/lookup/shared-search.ts";
import { pushDownShared } from "../../../sql/push-down.ts";
import { type HeldBytes, KeptMap } from "../../kept.ts";
import { type CompiledText, ownBytes, planKey } from "../../planner.ts";
import type { CheckItem } from "../../store.ts";
import type { PlannedGroup } from "./group.ts";

/** A group whose items are searched one by one. */
export interface SearchedGroup extends PlannedGroup {
  /** Of the part of the statement that answers it. */
  readonly characters: number;
}

interface SharedPart {
  readonly pushed: ReturnType<typeof pushDownShared>;
}

/**
 * How items that have their subject or their entity in common are asked together, kept under the limit
 * of the schemas.
 */
export class SharedGroups {
  readonly #parts: KeptMap<SharedPart>;

  constructor(limit: HeldBytes) {
    this.#parts = new KeptMap(limit, ({ pushed }) => {
      const { body } = pushed ?? {};
      const shared = body?.kind === "search" ? body.shared : undefined;
      return ownBytes(shared?.of === "subject" ? shared.candidatePlan.states : []);
    });
  }

  /**
   * The groups, those together whose items have few subjects or few entities, as long as the statement
   * does not get longer than `charactersMax`. A group is never split: each combination of groups is a statement of
   * its own, which every connection plans anew.
   */
  shared(
    compiled: CompiledText,
    groups: readonly SearchedGroup[],
    charactersMax: number,
    itemAt: (position: number) => CheckItem,
  ): readonly PlannedGroup[] {
    let characters = groups.reduce((sum, group) => sum + group.characters, 0);
    return groups.map((group) => {
      const common = commonOf(group, itemAt);
      const pushed = common === undefined ? undefined : this.#partOf(compiled, group, common);
      if (pushed === undefined) return group;
      const changed = characters + pushed.characters - group.characters;
      if (changed > charactersMax) return group;
      characters = changed;
      return { ...group, key: `${common} ${group.key}`, body: pushed.body };
    });
  }

  #partOf(
    compiled: CompiledText,
    { items: [first] }: PlannedGroup,
    common: "subject" | "entity",
  ): SharedPart["pushed"] {
    if (first?.plan.kind !== "search") return undefined;
    const key = `${common} ${planKey(compiled, first.plan.question)}`;
    const known = this.#parts.get(key);
    if (known !== undefined) return known.pushed;
    const pushed = pushDownShared(common, first.plan, compiled.schema);
    this.#parts.set(key, { pushed });
    return pushed;
  }
}

/** Of what the items of a group have few. */
function commonOf(
  { items }: PlannedGroup,
  itemAt: (position: number) => CheckItem,
): "subject" | "entity" | undefined {
  if (items.length < sharedItemsMin) return undefined;
  const asked = items.map(({ position }) => itemAt(position));
  const most = items.length / sharedItemsMin;
  if (new Set(asked.map(({ subject }) => subject.id)).size <= most) return "subject";
  return new Set(asked.map(({ entity }) => entity.id)).size <= most ? "entity" : undefined;
}

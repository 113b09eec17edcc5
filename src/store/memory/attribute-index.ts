import type { Attribute, AttributeValue, Entity } from "../../base/tuple.ts";
import { sameValue } from "../attribute-value.ts";
import { type AttributeFilter, attributeMatcher, type AttributeName } from "../filter.ts";
import { EndedQueue, type Lifetime, type Revision, forever, standsAt } from "./revision.ts";

interface StoredValue {
  readonly value: AttributeValue;
  readonly lifetime: Lifetime;
}

interface StoredAttribute {
  readonly name: AttributeName;
  /** In the order in which they stood. */
  readonly values: StoredValue[];
}

/** The attributes of a tenant with their history, found by entity and name. */
export class AttributeIndex {
  /** By entity id, then by the rest of the key. */
  readonly #byEntity = new Map<string, Map<string, StoredAttribute>>();
  readonly #ended = new EndedQueue<StoredAttribute>();

  /** Gives the attribute its value. Returns whether that changed anything. */
  set({ entity, attribute, value }: Attribute, revision: Revision): boolean {
    const ofEntity = this.#byEntity.get(entity.id) ?? new Map<string, StoredAttribute>();
    const stored = ofEntity.get(attributeTypeKey(entity, attribute)) ?? {
      name: { entity, attribute },
      values: [],
    };
    const last = standing(stored, revision);
    if (last !== undefined && sameValue(last.value, value)) return false;
    this.#end(stored, revision);
    stored.values.push({ value, lifetime: { created: revision, deleted: forever } });
    ofEntity.set(attributeTypeKey(entity, attribute), stored);
    this.#byEntity.set(entity.id, ofEntity);
    return true;
  }

  get(entity: Entity, attribute: string, revision: Revision): AttributeValue | undefined {
    const stored = this.#byEntity.get(entity.id)?.get(attributeTypeKey(entity, attribute));
    return stored && standing(stored, revision)?.value;
  }

  /** Ends the attribute, if it stands. Returns whether it did. */
  delete({ entity, attribute }: AttributeName, revision: Revision): boolean {
    const stored = this.#byEntity.get(entity.id)?.get(attributeTypeKey(entity, attribute));
    return stored !== undefined && this.#end(stored, revision);
  }

  /**
   * Forgets at most `limit` of what ended at a revision or before: no state from there on has it.
   * Returns how much that was.
   */
  prune(horizon: Revision, limit: number): number {
    const ended = this.#ended.take(horizon, limit);
    for (const stored of ended) {
      // They end in their order, so the oldest value is the one that was taken.
      stored.values.shift();
      if (stored.values.length === 0) this.#remove(stored.name);
    }
    return ended.length;
  }

  /** From the revision on the attribute has no value. Returns whether it had one. */
  #end(stored: StoredAttribute, revision: Revision): boolean {
    const { values } = stored;
    const last = values.at(-1);
    if (last === undefined || !standsAt(last.lifetime, revision)) return false;
    const { created } = last.lifetime;
    values[values.length - 1] = { value: last.value, lifetime: { created, deleted: revision } };
    this.#ended.add(stored, revision);
    return true;
  }

  #remove({ entity, attribute }: AttributeName): void {
    const ofEntity = this.#byEntity.get(entity.id);
    ofEntity?.delete(attributeTypeKey(entity, attribute));
    if (ofEntity?.size === 0) this.#byEntity.delete(entity.id);
  }

  /** What a filter lets through of the state at a revision, in no order. */
  *find(filter: AttributeFilter, revision: Revision): Iterable<Attribute> {
    const fits = attributeMatcher(filter);
    const { ids } = filter.entity;
    for (const id of ids.length === 0 ? this.#byEntity.keys() : new Set(ids)) {
      for (const stored of this.#byEntity.get(id)?.values() ?? []) {
        if (!fits(stored.name)) continue;
        const { entity, attribute } = stored.name;
        const value = standing(stored, revision)?.value;
        if (value !== undefined) yield { entity, attribute, value };
      }
    }
  }
}

function standing({ values }: StoredAttribute, revision: Revision): StoredValue | undefined {
  return values.findLast(({ lifetime }) => standsAt(lifetime, revision));
}

/** No name and no id holds a NUL. */
function attributeTypeKey(entity: Entity, attribute: string): string {
  return `${entity.type}\0${attribute}`;
}

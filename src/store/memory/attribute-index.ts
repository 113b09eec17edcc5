import type { Attribute, AttributeValue, Entity } from "../../base/tuple.ts";
import { sameValue } from "../attribute-value.ts";
import { forever, type Lifetime, type Revision, standsAt } from "./revision.ts";

interface StoredValue {
  readonly value: AttributeValue;
  readonly lifetime: Lifetime;
}

/** The attributes of a tenant with their history, found by entity and name. */
export class AttributeIndex {
  readonly #values = new Map<string, StoredValue[]>();

  /** Gives the attribute its value. Returns whether that changed anything. */
  set({ entity, attribute, value }: Attribute, revision: Revision): boolean {
    const key = keyOf(entity, attribute);
    const values = this.#values.get(key) ?? [];
    const last = values.at(-1);
    if (last !== undefined && standsAt(last.lifetime, revision)) {
      if (sameValue(last.value, value)) return false;
      const lifetime = { created: last.lifetime.created, deleted: revision };
      values[values.length - 1] = { value: last.value, lifetime };
    }
    values.push({ value, lifetime: { created: revision, deleted: forever } });
    this.#values.set(key, values);
    return true;
  }

  get(entity: Entity, attribute: string, revision: Revision): AttributeValue | undefined {
    const values = this.#values.get(keyOf(entity, attribute));
    return values?.findLast(({ lifetime }) => standsAt(lifetime, revision))?.value;
  }
}

/** No name and no id holds a NUL. */
function keyOf(entity: Entity, attribute: string): string {
  return `${entity.type}\0${entity.id}\0${attribute}`;
}

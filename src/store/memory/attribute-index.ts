import { Pace, type Steps } from "../../base/steps.ts";
import type { Attribute, AttributeValue, Entity } from "../../base/tuple.ts";
import { sameValue } from "../attribute-value.ts";
import { type AttributeFilter, attributeMatcher, type AttributeName } from "../filter.ts";
import { KeyOrder, ofIds, type PageVisitor } from "./key-order.ts";
import {
  EndedQueue,
  type Lifetime,
  type Revision,
  standsAt,
  standsNow,
  type Write,
} from "./revision.ts";

interface StoredValue {
  readonly value: AttributeValue;
  readonly lifetime: Lifetime;
}

interface StoredAttribute {
  readonly name: AttributeName;
  /** In the order in which they stood. */
  readonly values: StoredValue[];
}

/** What an attribute had before; undefined when it had no value. */
interface FormerValue {
  readonly value: AttributeValue | undefined;
}

/** The attributes of a tenant with their history, found by entity and name. */
export class AttributeIndex {
  /** By entity id, then by the rest of the key. */
  readonly #byEntity = new Map<string, Map<string, StoredAttribute>>();
  readonly #entityIds = new KeyOrder(this.#byEntity);
  readonly #ended = new EndedQueue<StoredAttribute>();

  /** Gives the attribute its value. Returns the former one, or undefined when that is the same. */
  set({ entity, attribute, value }: Attribute, write: Write): FormerValue | undefined {
    const ofEntity = this.#byEntity.get(entity.id) ?? new Map<string, StoredAttribute>();
    const stored = ofEntity.get(attributeTypeKey(entity, attribute)) ?? {
      name: { entity, attribute },
      values: [],
    };
    const last = stored.values.at(-1);
    const isSame = last !== undefined && standsNow(last.lifetime) && sameValue(last.value, value);
    if (isSame) return undefined;
    const former = this.#end(stored, write);
    stored.values.push({ value, lifetime: { created: write, deleted: undefined } });
    ofEntity.set(attributeTypeKey(entity, attribute), stored);
    if (!this.#byEntity.has(entity.id)) this.#entityIds.added(entity.id);
    this.#byEntity.set(entity.id, ofEntity);
    return { value: former };
  }

  get(entity: Entity, attribute: string, revision: Revision): AttributeValue | undefined {
    const stored = this.#byEntity.get(entity.id)?.get(attributeTypeKey(entity, attribute));
    return stored && standing(stored, revision)?.value;
  }

  /** Ends the attribute, if it stands. Returns the value that it had. */
  delete({ entity, attribute }: AttributeName, write: Write): AttributeValue | undefined {
    const stored = this.#byEntity.get(entity.id)?.get(attributeTypeKey(entity, attribute));
    return stored && this.#end(stored, write);
  }

  /** Ends what one of the filters lets through, and shows each to `visit`. */
  *deleteFound(
    filters: readonly AttributeFilter[],
    write: Write,
    visit: (attribute: Attribute) => void,
  ): Steps<void> {
    const end = (stored: StoredAttribute): void => {
      const value = this.#end(stored, write);
      if (value !== undefined) visit({ ...stored.name, value });
    };
    const open = filters.filter(({ entity }) => entity.ids.length === 0).map(attributeMatcher);
    // All that name no ids are asked in one pass: each pass goes through the whole tenant.
    if (open.length > 0) {
      const fits = (name: AttributeName): boolean => open.some((one) => one(name));
      yield* visitAmong(this.#byEntity.values(), fits, end);
    }
    for (const filter of filters) {
      if (filter.entity.ids.length === 0) continue;
      yield* visitAmong(this.#among(filter), attributeMatcher(filter), end);
    }
  }

  /** Shows a page what a filter lets through of the state at a revision, as far as the page may need it. */
  *visit(filter: AttributeFilter, revision: Revision, page: PageVisitor<Attribute>): Steps<void> {
    const fits = attributeMatcher(filter);
    const visit = (stored: StoredAttribute): void => {
      const value = standing(stored, revision)?.value;
      if (value !== undefined) page.take({ ...stored.name, value });
    };
    if (filter.entity.ids.length > 0) return yield* visitAmong(this.#among(filter), fits, visit);
    const ids = yield* this.#entityIds.from(page.firstId);
    yield* visitAmong(ofIds(this.#byEntity, ids, page), fits, visit);
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

  /** With the write the attribute has no value any more. Returns the one that it had. */
  #end(stored: StoredAttribute, write: Write): AttributeValue | undefined {
    const { values } = stored;
    const last = values.at(-1);
    if (last === undefined || !standsNow(last.lifetime)) return undefined;
    const { created } = last.lifetime;
    values[values.length - 1] = { value: last.value, lifetime: { created, deleted: write } };
    this.#ended.add(stored, write);
    return last.value;
  }

  #remove({ entity, attribute }: AttributeName): void {
    const ofEntity = this.#byEntity.get(entity.id);
    ofEntity?.delete(attributeTypeKey(entity, attribute));
    if (ofEntity?.size !== 0) return;
    this.#byEntity.delete(entity.id);
    this.#entityIds.removed();
  }

  /** What a filter lets through of the state at a revision, in no order. */
  *find(filter: AttributeFilter, revision: Revision): Iterable<Attribute> {
    const fits = attributeMatcher(filter);
    for (const ofEntity of this.#among(filter)) {
      for (const stored of ofEntity.values()) {
        if (!fits(stored.name)) continue;
        const value = standing(stored, revision)?.value;
        if (value !== undefined) yield { ...stored.name, value };
      }
    }
  }

  /** The attributes of each entity id that the filter names, or of all when it names none. */
  *#among({ entity }: AttributeFilter): Iterable<OfEntity> {
    if (entity.ids.length === 0) return yield* this.#byEntity.values();
    const seen = new Set<string>();
    for (const id of entity.ids) {
      if (seen.has(id)) continue;
      seen.add(id);
      yield this.#byEntity.get(id) ?? none;
    }
  }
}

type OfEntity = ReadonlyMap<string, StoredAttribute>;

const none: OfEntity = new Map();

function* visitAmong(
  all: Iterable<OfEntity>,
  fits: (name: AttributeName) => boolean,
  visit: (stored: StoredAttribute) => void,
): Steps<void> {
  const pace = new Pace();
  for (const ofEntity of all) {
    if (pace.step()) yield;
    for (const stored of ofEntity.values()) {
      if (fits(stored.name)) visit(stored);
      if (pace.step()) yield;
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

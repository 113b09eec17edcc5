import { Pace, type Steps } from "../../base/steps.ts";
import type { Tuple } from "../../base/tuple.ts";
import { fewSubjects } from "../../memory/facts.ts";
import { leadingEnd, type TupleFilter, tupleMatcher } from "../filter.ts";
import { KeyOrder, ofIds, type PageVisitor } from "./key-order.ts";
import {
  EndedQueue,
  type Lifetime,
  type Revision,
  standsAt,
  standsNow,
  type Write,
} from "./revision.ts";

interface StoredTuple {
  readonly tuple: Tuple;
  readonly lifetimes: Lifetime[];
}

/** The subjects of one relation of one entity: by type, then by id and relation. */
type Subjects = Map<string, Map<string, StoredTuple>>;

const noSubjects: readonly never[] = [];

/** The tuples of a tenant with their history, found by entity and relation or by either id. */
export class TupleIndex {
  readonly #subjects = new Map<string, Subjects>();
  readonly #byEntityId = new Map<string, Set<StoredTuple>>();
  readonly #entityIds = new KeyOrder(this.#byEntityId);
  readonly #bySubjectId = new Map<string, Set<StoredTuple>>();
  readonly #ended = new EndedQueue<StoredTuple>();

  /** Creates the tuple unless it stands. Returns whether it did. */
  create(tuple: Tuple, write: Write): boolean {
    const stored = this.#find(tuple) ?? this.#add(tuple);
    if (standsNow(stored.lifetimes.at(-1))) return false;
    stored.lifetimes.push({ created: write, deleted: undefined });
    return true;
  }

  /** Ends the tuple, if it stands. Returns whether it did. */
  delete(tuple: Tuple, write: Write): boolean {
    const stored = this.#find(tuple);
    return stored !== undefined && this.#end(stored, write);
  }

  /** Ends what one of the filters lets through, and shows each to `visit`. */
  *deleteFound(
    filters: readonly TupleFilter[],
    write: Write,
    visit: (tuple: Tuple) => void,
  ): Steps<void> {
    const end = (stored: StoredTuple): void => {
      if (this.#end(stored, write)) visit(stored.tuple);
    };
    const open = filters.filter(isOpen).map(tupleMatcher);
    // All that name no ids are asked in one pass: each pass goes through the whole tenant.
    if (open.length > 0) {
      const fits = (tuple: Tuple): boolean => open.some((one) => one(tuple));
      yield* visitAmong(this.#byEntityId.values(), fits, end);
    }
    for (const filter of filters) {
      if (!isOpen(filter)) yield* visitAmong(this.#among(filter), tupleMatcher(filter), end);
    }
  }

  /** Shows a page what a filter lets through of the state at a revision, as far as the page may need it. */
  *visit(filter: TupleFilter, revision: Revision, page: PageVisitor<Tuple>): Steps<void> {
    const fits = tupleMatcher(filter);
    const visit = (stored: StoredTuple): void => {
      if (stood(stored, revision)) page.take(stored.tuple);
    };
    if (!isOpen(filter)) return yield* visitAmong(this.#among(filter), fits, visit);
    const ids = yield* this.#entityIds.from(page.firstId);
    yield* visitAmong(ofIds(this.#byEntityId, ids, page), fits, visit);
  }

  #end(stored: StoredTuple, write: Write): boolean {
    const { lifetimes } = stored;
    const last = lifetimes.at(-1);
    if (last === undefined || !standsNow(last)) return false;
    lifetimes[lifetimes.length - 1] = { created: last.created, deleted: write };
    this.#ended.add(stored, write);
    return true;
  }

  /**
   * Forgets at most `limit` of what ended at a revision or before: no state from there on has it.
   * Returns how much that was.
   */
  prune(horizon: Revision, limit: number): number {
    const ended = this.#ended.take(horizon, limit);
    for (const stored of ended) {
      // They end in their order, so the oldest lifetime is the one that was taken.
      stored.lifetimes.shift();
      if (stored.lifetimes.length === 0) this.#remove(stored);
    }
    return ended.length;
  }

  has(tuple: Tuple, revision: Revision): boolean {
    const stored = this.#find(tuple);
    return stored !== undefined && stood(stored, revision);
  }

  /** The ids of the subjects of a type, each once. The relation of the subject undefined: with any one. */
  subjectIds(
    entity: Tuple["entity"],
    relation: string,
    subject: { readonly type: string; readonly relation: string | undefined },
    revision: Revision,
  ): Iterable<string> {
    const byType = this.#subjects.get(relationKey(entity, relation));
    const stored = byType?.get(subject.type);
    if (stored === undefined) return noSubjects;
    const ids = idsStanding(stored.values(), subject.relation, revision);
    return stored.size <= fewSubjects ? [...ids] : ids;
  }

  /** The subjects of a type, each with its relation. */
  subjects(
    entity: Tuple["entity"],
    relation: string,
    subjectType: string,
    revision: Revision,
  ): Iterable<Tuple["subject"]> {
    const byType = this.#subjects.get(relationKey(entity, relation));
    const stored = byType?.get(subjectType);
    if (stored === undefined) return noSubjects;
    const subjects = subjectsStanding(stored.values(), revision);
    return stored.size <= fewSubjects ? [...subjects] : subjects;
  }

  /** The ids of a type that stand at either end of a tuple, each once. */
  *mentionedIds(type: string, revision: Revision): Iterable<string> {
    const seen = new Set<string>();
    for (const [end, index] of [
      ["entity", this.#byEntityId],
      ["subject", this.#bySubjectId],
    ] as const) {
      for (const [id, tuples] of index) {
        if (seen.has(id)) continue;
        const isMentioned = tuples
          .values()
          .some((stored) => stored.tuple[end].type === type && stood(stored, revision));
        if (!isMentioned) continue;
        seen.add(id);
        yield id;
      }
    }
  }

  /** What a filter lets through of the state at a revision, in no order. */
  *find(filter: TupleFilter, revision: Revision): Iterable<Tuple> {
    const fits = tupleMatcher(filter);
    for (const ofId of this.#among(filter)) {
      for (const stored of ofId) {
        if (fits(stored.tuple) && stood(stored, revision)) yield stored.tuple;
      }
    }
  }

  /** The tuples of each id that the filter names at its leading end, or all when it names none. */
  *#among(filter: TupleFilter): Iterable<ReadonlySet<StoredTuple>> {
    const end = leadingEnd(filter);
    const index = end === "entity" ? this.#byEntityId : this.#bySubjectId;
    if (isOpen(filter)) return yield* index.values();
    const seen = new Set<string>();
    for (const id of filter[end].ids) {
      if (seen.has(id)) continue;
      seen.add(id);
      yield index.get(id) ?? none;
    }
  }

  #find({ entity, relation, subject }: Tuple): StoredTuple | undefined {
    const byType = this.#subjects.get(relationKey(entity, relation));
    return byType?.get(subject.type)?.get(subjectKey(subject));
  }

  #add(tuple: Tuple): StoredTuple {
    const { entity, relation, subject } = tuple;
    const stored: StoredTuple = { tuple, lifetimes: [] };
    const key = relationKey(entity, relation);
    const byType = getOrMake(this.#subjects, key, (): Subjects => new Map());
    const byId = getOrMake(byType, subject.type, () => new Map<string, StoredTuple>());
    byId.set(subjectKey(subject), stored);
    if (!this.#byEntityId.has(entity.id)) this.#entityIds.added(entity.id);
    getOrMake(this.#byEntityId, entity.id, () => new Set<StoredTuple>()).add(stored);
    getOrMake(this.#bySubjectId, subject.id, () => new Set<StoredTuple>()).add(stored);
    return stored;
  }

  #remove(stored: StoredTuple): void {
    const { entity, relation, subject } = stored.tuple;
    const key = relationKey(entity, relation);
    const byType = this.#subjects.get(key);
    const byId = byType?.get(subject.type);
    byId?.delete(subjectKey(subject));
    if (byId?.size === 0) byType?.delete(subject.type);
    if (byType?.size === 0) this.#subjects.delete(key);
    removeFrom(this.#byEntityId, entity.id, stored);
    if (!this.#byEntityId.has(entity.id)) this.#entityIds.removed();
    removeFrom(this.#bySubjectId, subject.id, stored);
  }
}

const none: ReadonlySet<StoredTuple> = new Set();

/** Whether a filter names no ids, so that all tuples are looked at. */
function isOpen(filter: TupleFilter): boolean {
  return filter[leadingEnd(filter)].ids.length === 0;
}

function* visitAmong(
  all: Iterable<ReadonlySet<StoredTuple>>,
  fits: (tuple: Tuple) => boolean,
  visit: (stored: StoredTuple) => void,
): Steps<void> {
  const pace = new Pace();
  for (const ofId of all) {
    if (pace.step()) yield;
    for (const stored of ofId) {
      if (fits(stored.tuple)) visit(stored);
      if (pace.step()) yield;
    }
  }
}

function* idsStanding(
  all: Iterable<StoredTuple>,
  wanted: string | undefined,
  revision: Revision,
): Generator<string> {
  // With one relation each id comes once.
  const seen = wanted === undefined ? new Set<string>() : undefined;
  for (const one of all) {
    const { id, relation } = one.tuple.subject;
    if (wanted !== undefined && relation !== wanted) continue;
    if (seen?.has(id) === true || !stood(one, revision)) continue;
    seen?.add(id);
    yield id;
  }
}

function* subjectsStanding(
  all: Iterable<StoredTuple>,
  revision: Revision,
): Generator<Tuple["subject"]> {
  for (const one of all) if (stood(one, revision)) yield one.tuple.subject;
}

function stood({ lifetimes }: StoredTuple, revision: Revision): boolean {
  return lifetimes.some((lifetime) => standsAt(lifetime, revision));
}

/** No name and no id holds a NUL. */
function relationKey(entity: Tuple["entity"], relation: string): string {
  return `${entity.type}\0${entity.id}\0${relation}`;
}

function subjectKey(subject: Tuple["subject"]): string {
  return `${subject.id}\0${subject.relation}`;
}

function removeFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

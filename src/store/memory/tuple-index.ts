import type { Tuple } from "../../base/tuple.ts";
import { forever, type Lifetime, type Revision, standsAt } from "./revision.ts";

interface StoredSubject {
  readonly id: string;
  readonly relation: string;
  readonly lifetimes: Lifetime[];
}

/** The subjects of one relation of one entity: by type, then by id and relation. */
type Subjects = Map<string, Map<string, StoredSubject>>;

/** The tuples of a tenant with their history, found by entity and relation. */
export class TupleIndex {
  readonly #subjects = new Map<string, Subjects>();

  /** Creates the tuple unless it stands. Returns whether it did. */
  create({ entity, relation, subject }: Tuple, revision: Revision): boolean {
    const byType = getOrMake(
      this.#subjects,
      relationKey(entity, relation),
      (): Subjects => new Map(),
    );
    const byId = getOrMake(byType, subject.type, () => new Map<string, StoredSubject>());
    const stored = getOrMake(byId, subjectKey(subject), (): StoredSubject => ({
      id: subject.id,
      relation: subject.relation,
      lifetimes: [],
    }));
    const last = stored.lifetimes.at(-1);
    if (last !== undefined && standsAt(last, revision)) return false;
    stored.lifetimes.push({ created: revision, deleted: forever });
    return true;
  }

  has({ entity, relation, subject }: Tuple, revision: Revision): boolean {
    const byType = this.#subjects.get(relationKey(entity, relation));
    const stored = byType?.get(subject.type)?.get(subjectKey(subject));
    return stored !== undefined && stood(stored, revision);
  }

  /** The ids of the subjects of a type, each once. `subjectRelation` undefined: whatever theirs. */
  *subjectIds(
    entity: Tuple["entity"],
    relation: string,
    subject: { readonly type: string; readonly relation: string | undefined },
    revision: Revision,
  ): Iterable<string> {
    const byType = this.#subjects.get(relationKey(entity, relation));
    const seen = new Set<string>();
    for (const stored of byType?.get(subject.type)?.values() ?? []) {
      if (subject.relation !== undefined && stored.relation !== subject.relation) continue;
      if (seen.has(stored.id) || !stood(stored, revision)) continue;
      seen.add(stored.id);
      yield stored.id;
    }
  }
}

function stood({ lifetimes }: StoredSubject, revision: Revision): boolean {
  return lifetimes.some((lifetime) => standsAt(lifetime, revision));
}

/** No name and no id holds a NUL. */
function relationKey(entity: Tuple["entity"], relation: string): string {
  return `${entity.type}\0${entity.id}\0${relation}`;
}

function subjectKey(subject: Tuple["subject"]): string {
  return `${subject.id}\0${subject.relation}`;
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

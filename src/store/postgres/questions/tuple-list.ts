import { assert, must } from "../../../base/assert.ts";

/** The names of a tuple. Of one to the asked subject itself, those of the subject are left out. */
export interface TupleNames {
  readonly entityType: string;
  readonly relation: string;
  readonly subjectType: string;
  readonly subjectRelation: string;
}

/** Reads the codes of tuples (see `TupleCodes`). */
export class TupleCodeReader {
  readonly #lists: readonly unknown[];
  readonly #known = new Map<string, TupleNames>();

  /** @param lists the lists of names as JSON */
  constructor(lists: string) {
    this.#lists = listOf(JSON.parse(lists));
  }

  read(code: string): TupleNames {
    const known = this.#known.get(code);
    if (known !== undefined) return known;
    const [number, ...own] = code.split(" ");
    const left = own.values();
    const [entityType = "", relation = "", subjectType = "", subjectRelation = ""] = listOf(
      this.#lists[Number(number)],
    ).map((name) => factText(name ?? left.next().value));
    const names = { entityType, relation, subjectType, subjectRelation };
    this.#known.set(code, names);
    return names;
  }
}

/** Calls `take` with each tuple of a list. `subjectId` is empty if the tuples are those to the asked subject. */
export function eachTuple(
  list: string,
  take: (code: string, entityId: string, subjectId: string) => void,
): void {
  const [codes, entities, subjects] = listOf(JSON.parse(list)).map(listOf);
  const ids = must(entities, "a tuple has an entity");
  for (const [nth, code] of must(codes, "a tuple has a code").entries()) {
    take(factText(code), factText(ids[nth]), subjects === undefined ? "" : factText(subjects[nth]));
  }
}

function listOf(value: unknown): readonly unknown[] {
  assert(Array.isArray(value), "a list is an array");
  return value;
}

/** A name or an id in what was gathered. */
export function factText(value: unknown): string {
  assert(typeof value === "string", "names and ids are text");
  return value;
}

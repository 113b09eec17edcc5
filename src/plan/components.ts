import { must } from "../base/assert.ts";
import type { Schema } from "../language/schema.ts";
import { nameKey, referencesOf, type Name } from "./references.ts";

/**
 * The strongly connected components of a schema's names: two names share one when each leads to
 * the other. Only names that lead back to themselves are listed.
 */
export type Components = ReadonlyMap<string, number>;

const known = new WeakMap<Schema, Components>();

/** The recursive components of a schema, by `nameKey`; computed once for a schema. */
export function componentsOf(schema: Schema): Components {
  let components = known.get(schema);
  if (components === undefined) {
    components = findComponents(schema);
    known.set(schema, components);
  }
  return components;
}

interface Visit {
  readonly name: Name;
  readonly key: string;
  readonly references: readonly Name[];
  next: number;
}

/** Tarjan's algorithm with a stack of its own, since chains of names can be long. */
function findComponents(schema: Schema): Components {
  const components = new Map<string, number>();
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const visits: Visit[] = [];

  const enter = (name: Name): void => {
    const key = nameKey(name);
    index.set(key, index.size);
    low.set(key, index.size - 1);
    open.push(key);
    isOpen.add(key);
    visits.push({ name, key, references: referencesOf(schema, name), next: 0 });
  };
  const lower = (key: string, value: number): void => {
    low.set(key, Math.min(must(low.get(key), "an entered name has a low link"), value));
  };
  const leave = (visit: Visit): void => {
    visits.pop();
    const lowest = must(low.get(visit.key), "an entered name has a low link");
    const parent = visits.at(-1);
    if (parent !== undefined) lower(parent.key, lowest);
    if (lowest !== index.get(visit.key)) return;
    const members = open.splice(open.lastIndexOf(visit.key));
    const isRecursive =
      members.length > 1 || visit.references.some((name) => nameKey(name) === visit.key);
    for (const member of members) {
      isOpen.delete(member);
      if (isRecursive) components.set(member, lowest);
    }
  };

  for (const root of namesOf(schema)) {
    if (!index.has(nameKey(root))) enter(root);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const reference = visit.references[visit.next];
      visit.next += 1;
      if (reference === undefined) {
        leave(visit);
        continue;
      }
      const key = nameKey(reference);
      const seen = index.get(key);
      if (seen === undefined) enter(reference);
      else if (isOpen.has(key)) lower(visit.key, seen);
    }
  }
  return components;
}

function namesOf(schema: Schema): Name[] {
  return [...schema.entities.values()].flatMap((entity) =>
    [...entity.relations.keys(), ...entity.permissions.keys()].map((name) => ({
      entityType: entity.name,
      name,
    })),
  );
}

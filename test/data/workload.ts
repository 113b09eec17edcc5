import type { Entity } from "../../src/base/tuple.ts";
import type { Dataset, Lookup } from "./dataset.ts";

/** Data with all that is asked of them: checks, lookups, what has changed. */
export interface Workload extends Dataset {
  /** Most hops of a path. */
  readonly depth?: number;
  readonly lookups?: readonly WorkloadLookups[];
  readonly changes?: readonly ChangeLog[];
  /** The tuples that the public benchmark has at the same parameters. */
  readonly published?: number;
}

/** Lookups that cost about the same. */
export interface WorkloadLookups {
  readonly name: string;
  readonly lookups: readonly WorkloadLookup[];
}

/** One page of ids of entities, or of subjects of the type `user`. */
export type WorkloadLookup = Lookup & {
  readonly limit: number;
  /** In their order. */
  readonly found: readonly string[];
};

/** Transactions of so many tuples each (viewers of entities of the type), to be read in pages. */
export interface ChangeLog {
  readonly name: string;
  readonly entityType: string;
  readonly transactions: number;
  readonly changes: number;
  readonly pageSize: number;
}

/** The most that a page may have. */
const longestPage = 10_000;

/** All entities that the user has the permission on. */
export function entitiesOf(
  user: string,
  entityType: string,
  permission: string,
  found: readonly string[],
): WorkloadLookup {
  return {
    kind: "entities",
    user,
    entityType,
    permission,
    found: found.toSorted(),
    limit: longestPage,
  };
}

/** All users who have the permission on the entity. */
export function usersOf(
  entity: Entity,
  permission: string,
  found: readonly string[],
): WorkloadLookup {
  return { kind: "subjects", entity, permission, found: found.toSorted(), limit: longestPage };
}

/** Such ids as `user-0`, so many. */
export function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, nth) => `${prefix}-${nth}`);
}

/** A state of the whole engine: how many writes it has seen. */
export type Revision = number;

/** When something stood: from `created` on, before `deleted`. */
export interface Lifetime {
  readonly created: Revision;
  readonly deleted: Revision;
}

/** Until nothing deletes it. */
export const forever: Revision = Infinity;

export function standsAt({ created, deleted }: Lifetime, revision: Revision): boolean {
  return created <= revision && revision < deleted;
}

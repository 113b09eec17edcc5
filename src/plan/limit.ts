/**
 * What a plan may come to before it is gathered instead, counted together while it is unfolded. A
 * statement of more costs more to plan and to start than its plan to gather; the steps keep the
 * building itself to some milliseconds, for every schema.
 */
export const planMax = {
  states: 512,
  /** Tests, hops and guards of all states, as far as a statement has a branch for each. */
  branches: 1_024,
  /** Guards of one branch. */
  guards: 32,
  /** Permissions and operands that the question leads through. */
  names: 512,
  /** Visits of permissions and operands, by all states: a name may be inlined in many of them. */
  visits: 3_000,
  /** Parts of formulas that are looked at, by all states. */
  leaves: 60_000,
} as const;

/**
 * The most entities that are looked at for an answer that one search can't give, on both engines:
 * past it the question fails with a clear error instead of reading a tenant as a whole.
 */
export const gatheredEntitiesMax = 10_000;

/**
 * The most that the tree of an expand holds, on both engines: shared parts of a graph come once for
 * each way to them, so that a tree can outgrow its graph without end. Levels are names and operators
 * on the way from the root; deeper than about a thousand, no tree can be written as JSON.
 */
export const treeMax = { nodes: 10_000, subjects: 100_000, levels: 500 } as const;

/** A tuple of a tree is a subject of a leaf or, in a walk, a node: a tree within its limits has no more. */
export const treeTuplesMax = treeMax.nodes + treeMax.subjects;

/**
 * The most that is grounded, in names of entities and hops between them: for one answer, and for all
 * answers of a request. Past it the question fails as past `gatheredEntitiesMax`.
 */
export const groundMax = { answer: 200_000, request: 1_000_000 } as const;

/** The longest statement of gathers: the server takes a second or so to read one. */
export const gatherCharactersMax = 4_000_000;

/** The most tuples that are gathered for the answer of a check or for a page of a lookup. */
export const gatheredTuplesMax = 50_000;

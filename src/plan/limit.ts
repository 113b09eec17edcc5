/**
 * The bounds of a search plan, counted while it is unfolded. Beyond them it becomes a gather. A larger
 * statement costs more to plan and to start than a gather. The bounds also keep the time of building
 * a plan to some milliseconds, for every schema.
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
 * The most entities that are read for an answer that one search cannot give, on both engines. Beyond
 * it the question fails with a clear error and does not read the whole tenant.
 */
export const gatheredEntitiesMax = 10_000;

/**
 * The most that the tree of an expand holds, on both engines. A shared part of a graph comes once for
 * each path to it, so a tree may be far larger than its graph. Levels are the names and operators on
 * a path from the root. A tree of more than about a thousand levels cannot be written as JSON.
 */
export const treeMax = { nodes: 10_000, subjects: 100_000, levels: 500 } as const;

/**
 * The most that the tree of an explanation holds, on both engines. What lies further from the question
 * is left out, and `truncated` says so. A person reads some hundred nodes. A gRPC client takes 4 MiB by
 * default, and the text of a schema may have characters of two bytes. More than about a thousand levels cannot be written as JSON.
 */
export const explanationMax = {
  nodes: 5_000,
  /** Of the whole tree, and of the value of one attribute. */
  characters: 2_000_000,
  valueCharacters: 10_000,
  levels: 500,
} as const;

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

/**
 * The most bytes of attributes that are gathered, with their entities, as JSON. Only a database has to send them: the
 * memory engine has them already.
 */
export const gatheredBytesMax = 32 * 2 ** 20;

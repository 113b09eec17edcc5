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

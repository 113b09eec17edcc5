import type { Proof } from "../../api/permissions.ts";

/** A node of a proof, with its place in the tree. */
export interface ProofRow {
  readonly node: Proof;
  /** From 1. */
  readonly level: number;
  /** The row of its parent. Undefined for the root. */
  readonly parent: number | undefined;
  /** The place of the row among all. */
  readonly index: number;
}

/** The nodes of a proof in the order of its lines. A tree may be deep, so it is walked in a loop. */
export function flatProof(root: Proof): readonly ProofRow[] {
  const rows: ProofRow[] = [];
  const open: { readonly node: Proof; readonly level: number; readonly parent?: number }[] = [
    { node: root, level: 1 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, level } = next;
    const index = rows.length;
    rows.push({ node, level, parent: next.parent, index });
    for (const child of node.children.toReversed()) {
      open.push({ node: child, level: level + 1, parent: index });
    }
  }
  return rows;
}

/** The rows that are in sight when those of `closed` hide what is below them. */
export function rowsInSight(
  rows: readonly ProofRow[],
  closed: ReadonlySet<number>,
): readonly ProofRow[] {
  const hidden = new Set<number>();
  return rows.filter(({ index, parent }) => {
    const isHidden = parent !== undefined && (hidden.has(parent) || closed.has(parent));
    if (isHidden) hidden.add(index);
    return !isHidden;
  });
}

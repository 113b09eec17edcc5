/** An expression, resolved or as it was written. */
interface TwoSided<T> {
  readonly kind: string;
  readonly left?: T;
  readonly right?: T;
}

/**
 * The operands of a left-deep run of one operator, from left to right, so that a long run needs no deep
 * recursion. Of an expression that is no operation: itself.
 */
export function runOf<T extends TwoSided<T>>(expression: T): readonly T[] {
  const operands: T[] = [];
  let left = expression;
  while (left.kind === expression.kind && left.left !== undefined && left.right !== undefined) {
    operands.push(left.right);
    left = left.left;
  }
  return [left, ...operands.toReversed()];
}

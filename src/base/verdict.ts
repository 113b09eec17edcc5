/**
 * The three values of an evaluation (Kleene). An error is `unknown` until the answer is known to
 * depend on it. A path longer than the depth of the request and a rule that fails are both unknown.
 * SQL statements use the same numbers: `or` is the greatest, `and` the least, `not v` is `2 - v`.
 */
export const DENIED = 0;
export const UNKNOWN = 1;
export const ALLOWED = 2;

export type Verdict = typeof DENIED | typeof UNKNOWN | typeof ALLOWED;

/**
 * The longest path, in hops, that can decide an answer. A request that allows more is treated as if
 * it allowed this. SQL represents hops as the scale of a numeric, which counts one further.
 */
export const depthMax = 16_382;

/** The longest path of a request that names none. */
export const defaultDepth = 100;

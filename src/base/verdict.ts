/**
 * The three values of an evaluation (Kleene): an error is `unknown` until it is sure that the
 * answer depends on it. A path longer than the request's depth and a rule that fails are both
 * unknown. The numbers are those of the SQL statements: `or` is the greatest, `and` the least,
 * `not v` is `2 - v`.
 */
export const DENIED = 0;
export const UNKNOWN = 1;
export const ALLOWED = 2;

export type Verdict = typeof DENIED | typeof UNKNOWN | typeof ALLOWED;

/**
 * The most hops that a path may have to decide an answer; a request that allows more is taken to
 * allow this. In SQL hops are the scale of a numeric, which counts to one more.
 */
export const depthMax = 16_382;

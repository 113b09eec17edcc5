/*
 * How long a test is: a long one is the short one of the same name, which it imports, with more cases.
 * Of what random tests draw, `PEMBA_SEED` repeats a run, and `PEMBA_CASES` makes it longer or shorter.
 */

/** Is it the long test that runs, and not the short one that it imports? */
export const isLong = process.argv[1]?.endsWith(".long.test.ts") === true;

export const seed = Number(process.env["PEMBA_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

/** How many cases are drawn, if nothing else is told: in a short test, and in a long one. */
export function caseCount(counts: { readonly short: number; readonly long: number }): number {
  const given = process.env["PEMBA_CASES"];
  if (given !== undefined) return Number(given);
  return isLong ? counts.long : counts.short;
}

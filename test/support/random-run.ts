/*
 * What random tests draw: `PEMBA_SEED` repeats a run, `PEMBA_CASES` makes it longer or shorter. A long
 * test is the short one of the same name, which it imports, with more cases.
 */

export const seed = Number(process.env["PEMBA_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

/** How many cases are drawn, if nothing else is told: in a short test, and in a long one. */
export function caseCount(counts: { readonly short: number; readonly long: number }): number {
  const given = process.env["PEMBA_CASES"];
  if (given !== undefined) return Number(given);
  return process.argv[1]?.endsWith(".long.test.ts") === true ? counts.long : counts.short;
}

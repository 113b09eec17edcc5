/** A name for each number, made of letters. */
export function nameOf(number: number): string {
  return `n_${String(number).replaceAll(/\d/g, (digit) => "abcdefghij".charAt(Number(digit)))}`;
}

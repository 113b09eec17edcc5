/** At most so many of all, such that every kind gets its share of them: few kinds are common. */
export function evenShares<T>(
  all: readonly T[],
  most: number,
  kindOf: (one: T) => string,
): readonly T[] {
  const kinds = Object.values(Object.groupBy(all, kindOf));
  const shares: T[] = [];
  for (let turn = 0; shares.length < Math.min(most, all.length); turn += 1) {
    for (const kind of kinds) {
      const one = kind?.[turn];
      if (one !== undefined && shares.length < most) shares.push(one);
    }
  }
  return shares;
}

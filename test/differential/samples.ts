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

export function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

/** From another place on. */
export function rotated<T>(all: readonly T[], turn: number): readonly T[] {
  const start = all.length === 0 ? 0 : turn % all.length;
  return [...all.slice(start), ...all.slice(0, start)];
}

/** So many of all, far from each other. */
export function spread<T>(all: readonly T[], most: number, turn: number): readonly T[] {
  const step = Math.max(1, Math.floor(all.length / most));
  return rotated(all, turn)
    .filter((_, index) => index % step === 0)
    .slice(0, most);
}

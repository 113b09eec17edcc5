import { applied, type Mutant, type Range } from "./mutant.ts";

/** What stands at one place of a source: the mutants of it, and the places inside. */
interface Place {
  readonly around: Mutant["around"];
  readonly mutants: Mutant[];
  readonly inner: Place[];
}

/**
 * The source with all its mutants in it, each behind a switch: `$fault(7)` says whether number 7 is
 * on. What is mutated holds no other switches, since one fault is planted at a time; so the size
 * grows with the depth of the source and not with the number of combinations.
 */
export function instrument(source: string, mutants: readonly Mutant[]): string {
  return withSwitches(source, { start: 0, end: source.length }, placesOf(mutants));
}

/** Ranges of a syntax tree hold each other or are apart: the outer ones come first. */
function placesOf(mutants: readonly Mutant[]): readonly Place[] {
  const sorted = mutants.toSorted(
    (a, b) => a.around.start - b.around.start || b.around.end - a.around.end,
  );
  const top: Place[] = [];
  const open: Place[] = [];
  for (const mutant of sorted) {
    const { around } = mutant;
    while ((open.at(-1)?.around.end ?? Number.POSITIVE_INFINITY) < around.end) open.pop();
    while ((open.at(-1)?.around.end ?? Number.POSITIVE_INFINITY) <= around.start) open.pop();
    const outer = open.at(-1);
    const isSame =
      outer?.around.start === around.start &&
      outer.around.end === around.end &&
      outer.around.kind === around.kind;
    if (outer !== undefined && isSame) {
      outer.mutants.push(mutant);
      continue;
    }
    const place = { around, mutants: [mutant], inner: [] };
    (outer?.inner ?? top).push(place);
    open.push(place);
  }
  return top;
}

function withSwitches(source: string, range: Range, places: readonly Place[]): string {
  let text = "";
  let at = range.start;
  for (const place of places) {
    text += source.slice(at, place.around.start) + choice(source, place);
    at = place.around.end;
  }
  return text + source.slice(at, range.end);
}

function choice(source: string, { around, mutants, inner }: Place): string {
  const original = withSwitches(source, around, inner);
  if (around.kind === "statement") {
    const faults = mutants.map(
      (one) => `if ($fault(${one.id})) { ${applied(source, one, around)} }`,
    );
    return `{ ${faults.join(" else ")} else { ${original} } }`;
  }
  const faults = mutants.map((one) => `$fault(${one.id}) ? (${applied(source, one, around)}) : `);
  return `(${faults.join("")}(${original}))`;
}

import { posix } from "node:path";

/** What prints a plan or lays a statement out: no answer depends on it. */
const forPeople = /^(?:print-plan|format-statement)\.ts$/;

/** The files that are for people, and those that nothing else imports. */
export function filesLeftOut(sources: ReadonlyMap<string, string>): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [file, source] of sources) {
    for (const [, target = ""] of source.matchAll(/\bfrom "(\.{1,2}\/[^"]+)"/g)) {
      const imported = posix.join(posix.dirname(file), target);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  const leftOut = new Set(
    [...sources.keys()].filter((file) => forPeople.test(posix.basename(file))),
  );
  for (let before = -1; before < leftOut.size;) {
    before = leftOut.size;
    for (const [file, by] of importers) if (by.every((one) => leftOut.has(one))) leftOut.add(file);
  }
  return leftOut;
}

import type { PresentQuestion } from "../../src/store/layer/present-question.ts";

type QuestionKind = PresentQuestion["kind"];

const kinds: readonly QuestionKind[] = ["check", "entities", "subjects"];

/** Why a change touches a footprint: it may make ids known that are accepted, or its name is read. */
export const touching = ["known ids", "a name"] as const;

/** Why it does not. Without the last two together, but not without one of them, it would. */
export const passing = [
  "another name",
  "another entity",
  "another subject",
  "another entity and subject",
] as const;

/** What stands where in a change that alters an answer. A footprint may overlook each of them. */
export const traits = [
  "at the asked entity",
  "at an entity of its type",
  "at an entity of another type",
  "to the asked subject",
  "to a subject of its type",
  "to a subject of another type",
  "to a userset",
  "of an attribute",
  "for a search",
  "for a gather",
] as const;

export type Reason = (typeof touching)[number] | (typeof passing)[number];
export type Trait = (typeof traits)[number];

/** What came of a change after the answer of a question. */
interface Met {
  readonly kind: QuestionKind;
  readonly isAltered: boolean;
  readonly reason: Reason;
  readonly traits: readonly Trait[];
}

/** What no change can be: a lookup has no entity or no subject, and a check finds no ids. */
const impossible: ReadonlySet<string> = new Set([
  "check: known ids",
  "check: known ids, altered",
  "entities: another entity",
  "entities: another entity and subject",
  "entities: at the asked entity, altered",
  "subjects: another subject",
  "subjects: another entity and subject",
  "subjects: to the asked subject, altered",
]);

/** How often questions met changes that altered their answers, and changes that did not, and why. */
export class FootprintTally {
  readonly #counts = new Map<string, number>();
  #cases = 0;

  get cases(): number {
    return this.#cases;
  }

  addCase(): void {
    this.#cases += 1;
  }

  add({ kind, isAltered, reason, traits: found }: Met): void {
    const altered = [reason, ...found].map((row) => `${row}, altered`);
    for (const row of isAltered ? altered : [reason]) {
      const key = `${kind}: ${row}`;
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
  }

  /** What came less than so many times, of all that should come. */
  missing(least: number): readonly string[] {
    const expected = [
      ...touching,
      ...passing,
      ...[...touching, ...traits].map((row) => `${row}, altered`),
    ];
    return expected
      .flatMap((row) => kinds.map((kind) => `${kind}: ${row}`))
      .filter((key) => !impossible.has(key) && this.#of(key) < least);
  }

  table(): string {
    const cell = (text: string): string => text.padStart(10);
    const rows = [
      ...touching,
      ...passing,
      ...[...touching, ...passing, ...traits].map((row) => `${row}, altered`),
    ];
    const lines = rows.map(
      (row) =>
        row.padEnd(40) + kinds.map((kind) => cell(String(this.#of(`${kind}: ${row}`)))).join(""),
    );
    return ["".padEnd(40) + kinds.map(cell).join(""), ...lines].join("\n");
  }

  #of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

import { fieldError, type PembaError } from "../base/error.ts";
import { compareTexts, sortInSteps } from "../base/sort-steps.ts";
import type { Pace, Steps } from "../base/steps.ts";
import type { AttributeValue } from "../base/tuple.ts";
import { treeMax } from "../plan/limit.ts";

/** An attribute's value counts as a subject for each so many characters, the first ones included. */
const charactersOfSubject = 100;

/** Counts the size of a tree while it is made. Fails with `treeTooLarge` when it is too large. */
export class TreeSize {
  #nodes = 0;
  #subjects = 0;
  #levels = 0;

  addNode(): void {
    this.#nodes += 1;
    if (this.#nodes > treeMax.nodes) throw treeTooLarge();
  }

  addSubjects(count: number): void {
    this.#subjects += count;
    if (this.#subjects > treeMax.subjects) throw treeTooLarge();
  }

  addValue({ data }: AttributeValue): void {
    this.addSubjects(Math.ceil(JSON.stringify(data).length / charactersOfSubject));
  }

  /** Goes a level down, until `leave`. */
  enter(): void {
    this.#levels += 1;
    if (this.#levels > treeMax.levels) throw treeTooLarge();
  }

  leave(): void {
    this.#levels -= 1;
  }
}

/**
 * The ids in the order of their bytes, each once. They are read and sorted in steps. More than `max` of them
 * are too large a tree.
 */
export function* treeIds(ids: Iterable<string>, max: number, pace: Pace): Steps<readonly string[]> {
  const read = new Set<string>();
  for (const id of ids) {
    if (pace.step()) yield;
    read.add(id);
    if (read.size > max) throw treeTooLarge();
  }
  // Ids are ASCII, so the order of their characters is that of their bytes.
  return yield* sortInSteps([...read], compareTexts);
}

/** One error for all limits: which one is met first is the engine's own. */
export function treeTooLarge(): PembaError {
  const { nodes, subjects, levels } = treeMax;
  return fieldError(
    "GATHER_LIMIT_EXCEEDED",
    "permission",
    `its tree has more than ${nodes} nodes, ${subjects} subjects or ${levels} levels, expand a permission that is closer to its subjects`,
  );
}

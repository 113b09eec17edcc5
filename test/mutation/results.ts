import { hash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Mutant } from "./mutant.ts";
import { type Fate, isKilled } from "./run-mutants.ts";
import { sourcesOf } from "./sample.ts";

/** A mutant and how it fared, as a line of the file of results. */
export interface Result {
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  readonly before: string;
  readonly after: string;
  readonly fate: Fate;
  readonly ms: number;
  /** Of the tests that were asked. */
  readonly tests: string;
}

/** What faults are planted in: when one of these changes, nothing that is known of mutants counts. */
const answering = ["plan", "memory", "sql"];

/** Of the tests. */
const asking = ["mutation", "differential", "http", "memory", "plan", "scenarios", "sql", "store"];

/**
 * Results of one state of the sources, kept between runs. What was killed stays killed, and what was
 * judged equivalent survives; what survived other tests than these is asked again.
 */
export class Results {
  readonly #path: string;
  readonly #tests: string;
  readonly #equivalents: ReadonlySet<string>;
  readonly #known = new Map<string, Result>();

  /** `asked` says what of the tests is not in their files, such as how many cases there are. */
  constructor(root: string, asked: string, equivalents: ReadonlySet<string>) {
    this.#equivalents = equivalents;
    const sources = hashOf(answering.map((room) => sourcesOf(root, `src/${room}`)));
    const tests = hashOf(asking.map((folder) => sourcesOf(root, `test/${folder}`)));
    this.#path = join(root, "mutation-results", `${sources}.jsonl`);
    this.#tests = hash("sha256", `${tests} ${asked}`).slice(0, 12);
    mkdirSync(dirname(this.#path), { recursive: true });
    if (!existsSync(this.#path)) return;
    for (const line of readFileSync(this.#path, "utf8").split("\n").filter(Boolean)) {
      const result: Result = JSON.parse(line);
      this.#known.set(result.key, result);
    }
  }

  of({ key }: Pick<Mutant, "key">): Result | undefined {
    const result = this.#known.get(key);
    if (result === undefined) return undefined;
    const isSettled = isKilled(result.fate) || this.#equivalents.has(key);
    return isSettled || result.tests === this.#tests ? result : undefined;
  }

  add({ key, file, line, operator, before, after }: Mutant, fate: Fate, ms: number): void {
    const tests = this.#tests;
    const result: Result = { key, file, line, operator, before, after, fate, ms, tests };
    this.#known.set(key, result);
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }
}

function hashOf(folders: readonly ReadonlyMap<string, string>[]): string {
  return hash("sha256", JSON.stringify(folders.map((one) => [...one]))).slice(0, 12);
}

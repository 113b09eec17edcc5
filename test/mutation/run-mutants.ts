import { must } from "../../src/base/assert.ts";
import type { Mutant } from "./mutant.ts";
import type { EngineName, Trial } from "./trial.ts";
import { WorkerProcess, type WorkerStart } from "./worker-process.ts";

/** How a mutant fared. */
export type Fate =
  | { readonly kind: "killed"; readonly by: string }
  | { readonly kind: "timed out"; readonly by: string }
  /** Only a test saw it that is not one of the differential ones. */
  | { readonly kind: "killed beside"; readonly by: string }
  | { readonly kind: "survived" }
  /** No trial comes to the place of the fault. */
  | { readonly kind: "not reached" };

interface TrialState extends AskedTrial {
  readonly ms: number;
  readonly reached: ReadonlySet<number>;
  kills: number;
}

/** What the runs know of a trial, which itself lives in the worker. */
export type AskedTrial = Pick<Trial, "id" | "name" | "engine">;

/** Runs of a sample's mutants, one worker at a time. */
export class MutantRuns {
  readonly #start: Omit<WorkerStart, "fault">;
  readonly #all: readonly AskedTrial[];
  #worker: WorkerProcess | undefined;
  #static: ReadonlySet<number> = new Set();
  #trials: readonly TrialState[] = [];

  constructor(start: Omit<WorkerStart, "fault">, trials: readonly AskedTrial[]) {
    this.#start = start;
    this.#all = trials;
  }

  /** All trials without a fault: what each of them reaches. One that fails so says nothing later. */
  async runSound(): Promise<{ readonly ms: number; readonly unsound: readonly string[] }> {
    const unsound: string[] = [];
    const trials: TrialState[] = [];
    const worker = await this.#ready();
    for (const { id, name, engine } of this.#all) {
      worker.order({ kind: "sound", trial: id });
      const report = await worker.report(soundMs);
      if (report?.kind !== "sound") throw new Error(`${name}: no answer without a fault`);
      if (report.fault !== undefined) {
        unsound.push(`${name}: ${report.fault}`);
        continue;
      }
      trials.push({
        id,
        name,
        engine,
        ms: report.ms,
        reached: new Set(report.reached),
        kills: 0,
      });
    }
    this.#trials = trials;
    return { ms: trials.reduce((sum, { ms }) => sum + ms, 0), unsound };
  }

  /** Asks the trials that reach the fault, those first that are likely to see it. */
  async run({ id, file }: Mutant): Promise<Fate> {
    const isStatic = this.#static.has(id);
    const trials = this.#trials
      .filter((trial) => isStatic || trial.reached.has(id))
      .filter(({ engine }) => enginesFor(file).includes(engine))
      .toSorted((a, b) => promise(b) - promise(a));
    if (trials.length === 0) return { kind: "not reached" };
    if (isStatic) return await this.#runAlone(id, trials);
    const worker = await this.#ready();
    const first = await this.#ask(worker, id, trials);
    if (first !== "unsound") return first;
    // The process keeps something of a fault, perhaps of one before: it is asked in a new one.
    await this.#endWorker();
    const second = await this.#ask(await this.#ready(), id, trials);
    await this.#endWorker();
    return second === "unsound" ? { kind: "killed", by: "what a fault left behind" } : second;
  }

  async close(): Promise<void> {
    await this.#endWorker();
  }

  /** Code that runs when it is loaded has its fault before: in a process of its own. */
  async #runAlone(id: number, trials: readonly TrialState[]): Promise<Fate> {
    const started = await WorkerProcess.start({ ...this.#start, fault: id });
    if (started === undefined) return { kind: "killed", by: "it does not load" };
    const fate = await this.#ask(started.worker, id, trials);
    if (fate === "unsound") {
      await started.worker.end();
      // With the fault on from the beginning no trial is sound again.
      return { kind: "killed", by: "a fault that is on from the beginning" };
    }
    if (fate.kind !== "timed out") await started.worker.end();
    return fate;
  }

  async #ask(
    worker: WorkerProcess,
    mutant: number,
    trials: readonly TrialState[],
  ): Promise<Fate | "unsound"> {
    worker.order({ kind: "mutant", mutant, trials: trials.map(({ id }) => id) });
    let current = must(trials[0], "there is a trial");
    for (;;) {
      const report = await worker.report(trialMs + current.ms * slower);
      switch (report?.kind) {
        case "begun":
          current = must(
            trials.find(({ id }) => id === report.trial),
            "it is one of those that were ordered",
          );
          continue;
        case "killed":
          if (!report.isSoundAgain) return "unsound";
          current.kills += 1;
          return { kind: "killed", by: `${current.name}: ${report.fault}` };
        case "survived":
          return { kind: "survived" };
        case undefined:
          if (worker === this.#worker) this.#worker = undefined;
          return { kind: "timed out", by: current.name };
        case "ready":
        case "sound":
          throw new Error(`a worker tells ${report.kind} of a mutant`);
      }
    }
  }

  async #ready(): Promise<WorkerProcess> {
    if (this.#worker !== undefined) return this.#worker;
    const started = await WorkerProcess.start({ ...this.#start, fault: undefined });
    if (started === undefined) throw new Error("the instrumented code does not load");
    this.#worker = started.worker;
    this.#static = new Set(started.reached);
    return started.worker;
  }

  async #endWorker(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.end();
  }
}

/** A trial with a fault may take so much longer than without one, and then something. */
const slower = 10;
const trialMs = 15_000;
const soundMs = 120_000;

/** Memory first; then what sees much for its time, and has seen faults before. */
function promise({ engine, reached, ms, kills }: TrialState): number {
  const score = ((kills + 1) * reached.size) / (ms + 1);
  return engine === "memory" ? score + 1e9 : score;
}

/** What only the candidates of a scope go through that Postgres has gathered. */
const forPostgresAlone = ["src/memory/forward-walk.ts"];

/**
 * Who is asked about a fault of that file. Where Postgres leaves an answer to the interpreter, the
 * memory engine shows the same of it in a small part of the time.
 */
export function enginesFor(file: string): readonly EngineName[] {
  const isShared = !file.startsWith("src/memory/") || forPostgresAlone.includes(file);
  return isShared ? ["memory", "postgres"] : ["memory"];
}

export function isKilled({ kind }: Fate): boolean {
  return kind === "killed" || kind === "timed out" || kind === "killed beside";
}

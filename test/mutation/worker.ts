import { appendFileSync, existsSync, readFileSync } from "node:fs";

import { must } from "../../src/base/assert.ts";
import { trialsOf } from "./cases.ts";
import { reachedSoFar, startReaching } from "./fault-switch.ts";
import type { Order, Report, WorkerOptions } from "./protocol.ts";
import { type Kept, Stage } from "./stage.ts";
import type { Trial } from "./trial.ts";

/*
 * Runs trials in a process of its own, since a fault may loop for ever or take all memory.
 */

/** Before anything is done: what only loading comes to. */
const atLoad = [...reachedSoFar()];

const options: WorkerOptions = JSON.parse(process.env["PEMBA_WORKER"] ?? "");
const trials = trialsOf(options);
const stage = new Stage(options.url, (trial, kept) => {
  appendFileSync(options.told, `${JSON.stringify([trial, kept])}\n`);
});
if (existsSync(options.told)) {
  for (const line of readFileSync(options.told, "utf8").split("\n").filter(Boolean)) {
    const [trial, kept]: [number, Kept] = JSON.parse(line);
    await stage.recall(trialAt(trial), kept);
  }
}

// Who ends the run lets the mutant at hand come to its end.
process.on("SIGINT", () => {});
process.on("message", (order: Order) => {
  carryOut(order).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
});
tellParent({ kind: "ready", reached: atLoad });

async function carryOut(order: Order): Promise<void> {
  switch (order.kind) {
    case "sound":
      return await runSound(order.trial);
    case "mutant":
      return await runMutant(order.mutant, order.trials);
    case "end":
      await stage.close();
      return process.disconnect();
  }
}

/** One trial without a fault, to know what it reaches and what it takes. */
async function runSound(id: number): Promise<void> {
  const trial = trialAt(id);
  await stage.prepare(trial);
  const run = stage.open();
  const reached = startReaching();
  const begun = performance.now();
  const fault = await run.fault(trial, undefined);
  const ms = performance.now() - begun;
  const found = [...reached];
  await run.close();
  tellParent({ kind: "sound", trial: id, ms, fault, reached: found });
}

/** The trials one after the other, until one is not answered as it should be. */
async function runMutant(mutant: number, ids: readonly number[]): Promise<void> {
  const run = stage.open();
  for (const id of ids) {
    const trial = trialAt(id);
    tellParent({ kind: "begun", trial: id });
    await stage.prepare(trial);
    const fault = await run.fault(trial, mutant);
    if (fault === undefined) continue;
    await run.close();
    return tellParent({ kind: "killed", trial: id, fault, isSoundAgain: await isSound(trial) });
  }
  await run.close();
  tellParent({ kind: "survived" });
}

/** A fault may have left something in what the process keeps: then nothing that follows counts. */
async function isSound(trial: Trial): Promise<boolean> {
  const run = stage.open();
  const fault = await run.fault(trial, undefined);
  await run.close();
  return fault === undefined;
}

function trialAt(id: number): Trial {
  return must(trials[id], "the trial exists");
}

function tellParent(report: Report): void {
  process.send?.(report);
}

#!/usr/bin/env node
import { tooOld } from "./cli/needed-node.ts";
import { complain } from "./cli/output.ts";
import { endOnFault, endWithoutReader, ignoreSignals } from "./cli/process-events.ts";

// An older Node must be able to load what is imported above. It cannot load the commands.
ignoreSignals();
endOnFault();
endWithoutReader();
const problem = tooOld(process.versions.node);
process.exitCode = problem === undefined ? await runCommand() : complain(problem);

async function runCommand(): Promise<number> {
  const { run } = await import("./cli/run.ts");
  return await run(process.argv.slice(2));
}

#!/usr/bin/env -S node --disable-sigusr1
import { ignoreSignals, endOnFault } from "./cli/process-events.ts";
import { run } from "./cli/run.ts";

ignoreSignals();
endOnFault();
process.exitCode = await run(process.argv.slice(2));

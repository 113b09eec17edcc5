#!/usr/bin/env -S node --disable-sigusr1
import { ignoreSignals } from "./cli/ignore-signals.ts";
import { endOnFault } from "./cli/last-fault.ts";
import { run } from "./cli/run.ts";

ignoreSignals();
endOnFault();
process.exitCode = await run(process.argv.slice(2));

#!/usr/bin/env node
import { endOnFault } from "./cli/last-fault.ts";
import { run } from "./cli/run.ts";

endOnFault();
process.exitCode = await run(process.argv.slice(2));

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { installSwitch, switchFault } from "./fault-switch.ts";

/*
 * Loaded before a worker: from now on the instrumented sources stand in the place of the files. A
 * fault that is on from the beginning is for code that runs only when it is loaded.
 */

const root = join(import.meta.dirname, "..", "..");

const sources = new Map<string, string>();
const given: unknown = JSON.parse(readFileSync(process.env["PEMBA_INSTRUMENTED"] ?? "", "utf8"));
if (typeof given !== "object" || given === null) throw new Error("there are no sources");
for (const [file, source] of Object.entries(given)) {
  sources.set(pathToFileURL(join(root, file)).href, String(source));
}

const fault = process.env["PEMBA_FAULT"];
installSwitch();
switchFault(fault === undefined ? undefined : Number(fault));

registerHooks({
  load: (url, context, nextLoad) => {
    const source = sources.get(url);
    if (source === undefined) return nextLoad(url, context);
    return { format: "module-typescript", source, shortCircuit: true };
  },
});

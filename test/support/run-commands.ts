import { Readable } from "node:stream";

import { run } from "../../src/cli/run.ts";
import type { CommandOrder } from "./commands-process.ts";
import type { Finished } from "./pemba.ts";
import { processState } from "./process-state.ts";

/** The program behind `runCommand`: answers each order with what the command wrote. */
let written = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const) {
  process[name].write = (chunk: string | Uint8Array) => {
    written[name] += chunk.toString();
    return true;
  };
}

async function runOrder({ words, env, cwd, input }: CommandOrder): Promise<Finished> {
  written = { stdout: "", stderr: "" };
  const found = processState();
  const before = { cwd: process.cwd(), env: { ...process.env } };
  process.chdir(cwd);
  Object.assign(process.env, env);
  const stdin = Readable.from([Buffer.from(input)]);
  Object.defineProperty(process, "stdin", { configurable: true, value: stdin });
  const status = await run(words);
  for (const name of Object.keys(env)) delete process.env[name];
  Object.assign(process.env, before.env);
  process.chdir(before.cwd);
  found.assertUnchanged();
  return { status, ...written };
}

process.on("message", (order: CommandOrder) => {
  void runOrder(order).then((finished) => process.send?.(finished));
});
process.on("disconnect", () => process.exit());

import { run } from "../../src/cli/run.ts";
import type { CommandOrder } from "./commands-process.ts";
import type { Finished } from "./pemba.ts";

/** The program of a `CommandsProcess`: answers each order with what the command wrote. */
let written = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const) {
  process[name].write = (chunk: string | Uint8Array) => {
    written[name] += chunk.toString();
    return true;
  };
}

async function runOrder({ words, env }: CommandOrder): Promise<Finished> {
  written = { stdout: "", stderr: "" };
  Object.assign(process.env, env);
  const status = await run(words);
  for (const name of Object.keys(env)) delete process.env[name];
  return { status, ...written };
}

process.on("message", (order: CommandOrder) => {
  void runOrder(order).then((finished) => process.send?.(finished));
});

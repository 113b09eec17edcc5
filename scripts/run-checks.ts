import { spawn } from "node:child_process";

import { exitCodeOf } from "./run-tests.ts";

const checks: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  // More threads check the same types several times.
  { name: "types", command: ["tsc", "--singleThreaded"] },
  { name: "types of the console", command: ["tsc", "--singleThreaded", "-p", "src/console"] },
  { name: "lint", command: ["oxlint"] },
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "unused code", command: ["knip"] },
];

/**
 * The type checker and the linter end before most of their memory is worth collecting: their runtime
 * collects when the heap is five times what was in use, not twice.
 */
const memoryOfTools = { GOGC: "400" };

/** Runs every static check, also after one has failed, and answers how many passed and failed. */
export async function runChecks(): Promise<{ readonly passed: number; readonly failed: number }> {
  let failed = 0;
  for (const { name, command } of checks) {
    const start = performance.now();
    const { isGood, output } = await runTool(command);
    // At once, since tests run and report meanwhile.
    process.stdout.write(`== ${name}\n${output}${endOfSection(name, isGood, start)}`);
    if (!isGood) failed++;
  }
  return { passed: checks.length - failed, failed };
}

/** The line that says how a part of a run that began at `start` has ended, and after how long. */
export function endOfSection(name: string, isGood: boolean, start: number): string {
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  return `== ${name}: ${isGood ? "ok" : "FAILED"}, ${seconds} s\n\n`;
}

/** The tools are on the PATH that npm gives to scripts. */
async function runTool([program = "", ...args]: readonly string[]): Promise<{
  readonly isGood: boolean;
  readonly output: string;
}> {
  const tool = spawn(program, args, {
    env: { ...memoryOfTools, ...process.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [tool.stdout, tool.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const isGood = (await exitCodeOf(tool)) === 0;
  return { isGood, output };
}

import { spawn } from "node:child_process";

import { exitCodeOf } from "./run-tests.ts";

const checks: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: "types", command: ["tsc"] },
  { name: "lint", command: ["oxlint"] },
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "unused code", command: ["knip"] },
];

/** Runs every static check, also after one has failed, and answers how many passed and failed. */
export async function runChecks(): Promise<{ readonly passed: number; readonly failed: number }> {
  let failed = 0;
  for (const { name, command } of checks) {
    if (!(await runSection(name, () => runTool(command)))) failed++;
  }
  return { passed: checks.length - failed, failed };
}

/** Prints what is done, and how it ended and after how long. */
export async function runSection(name: string, work: () => Promise<boolean>): Promise<boolean> {
  process.stdout.write(`== ${name}\n`);
  const start = performance.now();
  const isGood = await work();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`== ${name}: ${isGood ? "ok" : "FAILED"}, ${seconds} s\n\n`);
  return isGood;
}

/** The tools are on the PATH that npm gives to scripts. */
async function runTool([program = "", ...args]: readonly string[]): Promise<boolean> {
  const tool = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"] });
  return (await exitCodeOf(tool)) === 0;
}

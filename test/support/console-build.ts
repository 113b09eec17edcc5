import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");

/** Where the console is built. */
export const consoleFolder = join(root, "dist/console");

/** Builds the console from its present sources. */
export async function buildConsole(): Promise<void> {
  const script = join(root, "scripts/build-console.ts");
  await promisify(execFile)(process.execPath, [script], { cwd: root });
}

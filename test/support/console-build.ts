import { execFile } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");

/** Where the console is built. */
export const consoleFolder = join(root, "dist/console");

const script = "scripts/build-console.ts";

/** Builds the console, unless it was built since its sources have changed. */
export async function buildConsole(): Promise<void> {
  const builtAt = statSync(join(consoleFolder, "index.html"), { throwIfNoEntry: false })?.mtimeMs;
  if (builtAt !== undefined && builtAt > changedAt()) return;
  await promisify(execFile)(process.execPath, [script], { cwd: root });
}

/** When a source was changed, made or removed last. */
function changedAt(): number {
  const sources = ["package-lock.json", script, "examples/models/**", "src/**"];
  const times = globSync(sources, { cwd: root }).map((path) => statSync(join(root, path)).mtimeMs);
  return Math.max(...times);
}

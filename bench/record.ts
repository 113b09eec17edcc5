import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { updatePage } from "./performance-page.ts";
import type { BenchServer } from "./server.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const recorded = fileURLToPath(new URL("recorded/", import.meta.url));

/** What the page of figures needs, in some fifteen minutes on two processors. */
const runs: readonly (readonly [string, ...string[]])[] = [
  ["check", "--seconds", "0.4"],
  ["rate", "--seconds", "6"],
  ["batching", "--seconds", "0.4", "--runs", "3", "--callers", "1,64"],
  ["cache", "--seconds", "0.4", "--runs", "3", "--callers", "64"],
  ["distributed", "--seconds", "1", "--runs", "3", "--callers", "1,64"],
  ["lookup", "--seconds", "1"],
  ["shapes", "--seconds", "2"],
  ["workloads"],
  ["write", "--seconds", "1"],
  ["overhead", "--seconds", "3"],
];

/**
 * Runs one after the other, each in a process of its own, on the same server, so that data are loaded
 * once; then writes the page anew. Fails when one fails.
 */
export async function recordAll(server: BenchServer, print: (line: string) => void): Promise<void> {
  for (const [name, ...words] of runs) {
    print(`\n${name}\n`);
    const json = `${recorded}${name}.json`;
    const child = spawn(process.execPath, [main, name, ...words, "--keep", "--json", json], {
      stdio: "inherit",
      env: { ...process.env, PEMBA_BENCH_DATABASE_URL: server.url },
    });
    const [status] = await once(child, "exit");
    if (status !== 0) throw new Error(`bench ${name} ended with ${status}`);
  }
  updatePage();
}

import { after, suite } from "node:test";
import { pathToFileURL } from "node:url";

import { closeServerConnection } from "./database.ts";
import { processState } from "./process-state.ts";

/** A file whose tests take longer hangs. */
const fileTimeoutMs = 240_000;

/** A process that is still there so long after its last test has something open that does not end. */
const endTimeoutMs = 30_000;

/**
 * Runs test files one after the other in this process. Each is a suite that has the path of the file
 * as its name, so that hooks of a file are hooks of its suite. A file fails if it leaves the process
 * in another state than it found it in and is not the only one: the files after it would run in that
 * state.
 */
export async function runBatch(paths: readonly string[]): Promise<void> {
  // Node's runner gives up a suite when nothing but what is unreferenced is left to wait for.
  const awake = setInterval(() => {}, 1_000_000);
  for (const path of paths) {
    await suite(path, { timeout: fileTimeoutMs }, async () => {
      const found = processState();
      await import(pathToFileURL(path).href);
      // After the hooks of the file, which have been registered by now.
      if (paths.length > 1) after(() => found.assertUnchanged());
    });
  }
  await closeServerConnection();
  clearInterval(awake);
  setTimeout(endWithFault, endTimeoutMs).unref();
}

/** The runner counts a process as failed that ends without its summary. */
function endWithFault(): void {
  const open = process.getActiveResourcesInfo().join(", ");
  process.stderr.write(`a file of this process did not close what it opened: ${open}\n`);
  process.exit(1);
}

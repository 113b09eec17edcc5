import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { flushTimeOf } from "../../src/cli/close-within.ts";
import { observe } from "../../src/cli/observe.ts";
import { serveUntil } from "../../src/cli/serve.ts";
import type { BoundPorts } from "../../src/cli/servers.ts";
import type { Config } from "../../src/config/options.ts";
import { loadedFrom } from "./given-config.ts";
import { type Addresses, flagsOfServer } from "./pemba.ts";

/** A server in the process of its test. */
export interface ServedHere extends Addresses {
  /** Asks it to end, as a signal does. */
  readonly stop: () => void;
  /** Its log, once it has ended. Rejects if it ended with a problem. */
  readonly finished: Promise<string>;
}

/** Starts a server as `startHere` does. It ends with the test. */
export async function serveHere(
  t: TestContext,
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<ServedHere> {
  const served = await startHere(words, env);
  t.after(async () => {
    served.stop();
    await served.finished;
  });
  return served;
}

/**
 * Serves with the flags and variables of `pemba serve`, on free ports, in this process: to load the
 * program once more takes longer than most tests. Resolves when the server is ready.
 *
 * It does not show what a process makes of it: its status, its output, what it does with signals.
 */
export async function startHere(
  words: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<ServedHere> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-served-"));
  const log = join(folder, "log");
  // Before the given words, of which the last counts: what a test leaves open is cut off soon.
  const flags = ["--log-file", log, "--server-grace-period", "1s", ...flagsOfServer(words)];
  const { config, warnings } = loadedFrom({ args: flags, env });
  const stopped = Promise.withResolvers<string>();
  const bound = Promise.withResolvers<BoundPorts>();
  const finished = serve({ config, warnings }, stopped.promise, bound.resolve)
    .then(() => readFileSync(log, "utf8"))
    .finally(() => rmSync(folder, { recursive: true }));
  const ended = finished.then((text): never => {
    throw new Error(`the server has ended: ${text}`);
  });
  // A test may ask for one of them alone.
  for (const promise of [finished, ended]) promise.catch(() => undefined);
  const { http, grpc } = await Promise.race([bound.promise, ended]);
  const scheme = config["server.http.tls.enabled"] ? "https" : "http";
  return {
    url: http === undefined ? "" : `${scheme}://127.0.0.1:${http}`,
    grpc: `127.0.0.1:${grpc}`,
    stop: () => stopped.resolve("stop"),
    finished,
  };
}

/** Serves until `stop` resolves, and closes the log. Rejects if there is a problem. */
async function serve(
  { config, warnings }: { readonly config: Config; readonly warnings: readonly string[] },
  stop: Promise<string>,
  ready: (ports: BoundPorts) => void,
): Promise<void> {
  const observation = await observe(config);
  for (const text of warnings) observation.logger.warn(text);
  try {
    const events = { ready, stopping: () => {} };
    const problem = await serveUntil(stop, { config, observation }, events);
    if (problem !== undefined) throw new Error(problem);
  } finally {
    await observation.close(flushTimeOf(config["server.grace_period"]));
  }
}

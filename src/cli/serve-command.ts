import { parseFlags } from "../config/flags.ts";
import { configFlags, flagHelp, type Loaded, loadConfig } from "../config/load.ts";
import { isWorker } from "../workers/supervisor-channel.ts";
import { workerCountOf } from "../workers/worker-count.ts";
import type { Command } from "./command.ts";
import { complain, surplus } from "./output.ts";
import { readSettings } from "./settings.ts";
import { makeObjectsYoung } from "./young-objects.ts";

/** The server is loaded once its configuration is known to be right: help and mistakes need none of it. */
export const serve: Command = {
  name: "serve",
  summary: "run the server",
  flags: configFlags(),
  help: () => `usage: pemba serve [flags]\n\n${flagHelp()}`,

  async run(args) {
    makeObjectsYoung();
    if (isWorker()) {
      const { serveAsWorker } = await import("./serve-as-worker.ts");
      return await serveAsWorker(loaderOf(args));
    }
    const settings = readSettings(args, (words) => surplus("serve", words));
    if (settings.kind === "problems") return complain(...settings.problems);
    const { config } = settings;
    const { workers, warning } = workerCountOf(config);
    const warnings = [...settings.warnings, ...(warning === undefined ? [] : [warning])];
    if (workers === 1) {
      const { serveAlone } = await import("./serve-alone.ts");
      return await serveAlone(config, warnings, loaderOf(args));
    }
    const { serveWithWorkers } = await import("./serve-with-workers.ts");
    return await serveWithWorkers(config, workers, warnings);
  },
};

/** Reads the configuration anew, with the same flags. */
function loaderOf(args: readonly string[]): () => Loaded {
  const { values } = parseFlags(args, configFlags());
  return () => loadConfig({ flags: values, env: process.env });
}

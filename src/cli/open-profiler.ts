import { isIP } from "node:net";

import type { Logger } from "pino";

import { mask } from "../config/mask.ts";
import { type Config, optionKeys, options } from "../config/options.ts";
import { openProfiler, type ProfilerServer } from "../telemetry/profiler.ts";
import { messageOf } from "./output.ts";

/** Opens the profiler if it is enabled and its port is free. Without it, requests still work. */
export async function openConfiguredProfiler(
  config: Config,
  logger: Logger,
): Promise<ProfilerServer | undefined> {
  if (!config["profiler.enabled"]) return undefined;
  const host = config["profiler.host"];
  const port = config["profiler.port"];
  try {
    const profiler = await openProfiler({
      host,
      port,
      commandLine: withoutSecrets(process.argv),
      onProfile: (kind, seconds) => logger.info({ kind, seconds }, "a profile is taken"),
    });
    const { address, family } = profiler.address;
    const place = `${family === "IPv6" ? `[${address}]` : address}:${profiler.address.port}`;
    logger.info(`profiler listens on http://${place}/debug/pprof/`);
    if (!isLoopback(address)) {
      logger.warn(
        `\`profiler.host\`: every client that reaches ${place} can take profiles without a token`,
      );
    }
    return profiler;
  } catch (error) {
    logger.warn(
      `\`profiler.port\`: the profiler is not started, cannot listen on ${host}:${port}: ${messageOf(error)}`,
    );
    return undefined;
  }
}

function isLoopback(address: string): boolean {
  return address === "::1" || (isIP(address) === 4 && address.startsWith("127."));
}

const secretFlags: ReadonlySet<string> = new Set(
  optionKeys.filter((key) => options[key].secret).map((key) => `--${options[key].flag}`),
);

/** The command line with the values of secret flags masked. */
function withoutSecrets(words: readonly string[]): readonly string[] {
  return words.map((word, index) => {
    const [flag = "", ...value] = word.split("=");
    if (secretFlags.has(flag) && value.length > 0) return `${flag}=${mask(value.join("="))}`;
    return secretFlags.has(words[index - 1] ?? "") ? mask(word) : word;
  });
}

import type { Logger } from "pino";

import { PembaError } from "../base/error.ts";
import type { Config } from "../config/options.ts";
import { LogFile } from "../telemetry/log-file.ts";
import { type LogSink, standardOutput } from "../telemetry/log-sink.ts";
import { createLogger, type LoggerOptions } from "../telemetry/logger.ts";
import { warn } from "./output.ts";

/** The log as it is configured. Fails when its file cannot be written. */
export function openLogger(
  config: Config,
  besides: Pick<LoggerOptions, "tap" | "place"> = {},
): Logger {
  const sink = openSink(config["logger.file"]);
  const level = config["logger.level"];
  return createLogger({ level, output: config["logger.output"], sink, ...besides });
}

/** Programs that rotate logs send SIGHUP when they have moved the file away. */
function openSink(path: string): LogSink {
  if (path === "") return standardOutput();
  try {
    const file = new LogFile(path, (problem) => warn(`logger.file: ${problem}`));
    process.on("SIGHUP", () => file.reopen());
    return file;
  } catch (cause) {
    throw new PembaError("INVALID_ARGUMENT", `logger.file: cannot write to \`${path}\``, { cause });
  }
}

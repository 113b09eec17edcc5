import { type DestinationStream, type Logger, pino } from "pino";
import { PinoPretty } from "pino-pretty";

export interface LoggerOptions {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly output: "text" | "json";
  /** Path of a file; empty for standard output. */
  readonly file: string;
}

/** A log line never carries headers, bodies or URIs of databases: callers pass fields one by one. */
export function createLogger(options: LoggerOptions): Logger {
  const destination = pino.destination({
    dest: options.file === "" ? 1 : options.file,
    // A line that is buffered when the process is killed is lost, and that line matters most.
    sync: true,
  });
  return pino({ level: options.level, base: null }, formed(options, destination));
}

function formed(
  options: LoggerOptions,
  destination: ReturnType<typeof pino.destination>,
): DestinationStream {
  if (options.output === "json") return destination;
  return PinoPretty({
    destination,
    colorize: options.file === "" && process.stdout.isTTY,
    translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l",
    sync: true,
  });
}

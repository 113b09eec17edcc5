import { type DestinationStream, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";

import type { LogSink } from "./log-sink.ts";

export interface LoggerOptions {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly output: "text" | "json";
  readonly sink: LogSink;
}

/** A log line never carries headers, bodies or URIs of databases: callers pass fields one by one. */
export function createLogger({ level, output, sink }: LoggerOptions): Logger {
  return pino({ level, base: null }, output === "json" ? sink : asText(sink));
}

function asText(sink: LogSink): DestinationStream {
  const pretty = prettyFactory({
    colorize: sink.isTerminal,
    translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l",
  });
  return { write: (line) => sink.write(pretty(line)) };
}

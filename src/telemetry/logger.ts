import { type DestinationStream, type Logger, type LoggerOptions as PinoOptions, pino } from "pino";
import { prettyFactory } from "pino-pretty";

import type { Telemetry } from "../base/telemetry.ts";
import type { LogSink } from "./log-sink.ts";

export interface LoggerOptions {
  readonly level: "error" | "warn" | "info" | "debug";
  readonly output: "text" | "json";
  readonly sink: LogSink;
  /** Also gets every line, as JSON. */
  readonly tap?: ((line: string) => void) | undefined;
  /** Gives the trace that a line belongs to. */
  readonly place?: Telemetry["place"] | undefined;
  /** Set in a worker. Undefined in the only process of an instance, and in the supervisor. */
  readonly worker?: LoggingWorker | undefined;
}

/** The worker whose lines a log has beside those of others. */
export interface LoggingWorker {
  /** Is in each line. */
  readonly number: number;
  /** While it is true, lines below `error` are left out. */
  readonly isQuiet: () => boolean;
}

/**
 * Creates the logger. A log line must never contain headers, bodies or database URIs, so callers
 * pass fields one by one.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, output, sink, tap, place, worker } = options;
  const written = output === "json" ? sink : asText(sink, worker);
  return pino(
    {
      level,
      base: worker === undefined ? null : { worker: worker.number },
      ...(place !== undefined && { mixin: () => fieldsOf(place()) }),
      ...(worker !== undefined && { hooks: { logMethod: unlessQuiet(worker) } }),
    },
    tap === undefined ? written : both(written, { write: tap }),
  );
}

/** In the numbers of the logger. */
const errorLevel = 50;

function unlessQuiet({ isQuiet }: LoggingWorker): LogHook {
  return function log(words, method, level) {
    if (level >= errorLevel || !isQuiet()) method.apply(this, words);
  };
}

type LogHook = NonNullable<NonNullable<PinoOptions["hooks"]>["logMethod"]>;

function fieldsOf(place: ReturnType<Telemetry["place"]>): object {
  return place === undefined ? {} : { trace_id: place.traceId, span_id: place.spanId };
}

function both(one: DestinationStream, other: DestinationStream): DestinationStream {
  return {
    write: (line) => {
      one.write(line);
      other.write(line);
    },
  };
}

function asText(sink: LogSink, worker: LoggingWorker | undefined): DestinationStream {
  const pretty = prettyFactory({
    colorize: sink.isTerminal,
    translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l",
    ...(worker !== undefined && { messageFormat: "worker {worker}: {msg}", ignore: "worker" }),
  });
  return { write: (line) => sink.write(pretty(line)) };
}

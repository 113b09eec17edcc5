import { type DestinationStream, type Logger, pino } from "pino";
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
}

/**
 * Creates the logger. A log line must never contain headers, bodies or database URIs, so callers
 * pass fields one by one.
 */
export function createLogger({ level, output, sink, tap, place }: LoggerOptions): Logger {
  const written = output === "json" ? sink : asText(sink);
  return pino(
    { level, base: null, ...(place !== undefined && { mixin: () => fieldsOf(place()) }) },
    tap === undefined ? written : both(written, { write: tap }),
  );
}

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

function asText(sink: LogSink): DestinationStream {
  const pretty = prettyFactory({
    colorize: sink.isTerminal,
    translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l",
  });
  return { write: (line) => sink.write(pretty(line)) };
}

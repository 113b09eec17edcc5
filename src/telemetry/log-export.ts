import {
  type AnyValue,
  type Context,
  type Logger,
  ROOT_CONTEXT,
  SeverityNumber,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import {
  BatchLogRecordProcessor,
  LoggerProvider,
  type LogRecordExporter,
} from "@opentelemetry/sdk-logs";

import { type ExportReport, reportOutages } from "./outage.ts";
import { type ResourceIdentity, resourceOf } from "./resource.ts";
import { headersOf, metadataOf, type Target } from "./target.ts";
import { within } from "./within.ts";

export interface LogExport {
  /** Exports a log line, given as JSON. Returns at once. Lines beyond the limit are dropped. */
  readonly write: (line: string) => void;
  /** Sends the remaining lines, for at most that many milliseconds. Never fails. */
  readonly close: (withinMs: number) => Promise<void>;
}

/** Exports log lines in batches, besides writing them. */
export async function openLogExport(
  target: Target,
  identity: ResourceIdentity,
  report: ExportReport,
): Promise<LogExport> {
  const exporter = await exporterOf(target);
  reportOutages(exporter, { signal: "logs", target, report });
  const provider = new LoggerProvider({
    resource: resourceOf(target.serviceName, identity),
    processors: [new BatchLogRecordProcessor({ exporter })],
  });
  const logger = provider.getLogger("pemba", identity.version);
  return {
    write: (line) => emit(logger, line),
    close: async (withinMs) => await within(withinMs, [provider.shutdown()]),
  };
}

async function exporterOf({ protocol, url, headers }: Target): Promise<LogRecordExporter> {
  if (protocol === "grpc") {
    const { OTLPLogExporter } = await import("@opentelemetry/exporter-logs-otlp-grpc");
    return new OTLPLogExporter({ url, metadata: metadataOf(headers) });
  }
  const { OTLPLogExporter } = await import("@opentelemetry/exporter-logs-otlp-proto");
  return new OTLPLogExporter({ url, headers: headersOf(headers) });
}

/** The levels in log lines, from the least important one. */
const severities: readonly (readonly [level: number, text: string, number: SeverityNumber])[] = [
  [20, "DEBUG", SeverityNumber.DEBUG],
  [30, "INFO", SeverityNumber.INFO],
  [40, "WARN", SeverityNumber.WARN],
  [50, "ERROR", SeverityNumber.ERROR],
  [60, "FATAL", SeverityNumber.FATAL],
];

function emit(logger: Logger, line: string): void {
  const { level, time, msg, trace_id: traceId, span_id: spanId, ...fields } = fieldsOf(line);
  const [, severityText, severityNumber] =
    severities.find(([known]) => known === level) ?? ([0, "INFO", SeverityNumber.INFO] as const);
  logger.emit({
    timestamp: typeof time === "number" ? time : Date.now(),
    severityNumber,
    severityText,
    body: msg,
    attributes: fields,
    context: contextOf(traceId, spanId),
  });
}

type Fields = Record<string, AnyValue>;

/** The logger writes objects. A line of another form is exported as it is. */
function fieldsOf(line: string): Fields {
  const value: unknown = JSON.parse(line);
  return isMap(value) ? value : { msg: line };
}

/** All values of JSON can be exported. */
function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function contextOf(traceId: AnyValue, spanId: AnyValue): Context {
  if (typeof traceId !== "string" || typeof spanId !== "string") return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.NONE });
}

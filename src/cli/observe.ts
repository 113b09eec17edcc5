import { randomUUID } from "node:crypto";

import type { Logger } from "pino";

import { addressOf } from "../base/address.ts";
import { PembaError } from "../base/error.ts";
import { packageVersion } from "../base/package-version.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { Config } from "../config/options.ts";
import type { ProcessMeasures } from "../telemetry/combine-measures.ts";
import type { LogExport } from "../telemetry/log-export.ts";
import { LogFile } from "../telemetry/log-file.ts";
import { type LogSink, standardOutput } from "../telemetry/log-sink.ts";
import { createLogger, type LoggerOptions, type LoggingWorker } from "../telemetry/logger.ts";
import type { WorkersMeasures } from "../telemetry/measures.ts";
import type { OpenTelemetry } from "../telemetry/open.ts";
import type { ExportReport } from "../telemetry/outage.ts";
import { type GivenTarget, type Target, targetOf } from "../telemetry/target.ts";
import { messageOf, warn } from "./output.ts";
import { hostOf } from "./servers.ts";

/** The log and the telemetry of the process. */
export interface Observation {
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  /** Reads the measures of a worker. Undefined in other processes, and if there are none. */
  readonly readMeasures?: (() => Promise<ProcessMeasures>) | undefined;
  /** Sends the rest, for at most that many milliseconds. Never fails. */
  close(withinMs: number): Promise<void>;
}

/** Which process of an instance is observed, and the id of the instance. */
export type ObservedProcess = { readonly instance: string } & (
  | { readonly kind: "only" }
  | { readonly kind: "supervisor"; readonly workers: WorkersMeasures }
  | ({ readonly kind: "worker" } & LoggingWorker)
);

/**
 * Opens the log and the exporters. The export packages are loaded only if they are used, because
 * that takes longer than the rest of the start.
 */
export async function observe(
  config: Config,
  observed: ObservedProcess = { kind: "only", instance: randomUUID() },
): Promise<Observation> {
  let log: OpenLog | undefined;
  let telemetry = noTelemetry;
  const report = {
    warn: (message: string) => log?.logger.warn(message),
    info: (message: string) => log?.logger.info(message),
  };
  const lines = await openLines(config, observed, {
    ...report,
    failed: (signal) => telemetry.add("pemba.telemetry.failures", 1, { signal }),
  });
  log = openLogger(config, {
    tap: lines?.write,
    worker: observed.kind === "worker" ? observed : undefined,
    ...(config["tracer.enabled"] && { place: () => telemetry.place() }),
  });
  const { logger, close: closeLog } = log;
  const opened = await openOthers(config, observed, report);
  if (opened !== undefined) telemetry = opened.telemetry;
  if (opened?.scrapePort !== undefined) {
    logger.info(`metrics are read from ${addressOf(scrapeHost(config), opened.scrapePort)}`);
  }
  return {
    logger,
    telemetry,
    readMeasures: opened?.read,
    close: async (withinMs) => {
      // Closed last, because its lines may report that the other exports failed.
      const start = performance.now();
      await opened?.close(withinMs);
      await lines?.close(Math.max(0, withinMs - (performance.now() - start)));
      closeLog();
    },
  };
}

async function openLines(
  config: Config,
  { instance }: ObservedProcess,
  report: ExportReport,
): Promise<LogExport | undefined> {
  if (!config["logger.enabled"]) return undefined;
  const { openLogExport } = await import("../telemetry/log-export.ts");
  const target = targetOf("logs", givenTarget(config, "logger"));
  return await openLogExport(target, { version: packageVersion(), instance }, report);
}

async function openOthers(
  config: Config,
  observed: ObservedProcess,
  report: Omit<ExportReport, "failed">,
): Promise<OpenTelemetry | undefined> {
  const isScraped = config["meter.prometheus.enabled"];
  const isMeasured = config["meter.enabled"] || isScraped;
  const isTraced = config["tracer.enabled"] && observed.kind !== "supervisor";
  if (!isTraced && !isMeasured) return undefined;
  // The supervisor exports the measures of its workers with its own.
  const exports = observed.kind !== "worker";
  const { openTelemetry } = await import("../telemetry/open.ts");
  const port = config["meter.prometheus.port"];
  const host = scrapeHost(config);
  const target = (section: "tracer" | "meter"): Target =>
    targetOf(section === "tracer" ? "traces" : "metrics", givenTarget(config, section));
  try {
    return await openTelemetry({
      traces: isTraced ? target("tracer") : undefined,
      measures: isMeasured
        ? {
            push:
              exports && config["meter.enabled"]
                ? { target: target("meter"), intervalMs: config["meter.interval"] * 1_000 }
                : undefined,
            scrape: exports && isScraped ? { host, port } : undefined,
            serviceName: config["meter.service_name"],
          }
        : undefined,
      version: packageVersion(),
      instance: observed.instance,
      measured: observed,
      report,
    });
  } catch (cause) {
    const message = `meter.prometheus.port: cannot listen on ${host}:${port}: ${messageOf(cause)}`;
    throw new PembaError("INVALID_ARGUMENT", message, { cause });
  }
}

function scrapeHost(config: Config): string {
  return config["meter.prometheus.host"] === "" ? hostOf(config) : config["meter.prometheus.host"];
}

function givenTarget(config: Config, section: "tracer" | "meter" | "logger"): GivenTarget {
  return {
    exporter: config[`${section}.exporter`],
    protocol: config[`${section}.protocol`],
    endpoint: config[`${section}.endpoint`],
    insecure: config[`${section}.insecure`],
    urlpath: config[`${section}.urlpath`],
    headers: config[`${section}.headers`],
    serviceName: config[`${section}.service_name`],
  };
}

interface OpenLog {
  readonly logger: Logger;
  /** Closes the file of the log, and listens for signals no longer. */
  readonly close: () => void;
}

/** Opens the configured log. Fails if its file cannot be written. */
export function openLogger(
  config: Config,
  besides: Pick<LoggerOptions, "tap" | "place" | "worker"> = {},
): OpenLog {
  const { "logger.file": path, "logger.level": level, "logger.output": output } = config;
  const { sink, close } =
    path === "" ? { sink: standardOutput(), close: () => {} } : openFile(path);
  return { logger: createLogger({ level, output, sink, ...besides }), close };
}

/** Log rotation sends SIGHUP after it has moved the file. */
function openFile(path: string): { readonly sink: LogSink; readonly close: () => void } {
  try {
    const file = new LogFile(path, (problem) => warn(`logger.file: ${problem}`));
    const reopen = (): void => file.reopen();
    process.on("SIGHUP", reopen);
    return {
      sink: file,
      close: () => {
        process.off("SIGHUP", reopen);
        reopen();
      },
    };
  } catch (cause) {
    throw new PembaError("INVALID_ARGUMENT", `logger.file: cannot write to \`${path}\``, { cause });
  }
}

import type { Logger } from "pino";

import { addressOf } from "../base/address.ts";
import { PembaError } from "../base/error.ts";
import { packageVersion } from "../base/package-version.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import type { Config } from "../config/options.ts";
import type { LogExport } from "../telemetry/log-export.ts";
import { LogFile } from "../telemetry/log-file.ts";
import { type LogSink, standardOutput } from "../telemetry/log-sink.ts";
import { createLogger, type LoggerOptions } from "../telemetry/logger.ts";
import type { OpenTelemetry } from "../telemetry/open.ts";
import type { ExportReport } from "../telemetry/outage.ts";
import { type GivenTarget, type Target, targetOf } from "../telemetry/target.ts";
import { messageOf, warn } from "./output.ts";
import { hostOf } from "./servers.ts";

/** The log and the telemetry of the process. */
export interface Observation {
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  /** Sends the rest, for at most that many milliseconds. Never fails. */
  close(withinMs: number): Promise<void>;
}

/**
 * Opens the log and the exporters. The export packages are loaded only if they are used, because
 * that takes longer than the rest of the start.
 */
export async function observe(config: Config): Promise<Observation> {
  let logger: Logger | undefined;
  let telemetry = noTelemetry;
  const report = {
    warn: (message: string) => logger?.warn(message),
    info: (message: string) => logger?.info(message),
  };
  const lines = await openLines(config, {
    ...report,
    failed: (signal) => telemetry.add("pemba.telemetry.failures", 1, { signal }),
  });
  logger = openLogger(config, {
    tap: lines?.write,
    ...(config["tracer.enabled"] && { place: () => telemetry.place() }),
  });
  const opened = await openOthers(config, report);
  if (opened !== undefined) telemetry = opened.telemetry;
  if (opened?.scrapePort !== undefined) {
    logger.info(`metrics are read from ${addressOf(scrapeHost(config), opened.scrapePort)}`);
  }
  return {
    logger,
    telemetry,
    close: async (withinMs) => {
      // Closed last, because its lines may report that the other exports failed.
      const start = performance.now();
      await opened?.close(withinMs);
      await lines?.close(Math.max(0, withinMs - (performance.now() - start)));
    },
  };
}

async function openLines(config: Config, report: ExportReport): Promise<LogExport | undefined> {
  if (!config["logger.enabled"]) return undefined;
  const { openLogExport } = await import("../telemetry/log-export.ts");
  const target = targetOf("logs", givenTarget(config, "logger"));
  return await openLogExport(target, packageVersion(), report);
}

async function openOthers(
  config: Config,
  report: Omit<ExportReport, "failed">,
): Promise<OpenTelemetry | undefined> {
  const isScraped = config["meter.prometheus.enabled"];
  const isMeasured = config["meter.enabled"] || isScraped;
  if (!config["tracer.enabled"] && !isMeasured) return undefined;
  const { openTelemetry } = await import("../telemetry/open.ts");
  const port = config["meter.prometheus.port"];
  const host = scrapeHost(config);
  const target = (section: "tracer" | "meter"): Target =>
    targetOf(section === "tracer" ? "traces" : "metrics", givenTarget(config, section));
  try {
    return await openTelemetry({
      traces: config["tracer.enabled"] ? target("tracer") : undefined,
      measures: isMeasured
        ? {
            push: config["meter.enabled"]
              ? { target: target("meter"), intervalMs: config["meter.interval"] * 1_000 }
              : undefined,
            scrape: isScraped ? { host, port } : undefined,
            serviceName: config["meter.service_name"],
          }
        : undefined,
      version: packageVersion(),
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

/** Opens the configured log. Fails if its file cannot be written. */
export function openLogger(
  config: Config,
  besides: Pick<LoggerOptions, "tap" | "place"> = {},
): Logger {
  const sink = openSink(config["logger.file"]);
  const level = config["logger.level"];
  return createLogger({ level, output: config["logger.output"], sink, ...besides });
}

/** Log rotation sends SIGHUP after it has moved the file. */
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

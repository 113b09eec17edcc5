import { anyText, boolean, host, integer, type Kind, listOf, maybe, oneOf, port } from "../kind.ts";
import { type Option, option } from "../option.ts";

/** Products with exporters of their own also accept OTLP. */
const elsewhere =
  "Jaeger, SigNoz and other collectors take otlp at their ports 4317 and 4318, Google Cloud by a collector";

const exporters = ["otlp", "otlp-http", "otlp-grpc"] as const;
const traceExporters = [...exporters, "zipkin"] as const;

function exporter<const T extends string>(...names: readonly T[]): Kind<T> {
  const kind = oneOf(...names);
  return { ...kind, expected: `${kind.expected} (${elsewhere})` };
}

/** The address of a collector. */
const endpoint: Kind<string> = {
  expected: "host:port, or a URL such as https://collector.example:4318 without credentials",
  schema: { type: ["string", "number", "boolean"], pattern: String.raw`^[^?#@\s]*$` },
  read: (text) => {
    if (/[?#@\s]/.test(text)) return undefined;
    const url = URL.parse(text.includes("://") ? text : `http://${text}`);
    return url !== null && /^https?:$/.test(url.protocol) ? text : undefined;
  },
};

/** A header that is sent with each export, such as a token. */
const header: Kind<string> = {
  expected: "headers such as authorization:Bearer abc",
  schema: { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*$" },
  // The first colon ends the name.
  read: (text) => (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[ -~]*$/.test(text) ? text : undefined),
};

/** The keys of one section: what they are for, and how their flags and variables begin. */
function section(what: string, flag: string) {
  return {
    endpoint: option(maybe(endpoint), {
      flag: `${flag}-endpoint`,
      default: "",
      about: `where ${what} are sent; empty for a collector on this machine, unencrypted`,
    }),
    insecure: option(boolean, {
      flag: `${flag}-insecure`,
      default: "false",
      about: `whether ${what} are sent unencrypted, unless the endpoint is a URL and says so`,
    }),
    urlpath: option(anyText, {
      flag: `${flag}-urlpath`,
      otherVariable: `${flag.toUpperCase()}_URL_PATH`,
      default: "",
      about: `path of ${what} over HTTP; empty for that of the endpoint or the usual one`,
    }),
    headers: headers(what, flag),
    protocol: option(oneOf("http", "grpc"), {
      flag: `${flag}-protocol`,
      default: "http",
      about: `protocol of ${what} with the exporter otlp`,
    }),
    serviceName: option(anyText, {
      flag: `${flag}-service-name`,
      default: "pemba",
      about: `name of this service in ${what}`,
    }),
  };
}

function headers(what: string, flag: string): Option<readonly string[]> {
  return option(listOf(header), {
    flag: `${flag}-headers`,
    default: "",
    about: `headers that are sent with ${what}, \`name:value\` each`,
    secret: true,
  });
}

const logs = section("exported log lines", "log");
const traces = section("traces", "tracer");
const measures = section("metrics", "meter");

/** Log lines that are exported besides being written. */
export const logExportOptions = {
  "logger.enabled": option(boolean, {
    flag: "log-enabled",
    default: "false",
    about: "whether log lines are also sent to a collector",
  }),
  "logger.exporter": option(exporter(...exporters), {
    flag: "log-exporter",
    default: "otlp",
    about: "how log lines are sent; otlp by `logger.protocol`",
  }),
  "logger.endpoint": logs.endpoint,
  "logger.insecure": logs.insecure,
  "logger.urlpath": logs.urlpath,
  "logger.headers": logs.headers,
  "logger.protocol": logs.protocol,
  "logger.service_name": logs.serviceName,
} as const;

/** Traces and metrics of requests. */
export const telemetryOptions = {
  "tracer.enabled": option(boolean, {
    flag: "tracer-enabled",
    default: "false",
    about: "whether requests are traced",
  }),
  "tracer.exporter": option(exporter(...traceExporters), {
    flag: "tracer-exporter",
    default: "otlp",
    about: "how traces are sent; otlp by `tracer.protocol`",
  }),
  "tracer.endpoint": traces.endpoint,
  "tracer.insecure": traces.insecure,
  "tracer.urlpath": traces.urlpath,
  "tracer.headers": traces.headers,
  "tracer.protocol": traces.protocol,
  "tracer.service_name": traces.serviceName,
  "meter.enabled": option(boolean, {
    flag: "meter-enabled",
    default: "false",
    about: "whether metrics are sent to a collector",
  }),
  "meter.exporter": option(exporter(...exporters), {
    flag: "meter-exporter",
    default: "otlp",
    about: "how metrics are sent; otlp by `meter.protocol`",
  }),
  "meter.endpoint": measures.endpoint,
  "meter.insecure": measures.insecure,
  "meter.urlpath": measures.urlpath,
  "meter.headers": measures.headers,
  "meter.protocol": measures.protocol,
  "meter.service_name": measures.serviceName,
  "meter.interval": option(integer({ from: 1, to: 86_400 }), {
    flag: "meter-interval",
    default: "300",
    about: "seconds from one sending of metrics to the next",
  }),
  "meter.prometheus.enabled": option(boolean, {
    flag: "meter-prometheus-enabled",
    default: "false",
    about: "whether Prometheus can read the metrics at /metrics, without a token",
  }),
  "meter.prometheus.host": option(maybe(host), {
    flag: "meter-prometheus-host",
    default: "",
    about: "address that Prometheus reads from; empty for that of `server.host`",
  }),
  "meter.prometheus.port": option(port, {
    flag: "meter-prometheus-port",
    default: "9464",
    about: "port that Prometheus reads from",
  }),
} as const;

/** The log: its level, format and file. */
export const loggerOptions = {
  "logger.level": option(oneOf("error", "warn", "info", "debug"), {
    flag: "log-level",
    default: "info",
    about: "minimum level of log lines; debug has one line for each request",
  }),
  "logger.output": option(oneOf("text", "json"), {
    flag: "log-output",
    default: "text",
    about: "form of a log line",
  }),
  "logger.file": option(anyText, {
    flag: "log-file",
    default: "",
    about: "file or device to log to, no pipe; empty for standard output",
  }),
} as const;

/** Profiles of processor time and memory. */
export const profilerOptions = {
  "profiler.enabled": option(boolean, {
    flag: "profiler-enabled",
    default: "true",
    about: "whether profiles can be taken; it costs nothing while none is taken",
  }),
  "profiler.host": option(anyText, {
    flag: "profiler-host",
    default: "127.0.0.1",
    about: "address of the profiler, which needs no token; empty for all interfaces",
  }),
  "profiler.port": option(port, {
    flag: "profiler-port",
    default: "6060",
    about: "port of the profiler; if it is in use, the profiler is not started",
  }),
} as const;

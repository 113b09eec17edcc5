import { Metadata } from "@grpc/grpc-js";

/** A kind of telemetry, exported to a target of its own. */
export type Signal = "traces" | "metrics" | "logs";

/** The target of a signal. */
export interface Target {
  readonly protocol: "http" | "grpc" | "zipkin";
  /** The whole URL. For gRPC, without a path, because its methods have fixed paths. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly serviceName: string;
}

export interface Header {
  readonly name: string;
  readonly value: string;
}

/** A target as the configuration gives it: see docs/observability.md. */
export interface GivenTarget {
  readonly exporter: "otlp" | "otlp-http" | "otlp-grpc" | "zipkin";
  readonly protocol: "http" | "grpc";
  /** `host:port` or a URL. Empty for a collector on this machine. */
  readonly endpoint: string;
  readonly insecure: boolean;
  readonly urlpath: string;
  /** Each as `name:value`. The value may contain colons. */
  readonly headers: readonly string[];
  readonly serviceName: string;
}

/**
 * The default addresses of collectors on the same machine, by the conventions of OpenTelemetry and
 * Zipkin.
 */
const ownMachine = {
  http: "http://localhost:4318",
  grpc: "http://localhost:4317",
  zipkin: "http://localhost:9411",
} as const;

export function targetOf(signal: Signal, given: GivenTarget): Target {
  const protocol = protocolOf(given);
  const base = baseOf(given, protocol);
  return {
    protocol,
    url: protocol === "grpc" ? base.origin : withPath(base, given.urlpath, paths[protocol](signal)),
    headers: given.headers.map(headerOf),
    serviceName: given.serviceName,
  };
}

const paths = {
  http: (signal: Signal): string => `/v1/${signal}`,
  zipkin: (): string => "/api/v2/spans",
} as const;

function protocolOf({ exporter, protocol }: GivenTarget): Target["protocol"] {
  switch (exporter) {
    case "otlp":
      return protocol;
    case "otlp-http":
      return "http";
    case "otlp-grpc":
      return "grpc";
    case "zipkin":
      return "zipkin";
  }
}

/** The scheme of a URL decides whether the connection is encrypted. */
function baseOf({ endpoint, insecure }: GivenTarget, protocol: Target["protocol"]): URL {
  if (endpoint === "") return new URL(ownMachine[protocol]);
  if (endpoint.includes("://")) return new URL(endpoint);
  return new URL(`${insecure || protocol === "zipkin" ? "http" : "https"}://${endpoint}`);
}

/** A configured path takes precedence, then that of the URL, then the default of the protocol. */
function withPath(base: URL, path: string, usual: string): string {
  const url = new URL(base);
  const own = path === "" ? base.pathname : path;
  url.pathname = own === "/" ? usual : own;
  return url.href;
}

function headerOf(text: string): Header {
  const colon = text.indexOf(":");
  return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() };
}

/** Headers in the form of HTTP exporters. */
export function headersOf(headers: readonly Header[]): Record<string, string> {
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}

/** Headers in the form of gRPC exporters. */
export function metadataOf(headers: readonly Header[]): Metadata {
  const metadata = new Metadata();
  for (const { name, value } of headers) metadata.set(name, value);
  return metadata;
}

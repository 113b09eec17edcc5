import { must } from "../base/assert.ts";
import {
  anyText,
  boolean,
  duration,
  headerWord,
  integer,
  issuerUrl,
  type Kind,
  listOf,
  maybe,
  oneOf,
  port,
  postgresUri,
  size,
  someDuration,
} from "./kind.ts";

/** One key of the configuration, from which its YAML path, flag, variable and help follow. */
export interface Option<T> {
  readonly kind: Kind<T>;
  /** As it would be written in a file. */
  readonly default: string;
  /** Without its dashes; the variable is its upper-case form with `SERVICE_` before it. */
  readonly flag: string;
  /** One sentence without an end. */
  readonly about: string;
  /** Values are never shown. */
  readonly secret: boolean;
}

interface Details {
  readonly default: string;
  readonly flag: string;
  readonly about: string;
  readonly secret?: true;
}

function option<T>(kind: Kind<T>, details: Details): Option<T> {
  return { kind, secret: false, ...details };
}

/** Those of JWS that prove who signed; `none` does not. */
const rsaMethods = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const curveMethods = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const;
const secretMethods = ["HS256", "HS384", "HS512"] as const;
const signingMethods = [...rsaMethods, ...curveMethods, ...secretMethods] as const;

/** Every key there is, in the order of the documentation. */
export const options = {
  "server.host": option(anyText, {
    flag: "server-host",
    default: "",
    about: "address to listen on; empty for all interfaces",
  }),
  "server.rate_limit": option(integer({ from: 1, to: 1_000_000_000 }), {
    flag: "server-rate-limit",
    default: "100",
    about: "most requests a second, of REST and gRPC together; more are refused",
  }),
  "server.http.enabled": option(boolean, {
    flag: "http-enabled",
    default: "true",
    about: "whether REST is served",
  }),
  "server.http.port": option(port, {
    flag: "http-port",
    default: "3476",
    about: "port of REST",
  }),
  "server.http.tls.enabled": option(boolean, {
    flag: "http-tls-enabled",
    default: "false",
    about: "whether REST is served over TLS alone",
  }),
  "server.http.tls.cert": option(anyText, {
    flag: "http-tls-cert-path",
    default: "",
    about: "PEM file of the certificate of REST, with those it rests on; read anew when it changes",
  }),
  "server.http.tls.key": option(anyText, {
    flag: "http-tls-key-path",
    default: "",
    about: "PEM file of the private key of that certificate",
  }),
  "server.grpc.port": option(port, {
    flag: "grpc-port",
    default: "3478",
    about: "port of gRPC",
  }),
  "server.grpc.tls.enabled": option(boolean, {
    flag: "grpc-tls-enabled",
    default: "false",
    about: "whether gRPC is served over TLS alone",
  }),
  "server.grpc.tls.cert": option(anyText, {
    flag: "grpc-tls-cert-path",
    default: "",
    about: "PEM file of the certificate of gRPC, with those it rests on; read anew when it changes",
  }),
  "server.grpc.tls.key": option(anyText, {
    flag: "grpc-tls-key-path",
    default: "",
    about: "PEM file of the private key of that certificate",
  }),
  "authn.enabled": option(boolean, {
    flag: "authn-enabled",
    default: "false",
    about: "whether every request needs a bearer token",
  }),
  "authn.method": option(maybe(oneOf("preshared", "oidc")), {
    flag: "authn-method",
    default: "",
    about: "what a token is: one of the keys of this server, or signed by an issuer",
  }),
  "authn.preshared.keys": option(listOf(headerWord), {
    flag: "authn-preshared-keys",
    default: "",
    about: "the keys, each of which may do everything in every tenant",
    secret: true,
  }),
  "authn.oidc.issuer": option(maybe(issuerUrl), {
    flag: "authn-oidc-issuer",
    default: "",
    about: "OpenID Connect issuer, to the letter as it stands in tokens",
  }),
  "authn.oidc.audience": option(anyText, {
    flag: "authn-oidc-audience",
    default: "",
    about: "audience that a token must be for",
  }),
  "authn.oidc.refresh_interval": option(someDuration, {
    flag: "authn-oidc-refresh-interval",
    default: "15m",
    about: "time from one fetch of the keys of the issuer to the next",
  }),
  "authn.oidc.backoff_interval": option(someDuration, {
    flag: "authn-oidc-backoff-interval",
    default: "12s",
    about:
      "time from a fetch that failed to the next, doubled each time; unknown keys cause no more than `backoff_max_retries` fetches within it",
  }),
  "authn.oidc.backoff_frequency": option(duration, {
    flag: "authn-oidc-backoff-frequency",
    default: "0s",
    about: "least time between two fetches that tokens with unknown keys cause",
  }),
  "authn.oidc.backoff_max_retries": option(integer({ from: 1, to: 1_000 }), {
    flag: "authn-oidc-backoff-max-retries",
    default: "5",
    about: "how often a fetch that failed is repeated before the next interval",
  }),
  "authn.oidc.valid_methods": option(listOf(oneOf(...signingMethods)), {
    flag: "authn-oidc-valid-methods",
    default: "RS256,HS256",
    about: "signing algorithms of tokens that are accepted",
  }),
  "logger.level": option(oneOf("error", "warn", "info", "debug"), {
    flag: "log-level",
    default: "info",
    about: "least important lines that are logged; debug has one line for each request",
  }),
  "logger.output": option(oneOf("text", "json"), {
    flag: "log-output",
    default: "text",
    about: "form of a log line",
  }),
  "logger.file": option(anyText, {
    flag: "log-file",
    default: "",
    about: "file to log to; empty for standard output",
  }),
  "service.permission.bulk_limit": option(integer({ from: 1, to: 100 }), {
    flag: "service-permission-bulk-limit",
    default: "100",
    about: "most items of one bulk check",
  }),
  "service.permission.concurrency_limit": option(integer({ from: 1, to: 100_000 }), {
    flag: "service-permission-concurrency-limit",
    default: "100",
    about:
      "most permission questions that are worked on at the same time; ten times as many wait, more are refused",
  }),
  "service.schema.cache.max_cost": option(size, {
    flag: "service-schema-cache-max-cost",
    default: "10MiB",
    about: "memory for schemas that are kept compiled",
  }),
  "service.watch.enabled": option(boolean, {
    flag: "service-watch-enabled",
    default: "false",
    about: "whether changes can be watched; writers of such a server wake the watchers of others",
  }),
  "database.engine": option(oneOf("memory", "postgres"), {
    flag: "database-engine",
    default: "memory",
    about: "where data is kept; memory loses it when the process ends",
  }),
  "database.uri": option(postgresUri, {
    flag: "database-uri",
    default: "",
    about: "the Postgres database, for whatever has no URI of its own",
    secret: true,
  }),
  "database.writer.uri": option(postgresUri, {
    flag: "database-writer-uri",
    default: "",
    about: "the Postgres database that takes writes; empty for `database.uri`",
    secret: true,
  }),
  "database.auto_migrate": option(boolean, {
    flag: "database-auto-migrate",
    default: "true",
    about: "whether pending migrations are applied at start",
  }),
  "database.max_connections": option(integer({ from: 1, to: 10_000 }), {
    flag: "database-max-connections",
    default: "20",
    about:
      "most connections to the database that requests have; health has one of its own, and so has watching",
  }),
  "database.max_connection_lifetime": option(duration, {
    flag: "database-max-connection-lifetime",
    default: "300s",
    about: "after which a connection is replaced; 0 for never",
  }),
  "database.max_connection_idle_time": option(duration, {
    flag: "database-max-connection-idle-time",
    default: "60s",
    about: "after which an unused connection is closed; 0 for never",
  }),
  "database.connect_timeout": option(duration, {
    flag: "database-connect-timeout",
    default: "0s",
    about: "how long making a connection may take; 0 for as long as it takes",
  }),
  "database.max_data_per_write": option(integer({ from: 1, to: 100_000 }), {
    flag: "database-max-data-per-write",
    default: "1000",
    about: "most tuples and attributes, counted together, of one write",
  }),
  "database.max_retries": option(integer({ from: 0, to: 1_000 }), {
    flag: "database-max-retries",
    default: "10",
    about: "how often a transaction is repeated that lost a conflict or its connection",
  }),
  "database.watch_buffer_size": option(integer({ from: 1, to: 100_000 }), {
    flag: "database-watch-buffer-size",
    default: "100",
    about: "most transactions that are read ahead for one who watches",
  }),
  "database.garbage_collection.enabled": option(boolean, {
    flag: "database-garbage-collection-enabled",
    default: "false",
    about: "whether history is removed that is older than the window; tokens from then are refused",
  }),
  "database.garbage_collection.interval": option(someDuration, {
    flag: "database-garbage-collection-interval",
    default: "200h",
    about: "time from one removal of history to the next",
  }),
  "database.garbage_collection.window": option(someDuration, {
    flag: "database-garbage-collection-window",
    default: "200h",
    about: "how long a token stays good at least",
  }),
  "database.garbage_collection.timeout": option(someDuration, {
    flag: "database-garbage-collection-timeout",
    default: "5m",
    about: "after which a removal of history stops, to go on later",
  }),
} as const satisfies Readonly<Record<string, Option<unknown>>>;

export type OptionKey = keyof typeof options;

/** The value of every key. */
export type Config = {
  readonly [Key in OptionKey]: (typeof options)[Key] extends Option<infer T> ? T : never;
};

export const optionKeys: readonly OptionKey[] = Object.keys(options).filter(isOptionKey);

export function isOptionKey(key: string): key is OptionKey {
  return Object.hasOwn(options, key);
}

/** The variable of a flag: `http-port` is `SERVICE_HTTP_PORT`. */
export function variableOf(flag: string): string {
  return `SERVICE_${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** The defaults are written by us, so they are values of their kinds. */
export function defaultOf<T>(given: Option<T>): T {
  return must(given.kind.read(given.default), `a default that is not ${given.kind.expected}`);
}

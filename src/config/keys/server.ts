import { autoOr } from "../auto-or.ts";
import {
  anyText,
  boolean,
  duration,
  headerName,
  host,
  integer,
  listOf,
  maybe,
  oneOf,
  origin,
  port,
  size,
} from "../kind.ts";
import { option } from "../option.ts";

/** The listeners. */
export const serverOptions = {
  "server.host": option(maybe(host), {
    flag: "server-host",
    default: "",
    about: "address to listen on; empty for all interfaces",
  }),
  "server.workers": option(autoOr(integer({ from: 1, to: 1_024 })), {
    flag: "server-workers",
    default: "auto",
    about:
      "processes that serve the same ports, at most one for each processor; auto is 1 on the memory engine, and on Postgres one for each processor, or for every second one if Postgres is on this machine, each with 5 of `database.max_connections` and 512 MiB or more",
  }),
  "server.rate_limit": option(integer({ from: 1, to: 1_000_000_000 }), {
    flag: "server-rate-limit",
    default: "100",
    about: "maximum requests per second, REST and gRPC together; more are refused",
    otherVariable: "RATE_LIMIT",
  }),
  "server.connection_limit": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "server-connection-limit",
    default: "2000",
    about:
      "most connections of REST, and as many of gRPC; when one more comes, the one that has been idle for longest is closed, and when none is idle, the new one is refused",
  }),
  "server.tenant.request_limit": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "server-tenant-request-limit",
    default: "1000",
    about:
      "most requests of a tenant that are under way or wait, over REST and gRPC together; of all tenants, four times as many; more are refused",
  }),
  "server.tenant.stream_limit": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "server-tenant-stream-limit",
    default: "50",
    about:
      "most streams of changes of a tenant; of all tenants, four times as many; more are refused",
  }),
  "server.tenant.body_limit": option(size, {
    flag: "server-tenant-body-limit",
    default: "8MiB",
    about:
      "most bytes that bodies above 64 KiB of a tenant have together at the same time; of all tenants, four times as many; a body beyond that is refused before it is read",
  }),
  "server.value_limit": option(integer({ from: 1_000, to: 10_000_000 }), {
    flag: "server-value-limit",
    default: "50000",
    about:
      "most keys, values and brackets in a body above 64 KiB; never less than 20 times `database.max_data_per_write`",
  }),
  "server.grace_period": option(duration, {
    flag: "server-grace-period",
    default: "25s",
    about: "time that running requests have to end when the process stops",
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
  "server.http.console": option(boolean, {
    flag: "http-console",
    default: "true",
    about: "whether REST also serves the console, a page for browsers, at `/console`",
  }),
  "server.http.grpc_target_host": option(host, {
    flag: "http-grpc-target-host",
    default: "127.0.0.1",
    about: "no effect, since REST is no gateway to gRPC; accepted for existing files",
  }),
  "server.http.json": option(oneOf("documented", "protobuf"), {
    flag: "http-json",
    default: "documented",
    about:
      "JSON of REST for requests without the header `Pemba-Json`: as the description has it, or the canonical JSON of the protobuf messages",
  }),
  "server.http.cors_allowed_origins": option(listOf(origin), {
    flag: "http-cors-allowed-origins",
    default: "*",
    about: "origins whose pages may use REST; only named origins, not `*`, may send credentials",
  }),
  "server.http.cors_allowed_headers": option(listOf(headerName), {
    flag: "http-cors-allowed-headers",
    default: "*",
    about: "request headers that such pages may send",
  }),
  "server.http.tls.enabled": option(boolean, {
    flag: "http-tls-enabled",
    default: "false",
    about: "whether REST is served only over TLS",
  }),
  "server.http.tls.cert": option(anyText, {
    flag: "http-tls-cert-path",
    default: "",
    about: "PEM file of the certificate of REST and its chain; read again when it changes",
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
  "server.grpc.stream_limit": option(integer({ from: 1, to: 1_000_000 }), {
    flag: "grpc-stream-limit",
    default: "200",
    about: "most calls that are open on one connection; clients wait with further ones",
  }),
  "server.grpc.tls.enabled": option(boolean, {
    flag: "grpc-tls-enabled",
    default: "false",
    about: "whether gRPC is served only over TLS",
  }),
  "server.grpc.tls.cert": option(anyText, {
    flag: "grpc-tls-cert-path",
    default: "",
    about: "PEM file of the certificate of gRPC and its chain; read again when it changes",
  }),
  "server.grpc.tls.key": option(anyText, {
    flag: "grpc-tls-key-path",
    default: "",
    about: "PEM file of the private key of that certificate",
  }),
} as const;

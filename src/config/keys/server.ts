import { anyText, boolean, integer, port } from "../kind.ts";
import { option } from "../option.ts";

/** The listeners. */
export const serverOptions = {
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
} as const;

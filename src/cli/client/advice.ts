import { codeOf, messageOf } from "../output.ts";
import { fieldOf, serverMessageOf } from "./fields.ts";

/*
 * What a user of the command line can do about a failed request. The errors of the server are for every
 * client, so they name no flags.
 */

const namesServer = "`--url`, PEMBA_URL or a context names the server";

/** What is wrong, of a request without an answer. */
export function problemOf(error: unknown, url: string): string {
  return connectionProblem(error, url) ?? messageOf(error);
}

/** The same of an answer that is an error, behind the URL if it is not from Pemba. */
export function refusalFrom(url: string, status: number, body: unknown): string {
  const refusal = refusalOf(status, body);
  return serverMessageOf(body) === undefined ? `${url}: ${refusal}` : refusal;
}

/** What is wrong, of an answer that is an error. */
export function refusalOf(status: number, body: unknown): string {
  const message = serverMessageOf(body);
  if (message !== undefined) return `${message}${advices[codeOf(message) ?? ""] ?? ""}`;
  const proxy = proxyStatuses.has(status) ? "does a proxy reach the server? " : "";
  return `status ${status}, which is not from Pemba: ${proxy}${namesServer}`;
}

/** With which proxies answer for a server that they do not reach, or that is to be spared. */
const proxyStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** By the code of the error, behind its message. */
const advices: Readonly<Record<string, string>> = {
  MISSING_BEARER_TOKEN: ": `--token`, PEMBA_TOKEN or a context gives the token",
  TENANT_NOT_FOUND: ": `pemba tenant list` shows those that there are",
};

/** Of a certificate whose authority this machine does not know. */
const distrustCodes: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const wrongPort = "expected the port of REST (`server.http.port`), not that of gRPC";

/** Undefined for an error whose own text says enough. Others have a text for programmers. */
function connectionProblem(error: unknown, url: string): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (fieldOf(cause, "name") === "HTTPParserError") {
    return `the server does not speak HTTP/1.1 there, ${wrongPort}`;
  }
  const code = fieldOf(cause, "code");
  if (code === "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL") {
    return `the server does not speak HTTP/1.1 there, ${wrongPort}`;
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return "the server does not speak TLS, expected a URL with http";
  }
  if (distrustCodes.has(code)) {
    return "the certificate of the server is not trusted, name a file with that of its authority by --ca";
  }
  if (code === "ECONNREFUSED")
    return `${messageOf(cause)}: does a server run there? ${namesServer}`;
  // A server with TLS closes the connection so, and also one that ends.
  if (code === "UND_ERR_SOCKET" && url.startsWith("http:")) {
    return `${messageOf(error)}: if the server has TLS, the URL begins with https`;
  }
  return undefined;
}

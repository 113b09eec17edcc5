import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";

import { databaseParameters } from "../../../base/database-parameters.ts";
import { PembaError } from "../../../base/error.ts";
import { hostIn } from "../../../base/host-uris.ts";

/** What the driver needs to reach a server. */
export interface DriverTarget {
  readonly uri: string;
  /** `prefer` and `require` encrypt and check nothing; only the first goes on without. */
  readonly ssl: false | "prefer" | "require" | ConnectionOptions;
  /**
   * Where it may be, when the driver would not read that in the URI: options `host` and `port`, which
   * are lists here. The types of the driver lack these.
   */
  readonly places: object | undefined;
}

const usualPort = 5432;

/**
 * What the driver needs for the URIs of the hosts of a database, which differ in the host alone. The
 * file of trusted certificates is read each time, so one that was replaced is used from the next
 * connection on. Fails with INVALID_ARGUMENT for parameters that do not fit, and with UNAVAILABLE while
 * the file cannot be read.
 */
export function driverTarget(uris: readonly [string, ...string[]]): DriverTarget {
  const parameters = databaseParameters(uris[0]);
  if (typeof parameters === "string") throw refusal(parameters);
  const { tlsMode, rootCertificates, left } = parameters;
  const trusted = rootCertificates !== undefined && { ca: readCertificates(rootCertificates) };
  const target = { uri: left, places: placesOf(uris) };
  switch (tlsMode) {
    case "disable":
      return { ...target, ssl: false };
    case "prefer":
    case "require":
      return { ...target, ssl: tlsMode };
    case "verify-ca":
      return { ...target, ssl: { ...trusted, checkServerIdentity: () => undefined } };
    case "verify-full": {
      const host = hostIn(left);
      // For an IP address the driver names no server, and then `localhost` would be looked for.
      const check: ConnectionOptions["checkServerIdentity"] = (name, certificate) =>
        checkServerIdentity(isIP(host) === 0 ? name : host, certificate);
      return { ...target, ssl: { ...trusted, checkServerIdentity: check } };
    }
  }
}

/** Of several hosts a URI has one, and an IPv6 address the driver would cut at its first colon. */
function placesOf(uris: readonly [string, ...string[]]): object | undefined {
  const hosts = uris.map(hostIn);
  if (uris.length === 1 && isIP(hostIn(uris[0])) !== 6) return undefined;
  return {
    host: hosts,
    port: uris.map((uri) => Number(URL.parse(uri)?.port) || usualPort),
  };
}

function readCertificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw untrusted(`the file of \`sslrootcert\` cannot be read: ${reason}`);
  }
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw untrusted(`the file of \`sslrootcert\` has no certificate: \`${path}\``);
}

/** It may be replaced at this moment. Clients are not told of files. */
function untrusted(reason: string): PembaError {
  const cause = new Error(`\`database.uri\`: ${reason}`);
  return new PembaError("UNAVAILABLE", "the certificate of the database cannot be checked", {
    cause,
  });
}

function refusal(reason: string): PembaError {
  return new PembaError("INVALID_ARGUMENT", `\`database.uri\`: ${reason}`);
}

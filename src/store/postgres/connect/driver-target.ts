import { readFileSync } from "node:fs";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";

import { databaseParameters } from "../../../base/database-parameters.ts";
import { PembaError } from "../../../base/error.ts";

/** What the driver is told of a server. */
export interface DriverTarget {
  readonly uri: string;
  /** `prefer` and `require` encrypt and check nothing; only the first goes on without. */
  readonly ssl: false | "prefer" | "require" | ConnectionOptions;
}

/**
 * What the driver is told for the URI of one host. The file of trusted certificates is read each
 * time, so one that was replaced is used from the next connection on. Fails with INVALID_ARGUMENT.
 */
export function driverTarget(uri: string): DriverTarget {
  const parameters = databaseParameters(uri);
  if (typeof parameters === "string") throw refusal(parameters);
  const { tlsMode, rootCertificates, left } = parameters;
  const trusted = rootCertificates !== undefined && { ca: readCertificates(rootCertificates) };
  switch (tlsMode) {
    case "disable":
      return { uri: left, ssl: false };
    case "prefer":
    case "require":
      return { uri: left, ssl: tlsMode };
    case "verify-ca":
      return { uri: left, ssl: { ...trusted, checkServerIdentity: () => undefined } };
    case "verify-full": {
      const host = decodeURIComponent(URL.parse(left)?.hostname ?? "");
      // For an IP address the driver names no server, and then `localhost` would be looked for.
      const check: ConnectionOptions["checkServerIdentity"] = (_name, certificate) =>
        checkServerIdentity(host, certificate);
      return { uri: left, ssl: { ...trusted, checkServerIdentity: check } };
    }
  }
}

function readCertificates(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refusal(`the file of \`sslrootcert\` cannot be read: ${reason}`);
  }
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw refusal(`the file of \`sslrootcert\` has no certificate: \`${path}\``);
}

function refusal(reason: string): PembaError {
  return new PembaError("INVALID_ARGUMENT", `\`database.uri\`: ${reason}`);
}

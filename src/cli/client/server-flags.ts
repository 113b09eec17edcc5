import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import type { FlagKind } from "../../config/flags.ts";
import { messageOf } from "../output.ts";
import type { Server } from "./send.ts";

const defaultUrl = "http://localhost:3476";
const defaultTenant = "t1";

/** The flags of every command that asks a server. */
export const serverFlags: ReadonlyMap<string, FlagKind> = new Map([
  ["url", {}],
  ["token", {}],
  ["tenant", {}],
  ["ca", {}],
]);

/** What a help text says of them. */
export const serverHelp = `  --url     server (PEMBA_URL; default ${defaultUrl})
  --token   bearer token, if the server needs one (PEMBA_TOKEN)
  --tenant  tenant (PEMBA_TENANT; default ${defaultTenant})
  --ca      file with certificates to trust, in PEM, beside those of the system`;

/**
 * The server of the flags, or of the variables of the environment, and trusts the certificates of `ca`
 * from now on. Adds what is wrong to `problems`.
 */
export function readServer(values: ReadonlyMap<string, string>, problems: string[]): Server {
  const url = (values.get("url") ?? givenText("PEMBA_URL") ?? defaultUrl).replace(/\/+$/, "");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    const name = values.has("url") ? "--url" : "PEMBA_URL";
    problems.push(`${name}: \`${url}\` is not a URL, expected one such as ${defaultUrl}`);
  }
  const ca = values.get("ca");
  const problem = ca === undefined ? undefined : trust(ca);
  if (problem !== undefined) problems.push(problem);
  return {
    url,
    tenant: values.get("tenant") ?? givenText("PEMBA_TENANT") ?? defaultTenant,
    token: values.get("token") ?? givenText("PEMBA_TOKEN"),
  };
}

/** An empty variable counts as none. */
function givenText(variable: string): string | undefined {
  const text = process.env[variable];
  return text === "" ? undefined : text;
}

/** Trusts the certificates of a file in this process. Returns what is wrong with the file. */
function trust(file: string): string | undefined {
  try {
    const certificate = readFileSync(file, "utf8");
    if (!certificate.includes("-----BEGIN CERTIFICATE-----")) {
      return `--ca: \`${file}\` has no certificate in PEM`;
    }
    setDefaultCACertificates([...getCACertificates("default"), certificate]);
    return undefined;
  } catch (error) {
    return `--ca: \`${file}\` cannot be used: ${messageOf(error)}`;
  }
}

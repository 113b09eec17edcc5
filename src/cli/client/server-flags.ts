import { readFileSync } from "node:fs";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

import type { FlagKind } from "../../config/flags.ts";
import { messageOf } from "../output.ts";
import { currentContext, type KeptServer, namedContext, readContexts } from "./contexts.ts";
import type { Server } from "./send.ts";

const defaultUrl = "http://localhost:3476";
export const defaultTenant = "t1";

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
  --ca      file with certificates to trust, in PEM, beside those of the system

What neither a flag nor a variable gives is that of the context in use (\`pemba context\`), or of the one
that PEMBA_CONTEXT names.`;

/**
 * The server of the flags, of the variables of the environment, or of a context, and trusts the
 * certificates of `ca` from now on. Adds what is wrong to `problems`.
 */
export function readServer(values: ReadonlyMap<string, string>, problems: string[]): Server {
  const given = values.get("url") ?? givenText("PEMBA_URL");
  const context = contextFor(given, problems);
  const url = trimmed(given ?? context?.url ?? defaultUrl);
  problems.push(...urlProblem(values.has("url") ? "--url" : "PEMBA_URL", url));
  const ca = values.get("ca") ?? context?.ca;
  const problem = ca === undefined ? undefined : trust(ca);
  if (problem !== undefined) problems.push(problem);
  return {
    url,
    tenant: values.get("tenant") ?? givenText("PEMBA_TENANT") ?? context?.tenant ?? defaultTenant,
    token: values.get("token") ?? givenText("PEMBA_TOKEN") ?? context?.token,
  };
}

/**
 * The context that is named, or else the one in use. None if a URL of another server is given: the token is not meant
 * for that one.
 */
function contextFor(url: string | undefined, problems: string[]): KeptServer | undefined {
  try {
    const named = givenText("PEMBA_CONTEXT");
    const context = named === undefined ? currentContext() : namedContext(readContexts(), named);
    const isOther = url !== undefined && trimmed(url) !== trimmed(context?.url ?? "");
    return isOther ? undefined : context;
  } catch (error) {
    problems.push(messageOf(error));
    return undefined;
  }
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, "");
}

/** What is wrong with a URL, whose source is named. */
export function urlProblem(source: string, url: string): readonly string[] {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? "")) return [];
  return [`${source}: \`${url}\` is not a URL, expected one such as ${defaultUrl}`];
}

/** An empty variable counts as none. */
function givenText(variable: string): string | undefined {
  const text = process.env[variable];
  return text === "" ? undefined : text;
}

/** What is wrong with a file of certificates. Undefined if nothing is. */
export function certificateProblem(file: string): string | undefined {
  return usedCertificates(file, () => undefined);
}

/** Trusts the certificates of a file in this process. Returns what is wrong with the file. */
function trust(file: string): string | undefined {
  return usedCertificates(file, (pem) => {
    setDefaultCACertificates([...getCACertificates("default"), pem]);
  });
}

function usedCertificates(file: string, take: (pem: string) => void): string | undefined {
  try {
    const pem = readFileSync(file, "utf8");
    if (!pem.includes("-----BEGIN CERTIFICATE-----")) {
      return `--ca: \`${file}\` has no certificate in PEM`;
    }
    take(pem);
    return undefined;
  } catch (error) {
    return `--ca: \`${file}\` cannot be used: ${messageOf(error)}`;
  }
}

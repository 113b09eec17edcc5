import { type JSONWebKeySet } from "jose";

import { type KeySet, keySetOf } from "./key-set.ts";

/** The longest duration of one request to an issuer, including its body, in milliseconds. */
const timeout = 2_000;

/** The largest body, in bytes. Hundreds of keys fit. */
const bodyMax = 1024 * 1024;

/**
 * Returns a function that fetches the keys of an issuer. The location of the keys is read once, and
 * again if the keys are not there. Fails with an `Error` whose message says which part failed.
 */
export function keysOfIssuer(issuer: string): (signal: AbortSignal) => Promise<KeySet> {
  let keysUrl: URL | undefined;
  return async (signal) => {
    const url = (keysUrl ??= await discover(issuer, signal));
    try {
      return keySetOf(asKeySet(await fetchJson(url, signal), url));
    } catch (error) {
      keysUrl = undefined;
      throw error;
    }
  };
}

/** The location of the keys, which the issuer publishes. */
async function discover(issuer: string, signal: AbortSignal): Promise<URL> {
  const url = new URL(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const document = await fetchJson(url, signal);
  const named = textOf(document, "issuer");
  // Tokens contain the exact name of the issuer, so no token would ever be accepted.
  if (named !== issuer) {
    throw new Error(`${url.href} names another issuer: \`${named ?? ""}\``);
  }
  const keysUrl = URL.parse(textOf(document, "jwks_uri") ?? "");
  const allowed = url.protocol === "https:" ? ["https:"] : ["https:", "http:"];
  if (keysUrl === null || !allowed.includes(keysUrl.protocol)) {
    throw new Error(`${url.href} has no \`jwks_uri\` of ${allowed.join(" or ")}`);
  }
  return keysUrl;
}

async function fetchJson(url: URL, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json" },
      // A redirect is not followed: keys must come from the published location.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    }
    const json: unknown = JSON.parse(await textOfBody(response));
    return json;
  } catch (cause) {
    throw new Error(`cannot read ${url.href}`, { cause });
  }
}

/** Counts the decompressed bytes, and stops at the limit. */
async function textOfBody({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bodyMax) throw new Error(`more than ${bodyMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function asKeySet(value: unknown, url: URL): JSONWebKeySet {
  if (!isKeySet(value)) throw new Error(`${url.href} is not a key set`);
  return value;
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return (
    typeof value === "object" &&
    value !== null &&
    "keys" in value &&
    Array.isArray(value.keys) &&
    value.keys.every((key) => typeof key === "object" && key !== null)
  );
}

function textOf(document: unknown, name: string): string | undefined {
  if (typeof document !== "object" || document === null) return undefined;
  const value: unknown = Reflect.get(document, name);
  return typeof value === "string" ? value : undefined;
}

import type { Metadata } from "@grpc/grpc-js";

import type { Credential } from "../auth/credential.ts";

/** By what came with the call: nothing else is there before its handler is, and afterwards. */
const credentials = new WeakMap<Metadata, Credential>();

const noRights: Credential = { name: undefined, scopes: new Set(), tenants: new Set() };

/** Takes note of what the token of a call lets it do. */
export function setCredential(metadata: Metadata, credential: Credential): void {
  credentials.set(metadata, credential);
}

/** What the token of a call lets it do; nothing where none was asked for. */
export function credentialOf(metadata: Metadata): Credential {
  return credentials.get(metadata) ?? noRights;
}

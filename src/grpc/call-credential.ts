import type { Metadata } from "@grpc/grpc-js";

import type { Credential } from "../auth/credential.ts";

/**
 * Keyed by the metadata, the only object that exists both before the call has a handler and
 * afterwards.
 */
const credentials = new WeakMap<Metadata, Credential>();

const noRights: Credential = { name: undefined, scopes: new Set(), tenants: new Set() };

/** Stores the rights of the token of a call. */
export function setCredential(metadata: Metadata, credential: Credential): void {
  credentials.set(metadata, credential);
}

/** The rights of the token of a call. None if no token was verified. */
export function credentialOf(metadata: Metadata): Credential {
  return credentials.get(metadata) ?? noRights;
}

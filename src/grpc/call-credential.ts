import type { Credential } from "../auth/credential.ts";
import type { CallHead } from "./request-call.ts";

/**
 * Those of calls that the library keeps to itself until they have a handler. They are keyed by the metadata,
 * the only object that exists before and afterwards.
 */
const credentials = new WeakMap<CallHead, Credential>();

export const noRights: Credential = { name: undefined, scopes: new Set(), tenants: new Set() };

/** A call, which may know its rights itself. */
export interface CredentialBearer {
  readonly metadata: CallHead;
  readonly credential?: Credential;
}

/** Stores the rights of the token of a call that does not know them itself. */
export function setCredential(metadata: CallHead, credential: Credential): void {
  credentials.set(metadata, credential);
}

/** The rights of the token of a call. None if no token was verified. */
export function credentialOf({ metadata, credential }: CredentialBearer): Credential {
  return credential ?? credentials.get(metadata) ?? noRights;
}

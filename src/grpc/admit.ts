import { Metadata, type ServerInterceptor, ServerInterceptingCall } from "@grpc/grpc-js";

import { type Admission, admit } from "../auth/admission.ts";
import { type Credential, permitScope, permitTenant } from "../auth/credential.ts";
import { errorOf, type PembaError } from "../base/error.ts";
import type { TenantId } from "../base/tuple.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { probes } from "../intake/intake.ts";
import { credentialOf, setCredential } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { scopeOfPath } from "./method-name.ts";
import { type CallBytes, countBytes, streamOf, takeInCall } from "./take-in.ts";
import { tenantIn } from "./tenant-in.ts";

/** The part of a refused call that its frame needs. */
interface Refused {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
}

/**
 * Checks the rate limit and the token when the head of a call has arrived, so that no message is
 * read from a client without rights, and queues the start of each message. `refused` is called for a
 * refused call before it ends. Calls of open paths are not checked, and only their bytes are counted.
 */
export function admitCalls(
  admission: Admission,
  refused: (route: string, call: Refused, error: PembaError) => void,
  { isOpen }: { readonly isOpen: (path: string) => boolean },
): ServerInterceptor {
  const { intake } = admission;
  return ({ path }, call) => {
    const isFree = isOpen(path);
    const stream = streamOf(call);
    let head: Metadata | undefined;
    let bytes: CallBytes | undefined;
    let beginQueued: ((begin: () => void) => void) | undefined;
    let isRefused = false;
    const refuse = (thrown: unknown): void => {
      if (isRefused) return;
      isRefused = true;
      const error = errorOf(thrown);
      const metadata = head ?? new Metadata();
      refused(path, { metadata, sendMetadata: (sent) => call.sendMetadata(sent) }, error);
      call.sendStatus(errorStatus(error));
    };
    // A token takes nothing from the share of a tenant that it is not for. Other methods than those of
    // tenants may begin with any text.
    const tenantOf = (message: Buffer): TenantId | undefined => {
      if (isFree) return probes;
      if (scopeOfPath(path) === undefined) return undefined;
      const tenant = tenantIn(message);
      if (head !== undefined && tenant !== undefined) permitTenant(credentialOf(head), tenant);
      return tenant;
    };
    const receive = (metadata: Metadata): void => {
      const ofCompressed = isFree ? probes : onlyTenantOf(credentialOf(metadata));
      bytes = countBytes(intake, stream, { tenantOf, ofCompressed, refuse });
    };
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, pass) => {
            head = metadata;
            const goOn = (): void => {
              receive(metadata);
              pass(metadata);
            };
            if (isFree) goOn();
            else admitCall(admission, path, metadata).then(goOn, refuse);
          },
          onReceiveMessage: (message: Buffer, pass) => {
            // What was under way when the call was refused may still come.
            if (isRefused) return;
            const begin = (): void => pass(message);
            try {
              bytes?.arrived(message);
              if (isFree) {
                begin();
                return;
              }
              beginQueued ??= takeInCall(intake, stream, tenantOf(message));
            } catch (error) {
              refuse(error);
              return;
            }
            beginQueued(begin);
          },
        });
      },
    });
  };
}

/** The tenant of a token for one tenant; undefined for a token that may ask for others. */
function onlyTenantOf({ tenants }: Credential): TenantId | undefined {
  const [only, ...others] = tenants ?? [];
  return others.length === 0 ? (only as TenantId | undefined) : undefined;
}

async function admitCall(admission: Admission, path: string, metadata: Metadata): Promise<void> {
  const credential = await admit(admission, metadata.get("authorization")[0]?.toString());
  setCredential(metadata, credential);
  const scope = scopeOfPath(path);
  if (scope !== undefined) permitScope(credential, scope);
}

/** Health probes have no token. */
export function isHealth(path: string): boolean {
  return path.startsWith(`/${Health.typeName}/`);
}

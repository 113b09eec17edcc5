import { Metadata, type ServerInterceptor, ServerInterceptingCall } from "@grpc/grpc-js";

import { type Admission, admit } from "../auth/admission.ts";
import { permitScope, permitTenant } from "../auth/credential.ts";
import { errorOf, type PembaError } from "../base/error.ts";
import type { TenantId } from "../base/tuple.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { credentialOf, setCredential } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { scopeOfPath } from "./method-name.ts";
import { countBytes, streamOf, takeInCall } from "./take-in.ts";
import { tenantIn } from "./tenant-in.ts";

/** The part of a refused call that its frame needs. */
interface Refused {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
}

/**
 * Checks the rate limit and the token when the head of a call has arrived, so that no message is
 * read from a client without rights, and queues the start of the message. `refused` is called for a
 * refused call before it ends. Open paths are not checked and not counted.
 */
export function admitCalls(
  admission: Admission,
  refused: (route: string, call: Refused, error: PembaError) => void,
  { isOpen }: { readonly isOpen: (path: string) => boolean },
): ServerInterceptor {
  const { intake } = admission;
  return ({ path }, call) => {
    if (isOpen(path)) return new ServerInterceptingCall(call);
    const stream = streamOf(call);
    let head: Metadata | undefined;
    let isTaken = false;
    let isRefused = false;
    const refuse = (thrown: unknown): void => {
      isRefused = true;
      const error = errorOf(thrown);
      const metadata = head ?? new Metadata();
      refused(path, { metadata, sendMetadata: (sent) => call.sendMetadata(sent) }, error);
      call.sendStatus(errorStatus(error));
    };
    // A token takes nothing from the share of a tenant that it is not for.
    const tenantOf = (message: Buffer): TenantId | undefined => {
      const tenant = tenantIn(message);
      if (head !== undefined && tenant !== undefined && scopeOfPath(path) !== undefined) {
        permitTenant(credentialOf(head), tenant);
      }
      return tenant;
    };
    return new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, pass) => {
            head = metadata;
            admitCall(admission, path, metadata).then(() => {
              countBytes(intake, stream, { tenantOf, refuse });
              pass(metadata);
            }, refuse);
          },
          onReceiveMessage: (message: Buffer, pass) => {
            // What was under way when the call was refused may still come.
            if (isRefused) return;
            if (isTaken) {
              pass(message);
              return;
            }
            isTaken = true;
            const begin = (): void => pass(message);
            try {
              takeInCall(intake, stream, { tenant: tenantOf(message), begin });
            } catch (error) {
              refuse(error);
            }
          },
        });
      },
    });
  };
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

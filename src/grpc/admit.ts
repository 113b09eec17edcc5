import { type Metadata, type ServerInterceptor, ServerInterceptingCall } from "@grpc/grpc-js";

import { type Admission, admit } from "../auth/admission.ts";
import { permitScope } from "../auth/permit.ts";
import { errorOf, type PembaError } from "../base/error.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { setCredential } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { scopeOfPath } from "./method-name.ts";

/** The part of a refused call that its frame needs. */
interface Refused {
  readonly metadata: Metadata;
  sendMetadata(metadata: Metadata): void;
}

/**
 * Checks the rate limit and the token when the head of a call has arrived, so that no message is
 * read from a client without rights. `refused` is called for a refused call before it ends. Open
 * paths are not checked.
 */
export function admitCalls(
  admission: Admission,
  refused: (route: string, call: Refused, error: PembaError) => void,
  { isOpen } = { isOpen: isHealth },
): ServerInterceptor {
  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, pass) => {
            if (isOpen(path)) {
              pass(metadata);
              return;
            }
            admitCall(admission, path, metadata).then(
              () => pass(metadata),
              (thrown: unknown) => {
                const error = errorOf(thrown);
                refused(path, { metadata, sendMetadata: (sent) => call.sendMetadata(sent) }, error);
                call.sendStatus(errorStatus(error));
              },
            );
          },
        });
      },
    });
}

async function admitCall(admission: Admission, path: string, metadata: Metadata): Promise<void> {
  const credential = await admit(admission, metadata.get("authorization")[0]?.toString());
  setCredential(metadata, credential);
  const scope = scopeOfPath(path);
  if (scope !== undefined) permitScope(credential, scope);
}

/** Health probes have no token. */
function isHealth(path: string): boolean {
  return path.startsWith(`/${Health.typeName}/`);
}

import {
  Metadata,
  type ServerInterceptor,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
} from "@grpc/grpc-js";

import { type Admission, admit } from "../auth/admission.ts";
import { type Credential, permitScope, permitTenant } from "../auth/credential.ts";
import { errorOf, type PembaError } from "../base/error.ts";
import type { TenantId } from "../base/tuple.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { probes } from "../intake/intake.ts";
import { noRights, setCredential } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { scopeOfPath } from "./method-name.ts";
import {
  type ByteOwners,
  type CallBytes,
  type CallStream,
  countBytes,
  streamOf,
  takeInCall,
} from "./take-in.ts";
import { tenantIn } from "./tenant-in.ts";
import { type CallListener, UnaryCall, type UnaryHandlers } from "./unary-call.ts";

/** The part of a refused call that its frame needs. */
interface Refused {
  readonly metadata: Metadata;
  readonly credential: Credential;
  sendMetadata(metadata: Metadata): void;
}

interface AdmittingParts {
  readonly admission: Admission;
  readonly unary: UnaryHandlers;
  /** Called for a refused call before it ends. */
  readonly refused: (route: string, call: Refused, error: PembaError) => void;
}

/**
 * Checks the rate limit and the token when the head of a call has arrived, so that no message is
 * read from a client without rights, and queues the start of each message. `refused` is called for a
 * refused call before it ends. Calls of open paths are not checked, and only their bytes are counted.
 * Calls whose path is among `unary` are given to their handlers.
 */
export function admitCalls(
  admission: Admission,
  refused: AdmittingParts["refused"],
  { isOpen, unary }: { readonly isOpen: (path: string) => boolean; readonly unary: UnaryHandlers },
): ServerInterceptor {
  const parts = { admission, refused, unary };
  return ({ path }, call) => new AdmittedCall(call, { ...parts, path, isFree: isOpen(path) });
}

/**
 * Stands between the library and the handler of a call, in place of the listeners and responders that the
 * library makes for an interceptor. The library gives nothing on that the handler has not asked for, so
 * what comes needs no queue here.
 */
class AdmittedCall extends ServerInterceptingCall implements CallListener, ByteOwners {
  readonly #call: ServerInterceptingCallInterface;
  readonly #parts: AdmittingParts;
  readonly #path: string;
  /** Neither checked nor queued. */
  readonly #isFree: boolean;
  readonly #stream: CallStream;
  #listener: CallListener | undefined;
  #metadata: Metadata | undefined;
  #credential = noRights;
  #bytes: CallBytes | undefined;
  #beginQueued: ((begin: () => void) => void) | undefined;
  #isRefused = false;
  #isCancelled = false;

  constructor(
    call: ServerInterceptingCallInterface,
    {
      path,
      isFree,
      ...parts
    }: AdmittingParts & { readonly path: string; readonly isFree: boolean },
  ) {
    super(call);
    this.#call = call;
    this.#parts = parts;
    this.#path = path;
    this.#isFree = isFree;
    this.#stream = streamOf(call);
  }

  override start(listener: CallListener): void {
    this.#listener = listener;
    this.#call.start(this);
  }

  override sendMetadata(metadata: Metadata): void {
    this.#call.sendMetadata(metadata);
  }

  override sendMessage(message: Buffer, sent: () => void): void {
    this.#call.sendMessage(message, sent);
  }

  override sendStatus(status: Parameters<ServerInterceptingCallInterface["sendStatus"]>[0]): void {
    this.#call.sendStatus(status);
  }

  onReceiveMetadata(metadata: Metadata): void {
    this.#metadata = metadata;
    if (this.#isFree) {
      this.#goOn(metadata);
      return;
    }
    try {
      const credential = admit(this.#parts.admission, authorizationIn(metadata));
      if (!(credential instanceof Promise)) this.#admitted(metadata, credential);
      else credential.then((given) => this.#admitted(metadata, given)).catch(this.refuse);
    } catch (error) {
      this.refuse(error);
    }
  }

  onReceiveMessage(message: Buffer): void {
    // What was under way when the call was refused may still come.
    if (this.#isRefused || this.#isCancelled) return;
    const begin = (): void => {
      if (!this.#isCancelled) this.#listener?.onReceiveMessage(message);
    };
    try {
      this.#bytes?.arrived(message);
      if (this.#isFree) {
        begin();
        return;
      }
      this.#beginQueued ??= takeInCall(this.#parts.admission.intake, this.#stream, {
        tenant: this.tenantOf(message),
        refuse: this.refuse,
      });
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.#beginQueued(begin);
  }

  onReceiveHalfClose(): void {
    if (!this.#isCancelled) this.#listener?.onReceiveHalfClose();
  }

  onCancel(): void {
    this.#isCancelled = true;
    this.#listener?.onCancel();
  }

  readonly refuse = (thrown: unknown): void => {
    if (this.#isRefused) return;
    this.#isRefused = true;
    const error = errorOf(thrown);
    const call = this.#call;
    const metadata = this.#metadata ?? new Metadata();
    const sendMetadata = (sent: Metadata): void => call.sendMetadata(sent);
    const refused = { metadata, credential: this.#credential, sendMetadata };
    this.#parts.refused(this.#path, refused, error);
    call.sendStatus(errorStatus(error));
  };

  /**
   * A token takes nothing from the share of a tenant that it is not for. Other methods than those of
   * tenants may begin with any text.
   */
  tenantOf(message: Buffer): TenantId | undefined {
    if (this.#isFree) return probes;
    if (scopeOfPath(this.#path) === undefined) return undefined;
    const tenant = tenantIn(message);
    if (tenant !== undefined) permitTenant(this.#credential, tenant);
    return tenant;
  }

  get ofCompressed(): TenantId | undefined {
    if (this.#isFree) return probes;
    return onlyTenantOf(this.#credential);
  }

  #admitted(metadata: Metadata, credential: Credential): void {
    this.#credential = credential;
    const scope = scopeOfPath(this.#path);
    if (scope !== undefined) permitScope(credential, scope);
    this.#goOn(metadata);
  }

  #goOn(metadata: Metadata): void {
    if (this.#isCancelled) return;
    this.#bytes = countBytes(this.#parts.admission.intake, this.#stream, this);
    const credential = this.#credential;
    const handler = this.#parts.unary.get(this.#path);
    if (handler === undefined) setCredential(metadata, credential);
    else this.#listener = new UnaryCall(this, { path: this.#path, metadata, credential, handler });
    this.#listener?.onReceiveMetadata(metadata);
  }
}

/** The tenant of a token for one tenant; undefined for a token that may ask for others. */
function onlyTenantOf({ tenants }: Credential): TenantId | undefined {
  const [only, ...others] = tenants ?? [];
  return others.length === 0 ? (only as TenantId | undefined) : undefined;
}

function authorizationIn(metadata: Metadata): string | undefined {
  return metadata.get("authorization")[0]?.toString();
}

/** Health probes have no token. */
export function isHealth(path: string): boolean {
  return path.startsWith(`/${Health.typeName}/`);
}

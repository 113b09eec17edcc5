import { Metadata } from "@grpc/grpc-js";

import { type Admission, admit } from "../auth/admission.ts";
import { type Credential, permitScope, permitTenant } from "../auth/credential.ts";
import { errorOf, type PembaError } from "../base/error.ts";
import type { NamedTenant } from "../base/tuple.ts";
import { probes } from "../intake/intake.ts";
import { noRights } from "./call-credential.ts";
import { errorStatus } from "./error-status.ts";
import { scopeOfPath } from "./method-name.ts";
import type {
  AnswerHead,
  CallHead,
  CarriedCall,
  IncomingListener,
  RequestHandlers,
} from "./request-call.ts";
import {
  type ByteOwners,
  type CallBytes,
  type CallStream,
  countBytes,
  takeInCall,
} from "./take-in.ts";
import { tenantIn } from "./tenant-in.ts";
import type { UncountedCalls } from "./uncounted-calls.ts";

/** The part of a refused call that its frame needs. */
interface Refused {
  readonly metadata: CallHead;
  readonly credential: Credential;
  sendHead(head: AnswerHead): void;
}

/** What calls need until they have begun. */
export interface AdmittingParts {
  readonly admission: Admission;
  /** Called for a refused call before it ends. */
  readonly refused: (route: string, call: Refused, error: PembaError) => void;
  /** Calls of such a path are not checked, and only their bytes are counted. */
  readonly isOpen: (path: string) => boolean;
  /** Calls of their paths are given to these handlers. */
  readonly handlers: RequestHandlers;
  /** Has all calls that use no share. */
  readonly uncounted: Pick<UncountedCalls, "remove">;
}

/**
 * Is told what comes in on a call, and gives it on to a listener once the call is admitted. Nothing comes
 * that was not asked for, so what comes needs no queue here.
 */
export class AdmittedCall<Head extends CallHead> implements IncomingListener<Head>, ByteOwners {
  readonly #call: CarriedCall;
  readonly #parts: AdmittingParts;
  readonly #path: string;
  /** Neither checked nor queued. */
  readonly #isFree: boolean;
  readonly #stream: CallStream;
  readonly #carrier: object;
  readonly #listen: (head: Head, credential: Credential) => IncomingListener<Head>;
  #listener: IncomingListener<Head> | undefined;
  #metadata: Head | undefined;
  #credential = noRights;
  #bytes: CallBytes | undefined;
  #beginQueued: ((begin: () => void) => void) | undefined;
  #isRefused = false;
  #isCancelled = false;

  /** `listen` is called when the call is admitted. */
  constructor(
    call: CarriedCall,
    {
      parts,
      path,
      stream,
      carrier,
    }: {
      readonly parts: AdmittingParts;
      readonly path: string;
      readonly stream: CallStream;
      /** The stream of HTTP/2 itself. */
      readonly carrier: object;
    },
    listen: (head: Head, credential: Credential) => IncomingListener<Head>,
  ) {
    this.#call = call;
    this.#parts = parts;
    this.#path = path;
    this.#isFree = parts.isOpen(path);
    this.#stream = stream;
    this.#carrier = carrier;
    this.#listen = listen;
  }

  onReceiveMetadata(metadata: Head): void {
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
      this.#beginQueued ??= this.#takeIn(message);
    } catch (error) {
      this.refuse(error);
      return;
    }
    this.#beginQueued(begin);
  }

  onReceiveHalfClose(): void {
    if (this.#isCancelled) return;
    try {
      this.#listener?.onReceiveHalfClose();
    } catch (error) {
      // It would end the process, since the stream calls this.
      this.refuse(error);
    }
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
    const sendHead = (head: AnswerHead): void => call.sendHead(head);
    const refused = { metadata, credential: this.#credential, sendHead };
    this.#parts.refused(this.#path, refused, error);
    call.sendStatus(errorStatus(error));
    // The rest of such a message would cost as much as what has come.
    if (error.code === "PAYLOAD_TOO_LARGE") call.leaveUnread?.();
  };

  /**
   * A token takes nothing from the share of a tenant that it is not for. Other methods than those of
   * tenants may begin with any text.
   */
  tenantOf(message: Buffer): NamedTenant | undefined {
    if (this.#isFree) return probes;
    if (scopeOfPath(this.#path) === undefined) return undefined;
    const tenant = tenantIn(message);
    if (tenant !== undefined) permitTenant(this.#credential, tenant);
    return tenant;
  }

  get ofCompressed(): NamedTenant | undefined {
    if (this.#isFree) return probes;
    return onlyTenantOf(this.#credential);
  }

  #takeIn(message: Buffer): (begin: () => void) => void {
    return takeInCall(this.#parts.admission.intake, this.#stream, {
      tenant: this.tenantOf(message),
      taken: () => this.#parts.uncounted.remove(this.#carrier),
      refuse: this.refuse,
    });
  }

  #admitted(metadata: Head, credential: Credential): void {
    this.#credential = credential;
    const scope = scopeOfPath(this.#path);
    if (scope !== undefined) permitScope(credential, scope);
    this.#goOn(metadata);
  }

  #goOn(metadata: Head): void {
    if (this.#isCancelled) return;
    this.#bytes = countBytes(this.#parts.admission.intake, this.#stream, this);
    this.#listener = this.#listen(metadata, this.#credential);
    this.#listener.onReceiveMetadata(metadata);
  }
}

/** The tenant of a token for one tenant; undefined for a token that may ask for others. */
function onlyTenantOf({ tenants }: Credential): NamedTenant | undefined {
  const [only, ...others] = tenants ?? [];
  return others.length === 0 ? only : undefined;
}

function authorizationIn(metadata: CallHead): string | undefined {
  return metadata.get("authorization")[0]?.toString();
}

import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";

import {
  type Deadline,
  type Metadata,
  type ServerInterceptor,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
} from "@grpc/grpc-js";

import { timerMs } from "../base/pause.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import { AdmittedCall, type AdmittingParts } from "./admitted-call.ts";
import { setCredential } from "./call-credential.ts";
import { DirectCall, isDirect } from "./direct-call.ts";
import {
  type AnswerHead,
  answered,
  type CallHead,
  type CallListener,
  type CarriedCall,
  metadataOf,
  RequestCall,
} from "./request-call.ts";
import { type CallStream, streamOf } from "./take-in.ts";

/** How calls begin that come over the library, and such that do without. */
export interface Admitting {
  readonly interceptor: ServerInterceptor;
  /** Takes a call that the library need not know of. Returns whether it did. */
  readonly direct: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => boolean;
}

/**
 * Checks the rate limit and the token when the head of a call has arrived, so that no message is
 * read from a client without rights, and queues the start of each message.
 */
export function admitCalls(parts: AdmittingParts): Admitting {
  const { unread } = parts.admission.intake;
  return {
    interceptor: ({ path }, call) => new InterceptedCall(call, parts, path),
    direct(stream, headers) {
      const { ":path": path = "" } = headers;
      const handler = parts.handlers.get(path);
      if (handler === undefined || !isDirect(headers)) return false;
      const listen = (call: DirectCall): AdmittedCall<CallHead> =>
        new AdmittedCall(
          call,
          { parts, path, stream: call, carrier: stream },
          (metadata, credential) => {
            const carrier = stream;
            return new RequestCall(call, { path, metadata, credential, handler, unread, carrier });
          },
        );
      new DirectCall(stream, listen).begin(headers);
      return true;
    },
  };
}

/**
 * Stands between the library and the handler of a call, in place of the listeners and responders that the
 * library makes for an interceptor.
 */
class InterceptedCall extends ServerInterceptingCall implements CarriedCall {
  readonly #call: ServerInterceptingCallInterface;
  readonly #parts: AdmittingParts;
  readonly #path: string;

  constructor(call: ServerInterceptingCallInterface, parts: AdmittingParts, path: string) {
    super(call);
    this.#call = call;
    this.#parts = parts;
    this.#path = path;
  }

  override start(listener: CallListener): void {
    const path = this.#path;
    const handler = this.#parts.handlers.get(path);
    const stream = streamOf(this.#call);
    const carrier = stream;
    const { unread } = this.#parts.admission.intake;
    const begun = { parts: this.#parts, path, stream, carrier };
    const admitted = new AdmittedCall<Metadata>(this, begun, (metadata, credential) => {
      if (handler !== undefined) {
        return new RequestCall(this, { path, metadata, credential, handler, unread, carrier });
      }
      setCredential(metadata, credential);
      return listener;
    });
    this.#call.start(admitted);
    endInTime(this.#call, admitted, stream);
  }

  override sendMetadata(metadata: Metadata): void {
    this.#call.sendMetadata(metadata);
  }

  override sendMessage(message: Buffer, sent: () => void): void {
    this.#call.sendMessage(message, sent);
  }

  override sendStatus(sent: Parameters<ServerInterceptingCallInterface["sendStatus"]>[0]): void {
    this.#call.sendStatus(sent);
  }

  sendHead(head: AnswerHead): void {
    this.#call.sendMetadata(metadataOf(head));
  }

  override getDeadline(): Deadline {
    return this.#call.getDeadline();
  }

  answer(message: Buffer): void {
    this.#call.sendMessage(message, () => this.#call.sendStatus(answered));
  }

  send(messages: readonly Buffer[], sent: () => void): void {
    const last = messages.length - 1;
    for (const [index, message] of messages.entries()) {
      this.#call.sendMessage(message, index === last ? sent : ignore);
    }
  }
}

/** In milliseconds: the library sends the status of a late call before. */
const afterDeadlineMs = 10;

/** Cancels a call at its deadline. The library waits until the client has read all that was sent. */
function endInTime(
  call: Pick<CarriedCall, "getDeadline">,
  listener: { onCancel(): void },
  stream: CallStream,
): void {
  const leftMs = Number(call.getDeadline()) - Date.now();
  if (!Number.isFinite(leftMs)) return;
  const ms = timerMs(Math.max(0, leftMs) + afterDeadlineMs);
  const timer = setTimeout(() => listener.onCancel(), ms);
  stream.on("close", () => clearTimeout(timer));
}

/** Messages go in their order, so only the last one tells that all have gone. */
function ignore(): void {}

/** Health probes have no token. */
export function isHealth(path: string): boolean {
  return path.startsWith(`/${Health.typeName}/`);
}

import { Server } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { type Authenticator, createAdmission } from "../auth/admission.ts";
import type { Certificate } from "../auth/certificate.ts";
import { addressOf } from "../base/address.ts";
import { errorOf } from "../base/error.ts";
import { statusOf } from "../base/status.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import { Permission } from "../gen/base/v1/permission_pb.ts";
import { admitCalls } from "../grpc/admit.ts";
import { credentialsOf } from "../grpc/credentials.ts";
import { healthMethods } from "../grpc/health.ts";
import { limitConnections } from "../grpc/limit-connections.ts";
import { closeBroken, takeCalls } from "../grpc/listeners.ts";
import { methodName, pathOf } from "../grpc/method-name.ts";
import { type CallFrame, type GrpcContext, serve } from "../grpc/method.ts";
import { registerPath, type RequestHandler } from "../grpc/request-call.ts";
import { UncountedCalls } from "../grpc/uncounted-calls.ts";
import { Intake } from "../intake/intake.ts";
import { type MessageMethod, unary } from "../messages/method.ts";
import { answerCheck } from "../messages/methods/permission.ts";
import { parseSchemaVersion, parseTenantId } from "../service/field.ts";
import type { Service } from "../service/service.ts";
import { logFailure } from "../telemetry/failure.ts";

/** Every answer says of which instance it is. */
export const instanceHeader = "x-pemba-instance";

/** A check says which head of its tenant was seen where it came in. */
export const headHeader = "x-pemba-head";

/** Instances ask each other without a limit: who asks was counted where the request came in. */
const unlimited = { perSecond: Number.POSITIVE_INFINITY, take: () => true };
const unbounded = Number.POSITIVE_INFINITY;

/** Each process of each instance has one. A client without a key may open others. */
const connectionsMax = 2_000;

/** More than an instance takes in from its own clients at the same time. */
const uncountedMax = 10_000;

/** The part of an instance that others ask. */
export interface PeerServer {
  /** Resolves to the port. Fails as binding it does. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** Ends what is under way: those who asked for it ask themselves. */
  close(): void;
}

/**
 * Serves checks and health to other instances. This instance answers them itself, so that a check
 * takes one hop at most: `service` must be one that asks no other instance.
 */
export function buildPeerServer(options: {
  readonly service: Service;
  readonly instance: string;
  readonly authenticator: Authenticator | undefined;
  readonly certificate: Certificate | undefined;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
}): PeerServer {
  const { service, certificate } = options;
  const intake = new Intake({
    requestsOfTenant: unbounded,
    streamsOfTenant: unbounded,
    bytesOfTenant: unbounded,
    connections: connectionsMax,
    callsOfConnection: unbounded,
    values: unbounded,
    unreadBytes: unbounded,
  });
  const admission = createAdmission({
    rateLimit: unlimited,
    intake,
    authenticator: options.authenticator,
  });
  const handlers = new Map<string, RequestHandler>();
  const uncounted = new UncountedCalls(uncountedMax);
  const admitting = admitCalls({
    admission,
    uncounted,
    refused: () => {},
    isOpen: () => false,
    handlers,
  });
  const server = new Server({ interceptors: [admitting.interceptor] });
  const frame = frameOf(options, intake);
  for (const one of [checkMethod(service), ...healthMethods(service)].map((each) => serve(each))) {
    if (one.kind !== "unary") continue;
    const path = pathOf(one.method);
    handlers.set(path, one.handler(frame));
    registerPath(server, path);
  }
  return {
    async listen({ host, port }) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      server.bindAsync(addressOf(host, port), credentialsOf(certificate), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
      const bound = await promise;
      closeBroken(server);
      takeCalls(server, admitting.direct);
      limitConnections(server, { intake, uncounted, isEncrypted: certificate !== undefined });
      return bound;
    },
    close: () => server.forceShutdown(),
  };
}

/**
 * A standby that this instance asks may lack the schema that was in force where the check came in, and
 * what was seen there must not be forgotten on the way.
 */
function checkMethod(service: Service): MessageMethod<GrpcContext> {
  return unary(Permission.method.check, async (request, call: GrpcContext) => {
    const tenant = parseTenantId(request.tenantId);
    const head = parseSchemaVersion(tenant, call.metadata.get(headHeader)[0]?.toString());
    if (head !== undefined) service.store.schemas.learnHead(tenant, head);
    return await answerCheck(service, request, call);
  });
}

interface Teller {
  readonly instance: string;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
}

/**
 * A request has its line in the log of the instance that it came to. A check goes on here in its trace;
 * how others look for this instance is no request.
 */
function frameOf({ instance, logger, telemetry }: Teller, intake: Intake): CallFrame {
  return {
    intake,
    errorOf,
    begin(method, call) {
      const head = { [instanceHeader]: instance };
      const teller = method === Permission.method.check ? telemetry : noTelemetry;
      const record = teller.begin({
        method: methodName(pathOf(method)),
        transport: "peer",
        traceparent: call.metadata.get("traceparent")[0]?.toString(),
        tracestate: undefined,
      });
      return {
        head,
        run: record.run,
        end(outcome) {
          const error = outcome.kind === "failed" ? outcome.error : undefined;
          if (error !== undefined && statusOf[error.kind].http >= 500) {
            record.run(() => logFailure(logger, error));
          }
          record.end(error?.code ?? "OK");
        },
      };
    },
  };
}

import type { DescService } from "@bufbuild/protobuf";
import { logVerbosity, Server, setLogVerbosity } from "@grpc/grpc-js";
import type { Logger } from "pino";

import type { Admission } from "../auth/admission.ts";
import type { Certificate } from "../auth/certificate.ts";
import { addressOf } from "../base/address.ts";
import { assert } from "../base/assert.ts";
import { errorOf, PembaError } from "../base/error.ts";
import { statusOf } from "../base/status.ts";
import { noTelemetry, type Telemetry } from "../base/telemetry.ts";
import { Health } from "../gen/grpc/health/v1/health_pb.ts";
import type { Intake } from "../intake/intake.ts";
import { apiMethods } from "../messages/api-methods.ts";
import { apiServices } from "../messages/operations.ts";
import { namesTenant } from "../messages/tenant-of.ts";
import type { Service } from "../service/service.ts";
import { logFailure } from "../telemetry/failure.ts";
import { requestIdHeader, requestIdOf, traceIdOf } from "../telemetry/request-id.ts";
import { admitCalls, isHealth } from "./admit.ts";
import { type CredentialBearer, credentialOf } from "./call-credential.ts";
import { credentialsOf } from "./credentials.ts";
import { errorStatus } from "./error-status.ts";
import { healthMethods } from "./health.ts";
import { limitConnections } from "./limit-connections.ts";
import { closeBroken, takeCalls } from "./listeners.ts";
import { assertNamed, methodName, pathOf, scopeOfPath } from "./method-name.ts";
import { type CallFrame, type CallRecord, serve, type ServedMethod } from "./method.ts";
import { reflectionMethods, reflectionServices } from "./reflection.ts";
import {
  asIs,
  type CallHead,
  type CarriedCall,
  registerPath,
  type RequestHandler,
} from "./request-call.ts";
import { requestLimit } from "./take-in.ts";
import { UncountedCalls } from "./uncounted-calls.ts";

/**
 * In milliseconds. Load balancers drop a connection that is silent for a minute or more, even with
 * a stream that waits for changes. A client that vanished must not hold its streams for ever.
 */
const keepalive = { time: 30_000, timeout: 20_000 };

/** So many calls that use no share there are to each connection, on the average. */
const uncountedOfConnection = 2;

/** The services besides reflection. */
const services: readonly DescService[] = [...apiServices, Health];

/** The gRPC server of a service. */
export interface GrpcServer {
  /** Resolves to the bound port, which differs from the given one if that was 0. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** Stops accepting at once, and resolves when all calls in progress have ended. */
  close(): Promise<void>;
  /** Ends all calls in progress. */
  cut(): void;
}

/** Builds a server. It does not listen yet. */
export function buildGrpcServer(options: {
  readonly service: Service;
  readonly admission: Admission;
  readonly logger: Logger;
  readonly certificate?: Certificate | undefined;
  readonly telemetry?: Telemetry | undefined;
}): GrpcServer {
  // The library's failures reach us as errors. Its own log lines would bypass the log.
  setLogVerbosity(logVerbosity.NONE);
  const { logger, telemetry = noTelemetry } = options;
  const { intake } = options.admission;
  const observers = { logger, telemetry, intake };
  const handlers = new Map<string, RequestHandler>();
  const uncounted = new UncountedCalls(uncountedOfConnection * intake.limits.connections);
  const admitting = admitCalls({
    admission: options.admission,
    uncounted,
    refused: (route, call, error) => failCall(observers, route, call, error),
    isOpen: isHealth,
    handlers,
  });
  const server = new Server({
    "grpc.max_receive_message_length": requestLimit,
    "grpc.max_concurrent_streams": intake.limits.callsOfConnection,
    "grpc.keepalive_time_ms": keepalive.time,
    "grpc.keepalive_timeout_ms": keepalive.timeout,
    interceptors: [admitting.interceptor],
  });
  const registry = { server, handlers, observers };
  register(registry, methodsOf(options.service));
  serveUnknown(registry);
  const credentials = credentialsOf(options.certificate);
  return {
    async listen({ host, port }) {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      server.bindAsync(addressOf(host, port), credentials, (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
      const bound = await promise;
      const isEncrypted = options.certificate !== undefined;
      closeBroken(server);
      takeCalls(server, admitting.direct);
      limitConnections(server, { intake, uncounted, isEncrypted });
      return bound;
    },
    async close() {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.tryShutdown((error) => (error === undefined ? resolve() : reject(error)));
      await promise;
    },
    cut: () => server.forceShutdown(),
  };
}

function methodsOf(service: Service): readonly ServedMethod[] {
  const methods = [...apiMethods(service), ...healthMethods(service)];
  return [...methods.map((one) => serve(one)), ...reflectionMethods(services)];
}

/** Where methods become known. */
interface Registry {
  readonly server: Server;
  /** Handlers that the library does not call. */
  readonly handlers: Map<string, RequestHandler>;
  readonly observers: CallObservers;
}

/**
 * Serves every method of every service. A method without a handler answers that it is not
 * implemented.
 */
function register(registry: Registry, served: readonly ServedMethod[]): void {
  const { server, handlers, observers } = registry;
  const byPath = new Map(served.map((one) => [pathOf(one.method), one]));
  for (const method of [...services, ...reflectionServices].flatMap((one) => one.methods)) {
    const path = pathOf(method);
    assertNamed(path);
    assert(
      scopeOfPath(path) === undefined || namesTenant(method),
      `requests of ${path} say of which tenant they are`,
    );
    const one = byPath.get(path);
    if (one === undefined) {
      refuse(registry, path, `\`${path}\` is not implemented yet`);
      continue;
    }
    const frame = callFrame(observers, path);
    switch (one.kind) {
      case "unary":
      case "server_streaming":
        handlers.set(path, one.handler(frame));
        registerPath(server, path);
        break;
      case "bidi_streaming":
        server.register(path, one.handler(frame), asIs, asIs, "bidi");
        break;
    }
  }
}

/** Calls of the path fail. A stream that fails at once looks to the client like a call with one answer. */
function refuse({ server, handlers, observers }: Registry, path: string, message: string): void {
  const error = new PembaError("NOT_IMPLEMENTED", message);
  handlers.set(path, (call) => {
    failCall(observers, path, call, error);
    call.fail(errorStatus(error));
  });
  registerPath(server, path);
}

/** Not the path of a method. */
const unknownPath = "*";

/**
 * Handles calls of unknown methods like all others. Otherwise the library would answer them first,
 * and they would neither count for the rate limit nor need a token. It has no handler for unknown
 * methods, but looks handlers up in a map.
 */
function serveUnknown(registry: Registry): void {
  refuse(registry, unknownPath, "there is no such method");
  const handlers: unknown = Reflect.get(registry.server, "handlers");
  assert(handlers instanceof Map, "the server keeps its handlers in a map");
  const known: ReadonlyMap<unknown, unknown> = new Map(handlers);
  handlers.get = (path: unknown) => known.get(path) ?? known.get(unknownPath);
}

/** The log and the telemetry of calls. */
interface CallObservers {
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly intake: Intake;
}

/** Gives every call of a method an id, and logs it with that id. */
function callFrame(observers: CallObservers, path: string): CallFrame {
  return {
    intake: observers.intake,
    errorOf,
    begin: (_method, call) => beginCall(observers, path, call),
  };
}

/** Records a call that fails at once, and sends what goes before its status. */
function failCall(
  observers: CallObservers,
  route: string,
  call: CredentialBearer & Pick<CarriedCall, "sendHead">,
  error: PembaError,
): void {
  const { head, end } = beginCall(observers, route, call);
  call.sendHead(head);
  end({ kind: "failed", error });
}

function beginCall(
  { logger, telemetry }: CallObservers,
  route: string,
  call: CredentialBearer,
): CallRecord {
  const { metadata } = call;
  const start = performance.now();
  const id = requestIdOf(textOf(metadata, requestIdHeader));
  const head = { [requestIdHeader]: id };
  const record = telemetry.begin({
    method: methodName(route),
    transport: "grpc",
    traceparent: textOf(metadata, "traceparent"),
    tracestate: textOf(metadata, "tracestate"),
  });
  const end: CallRecord["end"] = (outcome) => {
    const error = outcome.kind === "failed" ? outcome.error : undefined;
    const isFailure = error !== undefined && statusOf[error.kind].http >= 500;
    if (isFailure) logFailure(logger.child(namesOf(call, id, telemetry)), error);
    if (logger.isLevelEnabled("debug")) {
      const status = error === undefined ? 0 : statusOf[error.kind].grpc;
      const milliseconds = Math.round((performance.now() - start) * 1000) / 1000;
      const line = { ...namesOf(call, id, telemetry), route, status, milliseconds };
      logger.debug(line, "request answered");
    }
    record.end(error?.code ?? "OK");
  };
  return { head, run: record.run, end: (outcome) => record.run(() => end(outcome)) };
}

/** What all lines of the log about a call have. */
function namesOf(
  call: CredentialBearer,
  reqId: string,
  telemetry: Telemetry,
): { readonly reqId: string; readonly trace_id?: string; readonly caller?: string } {
  // With traces, log lines of a call also have its trace.
  const traceId = telemetry.isOn ? undefined : traceIdOf(textOf(call.metadata, "traceparent"));
  const caller = credentialOf(call).name;
  return {
    reqId,
    ...(traceId !== undefined && { trace_id: traceId }),
    ...(caller !== undefined && { caller }),
  };
}

function textOf(metadata: CallHead, key: string): string | undefined {
  return metadata.get(key)[0]?.toString();
}

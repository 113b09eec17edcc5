import type { FastifyReply, FastifyRequest } from "fastify";

import type { ErrorCode } from "../base/error.ts";
import type { RequestRecord, Telemetry } from "../base/telemetry.ts";
import type { HttpApp } from "./app.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The telemetry of the request. Null if telemetry is off. */
    record: RequestRecord | null;
    /** The error code of a failed request. */
    failure: ErrorCode | null;
  }
}

/** Records every request, including those without a route. */
export function observeRequests(app: HttpApp, telemetry: Telemetry): void {
  app.decorateRequest("record", null);
  app.decorateRequest("failure", null);
  if (!telemetry.isOn) return;
  app.addHook("onRoute", (route) => {
    const { handler } = route;
    // Hooks and bodies run in separate ticks of the event loop, so the context is set around the
    // handler.
    route.handler = function (this: HttpApp, request, reply) {
      return recordOf(request).run(() => handler.call(this, request, reply));
    };
  });
  app.addHook("onRequest", async (request, reply) => {
    begin(telemetry, operationOf(request.routeOptions), request, reply);
  });
}

/**
 * Records requests with an unreadable path before they are refused, because no hook runs for them.
 */
export function observeBefore(
  telemetry: Telemetry,
  refuse: (error: Error, request: FastifyRequest, reply: FastifyReply) => void,
): typeof refuse {
  if (!telemetry.isOn) return refuse;
  return (error, request, reply) => {
    begin(telemetry, unknownOperation, request, reply);
    refuse(error, request, reply);
  };
}

function begin(
  telemetry: Telemetry,
  method: string,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { traceparent, tracestate } = request.headers;
  const record = telemetry.begin({
    method,
    transport: "rest",
    traceparent: textOf(traceparent),
    tracestate: textOf(tracestate),
  });
  request.record = record;
  // Emitted after the last byte of the answer, or earlier if the client leaves.
  reply.raw.once("close", () => {
    record.end(request.failure ?? (reply.raw.writableEnded ? "OK" : "CANCELLED"));
  });
}

/** Iterates over the items of a stream as work of their request. */
export function asWorkOf<T>(request: FastifyRequest, items: AsyncIterable<T>): AsyncIterable<T> {
  const { record } = request;
  if (record === null) return items;
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = items[Symbol.asyncIterator]();
      return {
        next: async () => await record.run(async () => await iterator.next()),
        return: async () => {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function recordOf({ record }: FastifyRequest): RequestRecord | Pick<RequestRecord, "run"> {
  return record ?? { run: (work) => work() };
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}

/** The operation of requests without a route. */
const unknownOperation = "unknown";

const tenantPrefix = /^\/v1\/(tenants\/:tenant_id\/)?/;

/** The name of a route in all transports: the words of its path, without parameters. */
export function operationOf({
  url,
  method,
}: {
  readonly url?: string | undefined;
  readonly method?: string | readonly string[] | undefined;
}): string {
  if (url === undefined) return unknownOperation;
  if (url === "/healthz") return "health.check";
  if (url === "/v1/tenants/:id") return method === "DELETE" ? "tenants.delete" : unknownOperation;
  return url.replace(tenantPrefix, "").replace(/^\//, "").replaceAll("/", ".");
}

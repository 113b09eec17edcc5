import type { FastifyReply, FastifyRequest } from "fastify";

import type { ErrorCode } from "../base/error.ts";
import type { RequestRecord, Telemetry } from "../base/telemetry.ts";
import type { HttpApp } from "./app.ts";
import { operationOf, unknownOperation } from "./operation-name.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What is told of the request; null when nobody listens. */
    record: RequestRecord | null;
    /** How it failed, once it has. */
    failure: ErrorCode | null;
  }
}

/** Tells of every request, those included that no route is there for. */
export function observeRequests(app: HttpApp, telemetry: Telemetry): void {
  app.decorateRequest("record", null);
  app.decorateRequest("failure", null);
  if (!telemetry.isOn) return;
  app.addHook("onRoute", (route) => {
    const { handler } = route;
    // Hooks and bodies come in turns of their own: the handler is where the work begins.
    route.handler = function (this: HttpApp, request, reply) {
      return recordOf(request).run(() => handler.call(this, request, reply));
    };
  });
  app.addHook("onRequest", async (request, reply) => {
    begin(telemetry, operationOf(request.routeOptions), request, reply);
  });
}

/** Tells of requests that have no path that can be read, and so meet no hook, before they are refused. */
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
  // Comes after the last byte of the answer, and when the client is gone before.
  reply.raw.once("close", () => {
    record.end(request.failure ?? (reply.raw.writableEnded ? "OK" : "CANCELLED"));
  });
}

/** The items of a stream, each sought as work of the request that they answer. */
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

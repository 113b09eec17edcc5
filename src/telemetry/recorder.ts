import { AsyncLocalStorage } from "node:async_hooks";

import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";

import { type ErrorCode, errorCodes, errorOf } from "../base/error.ts";
import {
  noTelemetry,
  type RequestHead,
  type RequestRecord,
  type Span,
  type Tally,
  type Telemetry,
} from "../base/telemetry.ts";
import type { Instruments } from "./instruments.ts";

/** The span and the tally of the current work. */
interface ActiveContext {
  readonly span: OtelSpan | undefined;
  readonly tally: Tally | undefined;
}

const nowhere: ActiveContext = { span: undefined, tally: undefined };
const unseen: Span = { set: () => {} };
const propagator = new W3CTraceContextPropagator();

/** Telemetry that records spans, metrics or both. */
export function createRecorder(outputs: {
  readonly tracer: Tracer | undefined;
  readonly instruments: Instruments | undefined;
}): Telemetry {
  const { tracer, instruments = noTelemetry } = outputs;
  const active = new AsyncLocalStorage<ActiveContext>();
  const here = (): ActiveContext => active.getStore() ?? nowhere;
  return {
    isOn: true,

    begin: (head) => {
      const start = performance.now();
      const span = tracer?.startSpan(
        head.method,
        {
          kind: SpanKind.SERVER,
          attributes: { "pemba.method": head.method, "pemba.transport": head.transport },
        },
        contextOf(head),
      );
      return recordOf(span, active, (code) => {
        const labels = { method: head.method, transport: head.transport, code };
        instruments.record("pemba.request.duration", (performance.now() - start) / 1_000, labels);
        if (code === "OK" || !isAdmissionRefusal(code)) return;
        instruments.add("pemba.admission.refused", 1, { transport: head.transport, code });
      });
    },

    span: async (name, work) => {
      const { span: parent, tally } = here();
      // Nothing is traced outside of a request, or if the client does not want its request traced.
      if (tracer === undefined || parent?.isRecording() !== true) return await work(unseen);
      const span = tracer.startSpan(name, {}, trace.setSpan(ROOT_CONTEXT, parent));
      try {
        return await active.run({ span, tally }, work, seen(span));
      } catch (thrown) {
        endWith(span, errorOf(thrown).code);
        throw thrown;
      } finally {
        span.end();
      }
    },

    event: (name, attributes) => {
      here().span?.addEvent(name, attributes);
    },

    tallied: async (question, work) => {
      const tally = { question, statements: 0 };
      return await active.run({ span: here().span, tally }, work, tally);
    },

    get tally() {
      return active.getStore()?.tally;
    },

    add: instruments.add,
    record: instruments.record,
    observe: instruments.observe,

    place: () => {
      const context = active.getStore()?.span?.spanContext();
      return context && { traceId: context.traceId, spanId: context.spanId };
    },
  };
}

function isAdmissionRefusal(code: ErrorCode): boolean {
  const kind = errorCodes[code];
  return (
    code === "RATE_LIMIT_EXCEEDED" || kind === "unauthenticated" || kind === "permission_denied"
  );
}

/** The trace context of the client. A new trace if the client sent none, or an unreadable one. */
function contextOf({ traceparent, tracestate }: RequestHead): Context {
  if (traceparent === undefined) return ROOT_CONTEXT;
  return propagator.extract(ROOT_CONTEXT, { traceparent, tracestate }, defaultTextMapGetter);
}

function recordOf(
  span: OtelSpan | undefined,
  active: AsyncLocalStorage<ActiveContext>,
  ended: (code: ErrorCode | "OK") => void,
): RequestRecord {
  const context = { span, tally: undefined };
  return {
    traceId: span?.spanContext().traceId,
    run: (work) => (span === undefined ? work() : active.run(context, work)),
    end: (code) => {
      ended(code);
      if (span === undefined) return;
      endWith(span, code);
      span.end();
    },
  };
}

/** A cancelled request is not an error of the server. */
function endWith(span: OtelSpan, code: ErrorCode | "OK"): void {
  span.setAttribute("pemba.code", code);
  if (code === "OK" || code === "CANCELLED") return;
  span.setAttribute("error.type", code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}

function seen(span: OtelSpan): Span {
  return {
    set: (attributes) => {
      span.setAttributes(attributes);
    },
  };
}

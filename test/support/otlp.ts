import protobuf from "protobufjs";
import { type Static, type TSchema, Type } from "typebox";
import { Parse } from "typebox/schema";

/**
 * The messages of OTLP, as far as the tests look at them: numbers and types of fields are those of
 * the public definitions, and what is left out is passed over.
 */
const definitions = `
  syntax = "proto3";
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    }
  }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }

  message Traces { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
    uint32 kind = 6; repeated KeyValue attributes = 9; repeated Event events = 11;
    Status status = 15;
  }
  message Event { string name = 2; repeated KeyValue attributes = 3; }
  message Status { string message = 2; uint32 code = 3; }

  message Metrics { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message ScopeMetrics { repeated Metric metrics = 2; }
  message Metric {
    string name = 1; string unit = 3;
    oneof data { Points gauge = 5; Points sum = 7; Histogram histogram = 9; }
  }
  message Points { repeated Point data_points = 1; }
  message Point {
    repeated KeyValue attributes = 7;
    oneof value { double as_double = 4; sfixed64 as_int = 6; }
  }
  message Histogram { repeated HistogramPoint data_points = 1; }
  message HistogramPoint { repeated KeyValue attributes = 9; fixed64 count = 4; double sum = 5; }

  message Logs { repeated ResourceLogs resource_logs = 1; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
  message ScopeLogs { repeated LogRecord log_records = 2; }
  message LogRecord {
    uint32 severity_number = 2; string severity_text = 3; AnyValue body = 5;
    repeated KeyValue attributes = 6; bytes trace_id = 9;
  }
`;

const { root } = protobuf.parse(definitions);

const anyValue = Type.Object({
  stringValue: Type.Optional(Type.String()),
  boolValue: Type.Optional(Type.Boolean()),
  intValue: Type.Optional(Type.Number()),
  doubleValue: Type.Optional(Type.Number()),
});
const attributes = Type.Array(Type.Object({ key: Type.String(), value: anyValue }));
const resource = Type.Object({ attributes });

const traces = Type.Object({
  resourceSpans: Type.Array(
    Type.Object({
      resource,
      scopeSpans: Type.Array(
        Type.Object({
          spans: Type.Array(
            Type.Object({
              traceId: Type.String(),
              spanId: Type.String(),
              parentSpanId: Type.String(),
              name: Type.String(),
              kind: Type.Number(),
              attributes,
              events: Type.Array(Type.Object({ name: Type.String(), attributes })),
              status: Type.Union([
                Type.Null(),
                Type.Object({ message: Type.String(), code: Type.Number() }),
              ]),
            }),
          ),
        }),
      ),
    }),
  ),
});

const point = Type.Object({
  attributes,
  asDouble: Type.Optional(Type.Number()),
  asInt: Type.Optional(Type.Number()),
});
const points = Type.Optional(Type.Object({ dataPoints: Type.Array(point) }));
const histogramPoint = Type.Object({ attributes, count: Type.Number(), sum: Type.Number() });
const metrics = Type.Object({
  resourceMetrics: Type.Array(
    Type.Object({
      resource,
      scopeMetrics: Type.Array(
        Type.Object({
          metrics: Type.Array(
            Type.Object({
              name: Type.String(),
              unit: Type.String(),
              gauge: points,
              sum: points,
              histogram: Type.Optional(Type.Object({ dataPoints: Type.Array(histogramPoint) })),
            }),
          ),
        }),
      ),
    }),
  ),
});

const logs = Type.Object({
  resourceLogs: Type.Array(
    Type.Object({
      resource,
      scopeLogs: Type.Array(
        Type.Object({
          logRecords: Type.Array(
            Type.Object({
              severityText: Type.String(),
              body: Type.Union([Type.Null(), anyValue]),
              attributes,
              traceId: Type.String(),
            }),
          ),
        }),
      ),
    }),
  ),
});

export type Attributes = Readonly<Record<string, unknown>>;

export interface TakenSpan {
  readonly service: unknown;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly isServer: boolean;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  /** The message of an error; undefined when it is none. */
  readonly error: string | undefined;
}

export interface TakenPoint {
  readonly service: unknown;
  readonly name: string;
  readonly attributes: Attributes;
  /** The value, or how many values a histogram has. */
  readonly value: number;
}

export interface TakenLine {
  readonly service: unknown;
  readonly severity: string;
  readonly message: unknown;
  readonly attributes: Attributes;
  readonly traceId: string;
}

export function spansOf(bytes: Uint8Array): TakenSpan[] {
  return decode("Traces", traces, bytes).resourceSpans.flatMap((one) =>
    one.scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service: attributesOf(one.resource.attributes)["service.name"],
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentId: hex(span.parentSpanId),
        name: span.name,
        isServer: span.kind === 2,
        attributes: attributesOf(span.attributes),
        events: span.events.map((event) => ({
          name: event.name,
          attributes: attributesOf(event.attributes),
        })),
        error: span.status?.code === 2 ? span.status.message : undefined,
      })),
    ),
  );
}

export function pointsOf(bytes: Uint8Array): TakenPoint[] {
  return decode("Metrics", metrics, bytes).resourceMetrics.flatMap((one) => {
    const service = attributesOf(one.resource.attributes)["service.name"];
    return one.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .flatMap(({ name, gauge, sum, histogram }) => [
        ...[...(gauge?.dataPoints ?? []), ...(sum?.dataPoints ?? [])].map((taken) => ({
          service,
          name,
          attributes: attributesOf(taken.attributes),
          value: taken.asDouble ?? taken.asInt ?? Number.NaN,
        })),
        ...(histogram?.dataPoints ?? []).map((taken) => ({
          service,
          name,
          attributes: attributesOf(taken.attributes),
          value: taken.count,
        })),
      ]);
  });
}

export function linesOf(bytes: Uint8Array): TakenLine[] {
  return decode("Logs", logs, bytes).resourceLogs.flatMap((one) =>
    one.scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((line) => ({
        service: attributesOf(one.resource.attributes)["service.name"],
        severity: line.severityText,
        message: line.body === null ? undefined : valueOf(line.body),
        attributes: attributesOf(line.attributes),
        traceId: hex(line.traceId),
      })),
    ),
  );
}

function decode<T extends TSchema>(name: string, shape: T, bytes: Uint8Array): Static<T> {
  const type = root.lookupType(name);
  const message: unknown = type.toObject(type.decode(bytes), {
    longs: Number,
    bytes: String,
    arrays: true,
    objects: true,
    defaults: true,
  });
  return Parse(shape, message);
}

function attributesOf(given: Static<typeof attributes>): Attributes {
  return Object.fromEntries(given.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: Static<typeof anyValue>): unknown {
  return value.stringValue ?? value.boolValue ?? value.intValue ?? value.doubleValue;
}

function hex(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex");
}

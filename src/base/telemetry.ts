import type { ErrorCode } from "./error.ts";
import type { CounterName, HistogramName, LabelsOf, ObservedName } from "./metrics.ts";

/** The attributes of a span or an event: sizes and outcomes, never ids of users or tenants. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span: one step of a request. */
export interface Span {
  set(attributes: Attributes): void;
}

/** What answering one question cost, counted while the work runs. */
export interface Tally {
  /** The kind of question, such as `check`. */
  readonly question: string;
  statements: number;
}

/** The first part of a request, as it comes in. */
export interface RequestHead {
  /** The method as the API names it, such as `permissions.check`. */
  readonly method: string;
  readonly transport: "rest" | "grpc" | "peer";
  /** The W3C trace context that the client sent, if any. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** A request in progress. */
export interface RequestRecord {
  /** The id of its trace, if the request is traced. */
  readonly traceId: string | undefined;
  /**
   * Does work of the request. Telemetry that is recorded during the work belongs to the request.
   */
  readonly run: <T>(work: () => T) => T;
  /** Ends the record. Called once. */
  readonly end: (code: ErrorCode | "OK") => void;
}

/** An observed value of a metric, with its labels. */
export interface MetricReading<Name extends ObservedName> {
  readonly value: number;
  readonly labels: LabelsOf<Name>;
}

/**
 * Records what the parts of the server do. It is passed down to them. They record the same whether
 * or not telemetry is exported.
 */
export interface Telemetry {
  /** False if nothing is exported: then callers skip what costs time to find out. */
  readonly isOn: boolean;
  readonly begin: (request: RequestHead) => RequestRecord;
  /** Does work as a span of the current request. Outside of a request it just does the work. */
  readonly span: <T>(name: string, work: (span: Span) => Promise<T>) => Promise<T>;
  /** Records an event in the current span. */
  readonly event: (name: string, attributes: Attributes) => void;
  /** Does work for a question, and counts its cost in a tally. */
  readonly tallied: <T>(question: string, work: (tally: Tally) => Promise<T>) => Promise<T>;
  /** The tally of the current work. */
  readonly tally: Tally | undefined;
  readonly add: <Name extends CounterName>(
    name: Name,
    amount: number,
    labels: LabelsOf<Name>,
  ) => void;
  readonly record: <Name extends HistogramName>(
    name: Name,
    value: number,
    labels: LabelsOf<Name>,
  ) => void;
  /**
   * Registers a value to be read when metrics are collected. Several readers of one name add up.
   */
  readonly observe: <Name extends ObservedName>(
    name: Name,
    read: () => readonly MetricReading<Name>[],
  ) => void;
  /** The current trace and span, for log lines. */
  readonly place: () => { readonly traceId: string; readonly spanId: string } | undefined;
}

const silentSpan: Span = { set: () => {} };

const silentRequest: RequestRecord = {
  traceId: undefined,
  run: (work) => work(),
  end: () => {},
};

/** Telemetry that records nothing. */
export const noTelemetry: Telemetry = {
  isOn: false,
  begin: () => silentRequest,
  span: async (_name, work) => await work(silentSpan),
  event: () => {},
  tallied: async (question, work) => await work({ question, statements: 0 }),
  tally: undefined,
  add: () => {},
  record: () => {},
  observe: () => {},
  place: () => undefined,
};

/**
 * Telemetry of a cluster: its metrics have the label `cluster`, and so have its spans. Clusters are few,
 * since the configuration names them.
 */
export function ofCluster(telemetry: Telemetry, cluster: string): Telemetry {
  return {
    isOn: telemetry.isOn,
    begin: telemetry.begin,
    span: async (name, work) =>
      await telemetry.span(name, async (span) => {
        span.set({ "pemba.cluster": cluster });
        return await work(span);
      }),
    event: (name, attributes) => telemetry.event(name, { ...attributes, "pemba.cluster": cluster }),
    tallied: telemetry.tallied,
    get tally() {
      return telemetry.tally;
    },
    add: (name, amount, labels) => telemetry.add(name, amount, { ...labels, cluster }),
    record: (name, value, labels) => telemetry.record(name, value, { ...labels, cluster }),
    observe: (name, read) =>
      telemetry.observe(name, () =>
        read().map(({ value, labels }) => ({ value, labels: { ...labels, cluster } })),
      ),
    place: telemetry.place,
  };
}

import type { ErrorCode } from "./error.ts";
import type { CounterName, HistogramName, LabelsOf, ObservedName } from "./metrics.ts";

/** What a span or an event says besides its name: sizes and outcomes, never of whom. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** One step of the way of a request, for as long as it takes. */
export interface Span {
  set(attributes: Attributes): void;
}

/** What one question takes, counted while it is worked on. */
export interface Tally {
  /** What is asked, such as `check`. */
  readonly question: string;
  statements: number;
}

/** A request as it comes in. */
export interface RequestHead {
  /** As the API calls it, such as `permissions.check`. */
  readonly method: string;
  readonly transport: "rest" | "grpc" | "peer";
  /** The W3C trace that the client has it in, if it says so. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** A request under way. */
export interface RequestRecord {
  /** Its trace, while there is one. */
  readonly traceId: string | undefined;
  /** Does work of the request: what is told meanwhile, is told of it. */
  readonly run: <T>(work: () => T) => T;
  /** Called once. */
  readonly end: (code: ErrorCode | "OK") => void;
}

/** A value of a measure that is read, with the labels that it has. */
export interface Reading<Name extends ObservedName> {
  readonly value: number;
  readonly labels: LabelsOf<Name>;
}

/**
 * What the parts of the server tell of their work. It is passed down to them; they tell it the same
 * whether anybody listens or not.
 */
export interface Telemetry {
  /** False when nobody listens: for what it would cost something to find out. */
  readonly isOn: boolean;
  readonly begin: (request: RequestHead) => RequestRecord;
  /** Does work as a step of the request that is under way: outside of one it is just done. */
  readonly span: <T>(name: string, work: (span: Span) => Promise<T>) => Promise<T>;
  /** Tells what has just happened in the step that is under way. */
  readonly event: (name: string, attributes: Attributes) => void;
  /** Does work for a question, whose tally is kept. */
  readonly tallied: <T>(question: string, work: (tally: Tally) => Promise<T>) => Promise<T>;
  /** Of the work that is under way. */
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
  /** Has a value read whenever somebody wants to know it; several readers of a name add up. */
  readonly observe: <Name extends ObservedName>(
    name: Name,
    read: () => readonly Reading<Name>[],
  ) => void;
  /** The trace and the step that are under way, for lines of the log. */
  readonly place: () => { readonly traceId: string; readonly spanId: string } | undefined;
}

const silentSpan: Span = { set: () => {} };

const silentRequest: RequestRecord = {
  traceId: undefined,
  run: (work) => work(),
  end: () => {},
};

/** Nobody listens. */
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

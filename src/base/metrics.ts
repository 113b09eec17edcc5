/**
 * Every metric with its description and unit. Each label has few values, all defined here: no
 * tenant, id or schema name is among them.
 */
export const metrics = {
  "pemba.request.duration": histogram("s", "latency", {
    about: "time from the head of a request to the end of its answer, streams included",
    labels: ["method", "transport", "code"],
  }),
  "pemba.admission.refused": counter("{request}", {
    about: "requests that were refused for their token, or since there were too many",
    labels: ["transport", "code"],
  }),
  "pemba.health.failing": highest("{database}", {
    about: "1 while health checks fail for the database, or since the server starts, else 0",
    labels: [],
  }),
  "pemba.queue.running": gauge("{operation}", {
    about: "permission questions, reads and changes that are worked on",
    labels: ["queue"],
  }),
  "pemba.queue.waiting": gauge("{operation}", {
    about: "permission questions, reads and changes that wait in a queue",
    labels: ["queue"],
  }),
  "pemba.queue.refused": counter("{operation}", {
    about: "permission questions, reads and changes that were refused since too many waited",
    labels: ["queue"],
  }),
  "pemba.queue.wait": histogram("s", "latency", {
    about:
      "time that a permission question, a read or a change waited in a queue, of those that did",
    labels: ["queue"],
  }),
  "pemba.question.answers": counter("{answer}", {
    about: "answers of checks, bulk checks and subject permissions; ids that lookups found",
    labels: ["question", "answer"],
  }),
  "pemba.question.items": histogram("{item}", "count", {
    about: "checks that one permission question came to; ids of a page of a lookup",
    labels: ["question"],
  }),
  "pemba.question.statements": histogram("{statement}", "few", {
    about: "statements that one permission question took, repetitions included",
    labels: ["question"],
  }),
  "pemba.question.found": counter("{answer}", {
    about:
      "answers by how they were found: in SQL, by the interpreter, or by it after SQL left them open",
    labels: ["found"],
  }),
  "pemba.lookup.candidates": counter("{id}", {
    about: "ids that lookups checked; how many of them were found is in the answers",
    labels: ["question"],
  }),
  "pemba.write.size": histogram("{item}", "count", {
    about: "tuples and attributes of one write",
    labels: [],
  }),
  "pemba.sql.open.write.age": highest("s", {
    about:
      "for how long the oldest open transaction has been seen that has written tuples or attributes, from the first look at it; 0 when there is none",
    labels: [],
  }),
  "pemba.schema.cache.hits": observedCounter("{lookup}", {
    about: "schemas that were found compiled",
    labels: [],
  }),
  "pemba.schema.cache.misses": observedCounter("{lookup}", {
    about: "schemas that had to be read, and compiled if their text was not known",
    labels: [],
  }),
  "pemba.schema.cache.size": gauge("By", {
    about: "memory of the compiled schemas, as it is estimated for their limit",
    labels: [],
  }),
  "pemba.schema.cache.entries": gauge("{schema}", {
    about: "texts of schemas that are kept compiled",
    labels: [],
  }),
  "pemba.answer.cache.hits": counter("{answer}", {
    about: "checks and lookups that were answered from the cache",
    labels: [],
  }),
  "pemba.answer.cache.misses": counter("{answer}", {
    about:
      "checks of a named state, and checks and lookups of the present one that came before, without a valid answer in the cache",
    labels: [],
  }),
  "pemba.check.batch.size": histogram("{check}", "count", {
    about: "different checks that one statement was sent for, of single checks",
    labels: [],
  }),
  "pemba.write.batch.size": histogram("{write}", "count", {
    about: "writes of one tuple that one statement was sent for",
    labels: [],
  }),
  "pemba.peer.members": highest("{instance}", {
    about: "instances that share kept answers, this one included",
    labels: [],
  }),
  "pemba.peer.checks": counter("{check}", {
    about:
      "checks that were sent to another instance, by outcome; what failed or was late there was then answered by this process",
    labels: ["outcome"],
  }),
  "pemba.watch.streams": gauge("{stream}", {
    about: "streams of changes that are open",
    labels: [],
  }),
  "pemba.watch.lag": highest("s", {
    about: "age of the oldest change that a stream of this instance knows of and has not delivered",
    labels: [],
  }),
  "pemba.history.removed": counter("{change}", {
    about: "changes that collections of history removed",
    labels: [],
  }),
  "pemba.history.horizon.age": highest("s", {
    about: "age of the oldest state that the last collection of this instance left to be asked for",
    labels: [],
  }),
  "pemba.history.collected.age": highest("s", {
    about: "time since this instance last collected history to its end, or since it began to",
    labels: [],
  }),
  "pemba.telemetry.failures": counter("{export}", {
    about: "exports that failed, whose traces, metrics or log lines are lost",
    labels: ["signal"],
  }),
  "db.client.operation.duration": histogram("s", "latency", {
    about: "time of one statement, the wait for a connection included",
    labels: ["db.query.summary"],
  }),
  "db.client.connection.count": gauge("{connection}", {
    about: "connections to the database that requests have",
    labels: ["db.client.connection.state"],
  }),
  "db.client.connection.max": gauge("{connection}", {
    about: "most connections that there may be",
    labels: [],
  }),
  "db.client.connection.pending_requests": gauge("{request}", {
    about: "statements that wait for a connection",
    labels: [],
  }),
  "db.client.connection.waits": observedCounter("{request}", {
    about: "statements that had to wait for a connection",
    labels: [],
  }),
  "db.client.connection.wait_time": observedCounter("s", {
    about: "time that they waited, all together",
    labels: [],
  }),
  "db.client.circuit.open": highest("1", {
    about: "1 while the circuit breaker has requests fail at once, else 0",
    labels: [],
  }),
  "db.client.replica.lag": highest("s", {
    about:
      "how long a standby has lacked something that the writer had; none while it is not there",
    labels: ["replica"],
  }),
  "db.client.replica.used": highest("{replica}", {
    about: "1 while a standby is asked, 0 while it is left out",
    labels: ["replica"],
  }),
  "db.client.retries": counter("{statement}", {
    about: "statements that were repeated, by the cause",
    labels: ["fault"],
  }),
  "nodejs.eventloop.delay.p50": highest("s", { about: eventLoop("half"), labels: [] }),
  "nodejs.eventloop.delay.p99": highest("s", { about: eventLoop("99 of 100"), labels: [] }),
  "nodejs.eventloop.delay.max": highest("s", { about: eventLoop("all"), labels: [] }),
  "nodejs.eventloop.utilization": highest("1", {
    about: "part of the time in which the event loop was busy, since the last reading",
    labels: [],
  }),
  "v8js.memory.heap.used": highest("By", { about: "memory of JavaScript objects", labels: [] }),
  "v8js.memory.heap.limit": highest("By", {
    about: "memory of JavaScript objects at which the process ends",
    labels: [],
  }),
  "process.memory.usage": gauge("By", {
    about: "memory of the process as the system counts it",
    labels: [],
  }),
  "process.cpu.time": observedCounter("s", {
    about: "processor time of the process",
    labels: ["cpu.mode"],
  }),
  "process.uptime": highest("s", { about: "time since the process began", labels: [] }),
} as const satisfies Readonly<Record<string, Metric>>;

const valuesByLabel = {
  method: { of: "methods of the API, such as permissions.check; unknown for what is none" },
  code: { of: "OK and the codes of errors, such as VALIDATION" },
  transport: ["rest", "grpc", "peer"],
  queue: ["questions", "large", "reads", "changes"],
  question: { of: "permission questions, such as check, bulk_check or lookup_entity" },
  answer: ["allowed", "denied"],
  found: ["pushed_down", "gathered", "looked_into"],
  signal: ["traces", "metrics", "logs"],
  outcome: ["answered", "failed", "late"],
  fault: ["conflict", "unreached", "lost"],
  "db.query.summary": {
    of: "statements that the server has, such as data/write, and kinds of questions, such as check",
  },
  "db.client.connection.state": ["used", "idle", "opening"],
  replica: { of: "hosts of `database.reader.uri`, by their number in it from 0" },
  "cpu.mode": ["user", "system"],
} as const;

type Label = keyof typeof valuesByLabel;

/** The values of each label, or what bounds them. */
export const labelValues: Readonly<Record<Label, readonly string[] | { readonly of: string }>> =
  valuesByLabel;

/** The upper bounds of histogram buckets: seconds, sizes of requests, small counts. */
export const buckets = {
  latency: [
    0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
  count: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000],
  few: [0, 1, 2, 3, 4, 5, 10, 20, 50],
} as const;

export interface Metric {
  /** An observed counter is counted elsewhere, and read when a metric reader asks for it. */
  readonly kind: "counter" | "observed_counter" | "histogram" | "gauge";
  /** In the notation of UCUM, as OpenTelemetry has it. */
  readonly unit: string;
  readonly about: string;
  readonly labels: readonly Label[];
  readonly buckets?: keyof typeof buckets;
  /** Only of a gauge: what it is for an instance with several processes. */
  readonly across?: "sum" | "max";
}

type Table = typeof metrics;
export type MetricName = keyof Table;
type Named<Kind extends Metric["kind"]> = {
  [Name in MetricName]: Table[Name]["kind"] extends Kind ? Name : never;
}[MetricName];
export type CounterName = Named<"counter">;
export type HistogramName = Named<"histogram">;
export type ObservedName = Named<"gauge" | "observed_counter">;

/** The labels of a metric, each with a value. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<Table[Name]["labels"][number], string>
>;

interface MetricDetails<Labels extends readonly Label[]> {
  readonly about: string;
  readonly labels: Labels;
}

function counter<const L extends readonly Label[]>(unit: string, details: MetricDetails<L>) {
  return { kind: "counter", unit, ...details } as const;
}

function observedCounter<const L extends readonly Label[]>(
  unit: string,
  details: MetricDetails<L>,
) {
  return { kind: "observed_counter", unit, ...details } as const;
}

/** A gauge of a number of things. Those of several processes add up. */
function gauge<const L extends readonly Label[]>(unit: string, details: MetricDetails<L>) {
  return { kind: "gauge", unit, ...details, across: "sum" } as const;
}

/** A gauge of an age, a delay or a part. Of several processes the highest one counts. */
function highest<const L extends readonly Label[]>(unit: string, details: MetricDetails<L>) {
  return { kind: "gauge", unit, ...details, across: "max" } as const;
}

function histogram<const L extends readonly Label[]>(
  unit: string,
  ends: keyof typeof buckets,
  details: MetricDetails<L>,
) {
  return { kind: "histogram", unit, buckets: ends, ...details } as const;
}

function eventLoop(share: string): string {
  return `by how much the event loop was late, in ${share} of the rounds since the last reading`;
}

/** What is compared, by the sections of the report. */
export const sections = ["check", "flat", "lookup", "shapes", "write"] as const;

export type ComparedSection = (typeof sections)[number];

/** Requests that cost about the same, to the tenant that has the data set. */
export interface Asked {
  readonly section: ComparedSection;
  readonly name: string;
  readonly dataset: string;
  /** Requests at the same time: over REST each on a connection of its own, over gRPC all on one; at most 64. */
  readonly inFlight: number;
  /** Over gRPC only checks. */
  readonly over: "rest" | "grpc";
  readonly request: (nth: number) => AskedRequest;
  /** Comes before so many of them, from one of them on, and is not measured. */
  readonly prepare?: (from: number, count: number) => AskedRequest;
}

/** `path` goes on behind the tenant. */
export interface AskedRequest {
  readonly path: string;
  readonly body: object;
  /** Which a right answer holds; "" where that is not known. */
  readonly right: string;
}

import type { Store } from "../../src/store/store.ts";
import type { Clients } from "../clients.ts";

/** How something is asked: of the Postgres engine itself, or of a process over one of the transports. */
export type Way = "engine" | "rest" | "grpc";

export const ways = ["engine", "rest", "grpc"] as const satisfies readonly Way[];

export const wayTitles: Readonly<Record<Way, string>> = {
  engine: "engine",
  rest: "REST",
  grpc: "gRPC",
};

/** Pieces of work by their number, in each way. Each fails when an answer is wrong. */
export type Works = Readonly<Record<Way, (nth: number) => Promise<void>>>;

/** Who is asked, all of the same data. */
export interface Asked {
  readonly store: Store;
  readonly clients: Clients;
  /** Of REST. */
  readonly url: string;
}

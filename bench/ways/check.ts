import { askGrpc, askRest } from "../clients.ts";
import type { Question } from "../data/dataset.ts";
import { askOf } from "../measure.ts";
import { checkThrough } from "../store.ts";
import type { Asked, Works } from "./way.ts";

/** Checks, round and round. */
export function checkWorks(
  { store, clients }: Asked,
  questions: readonly Question[],
  depth: number,
): Works {
  return {
    engine: askOf((question) => checkThrough(store, question, { depth }), questions),
    rest: askOf(askRest(clients.rest, { depth }), questions),
    grpc: askOf(askGrpc(clients.grpc, { depth }), questions),
  };
}

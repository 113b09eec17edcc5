import { performance } from "node:perf_hooks";

/** Work that was put off waits for new connections, but for no longer than this. */
const waitMaxMs = 20;

let lastConnection = -1;
let waitsSince: number | undefined;
let decidedIn = -1;
let decision = false;

/** The number of the present round of the event loop. */
export function loopRound(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}

/** To be called for each connection that is accepted. */
export function connectionAccepted(): void {
  lastConnection = loopRound();
}

/**
 * Whether work that was put off should let this round of the loop pass, because more connections may
 * wait to be accepted. The loop accepts one connection a round: one that stands behind hundreds of
 * others waits for hundreds of rounds, which must be short. The answer is the same for all who ask in
 * a round, so that all of them go on in the round that is given to work.
 */
export function connectionsGoFirst(): boolean {
  const round = loopRound();
  if (round !== decidedIn) {
    decidedIn = round;
    decision = decide(round);
  }
  return decision;
}

function decide(round: number): boolean {
  if (lastConnection < round - 1) {
    waitsSince = undefined;
    return false;
  }
  const now = performance.now();
  waitsSince ??= now;
  if (now - waitsSince < waitMaxMs) return true;
  waitsSince = undefined;
  return false;
}

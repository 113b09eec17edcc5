/** The reserves of all workers together are at most this part of a limit. */
const reserveShare = 1 / 20;

/**
 * What each worker may use of a limit without asking, so that small requests of many tenants ask nothing.
 * What one worker cannot get when it asks for all is the reserves of the others: less than a twentieth of
 * the limit, and nothing of a limit below twenty for each worker.
 */
export function reserveOf(limit: number, workers: number): number {
  return Math.floor((limit * reserveShare) / workers);
}

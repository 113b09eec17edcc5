import { medianOfNumbers } from "../measure.ts";
import { familySeconds, postmasterOf, processorSeconds } from "../processor-time.ts";
import { figure } from "../report.ts";
import type { BenchClusters } from "./clusters.ts";
import type { BenchTenant } from "./tenants.ts";

/** What a write takes on two clusters, beside one. */
export interface WriteCost {
  /** Milliseconds of processor time of the instance and all servers. */
  readonly one: number;
  readonly two: number;
  /** Of pairs that were measured in turn: two clusters against one. */
  readonly ratio: number;
}

export interface WriteCosts {
  /** Each of the two clusters has as many callers as the one: many, or half of them. */
  readonly many: WriteCost;
  readonly few: WriteCost;
  /** The many callers of the one cluster are divided among the two. */
  readonly divided: WriteCost;
}

const sides = ["fewOnOne", "manyOnOne", "fewOnTwo", "manyOnTwo"] as const;

/** The tenants that are written to: one on each cluster for few callers, and two for many. */
export type WrittenTenants = Readonly<Record<(typeof sides)[number], readonly BenchTenant[]>>;

const writesOfTenant = 1_000;
const callersOfTenant = 4;

/**
 * What a write takes on one cluster and on two. Writes that wait at the same moment share a transaction, so a
 * write costs less the more callers a cluster has. Two clusters add up if each of them, with as many callers
 * as the one, takes as much for a write as that one.
 */
export async function measureWrites(
  clusters: BenchClusters,
  tenants: WrittenTenants,
  pairs: number,
): Promise<WriteCosts> {
  const masters = await Promise.all(clusters.all.map(async ({ uri }) => await postmasterOf(uri)));
  const spent = async (): Promise<number> => {
    const servers = await Promise.all(masters.map(familySeconds));
    const own = await processorSeconds(clusters.serving.pid);
    return servers.reduce((sum, seconds) => sum + seconds, own);
  };
  const cost = async (written: readonly BenchTenant[]): Promise<number> => {
    const before = await spent();
    await writeAll(written);
    return (((await spent()) - before) * 1_000) / (written.length * writesOfTenant);
  };
  // The first writes open connections and plan.
  for (const side of sides) await cost(tenants[side]);
  const costs: Record<(typeof sides)[number], number[]> = {
    fewOnOne: [],
    manyOnOne: [],
    fewOnTwo: [],
    manyOnTwo: [],
  };
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? sides : sides.toReversed();
    for (const side of order) costs[side].push(await cost(tenants[side]));
  }
  const compareCost = (one: readonly number[], two: readonly number[]): WriteCost => ({
    one: medianOfNumbers(one),
    two: medianOfNumbers(two),
    ratio: medianOfNumbers(two.map((each, pair) => each / (one[pair] ?? Number.NaN))),
  });
  return {
    many: compareCost(costs.manyOnOne, costs.manyOnTwo),
    few: compareCost(costs.fewOnOne, costs.fewOnTwo),
    divided: compareCost(costs.manyOnOne, costs.fewOnTwo),
  };
}

async function writeAll(tenants: readonly BenchTenant[]): Promise<void> {
  const writer = async ({ write }: BenchTenant): Promise<void> => {
    for (let nth = 0; nth < writesOfTenant / callersOfTenant; nth++) await write();
  };
  await Promise.all(
    tenants.flatMap((tenant) => Array.from({ length: callersOfTenant }, () => writer(tenant))),
  );
}

export function writeLines({ many, few, divided }: WriteCosts): string {
  const line = ({ one, two, ratio }: WriteCost, callers: string): string =>
    `processor time of a write, ${callers}: ${figure(one)} ms and ${figure(two)} ms, ratio ${figure(ratio)}`;
  return [
    line(many, "eight callers on one cluster, and on each of two"),
    line(few, "four callers on one cluster, and on each of two"),
    line(divided, "eight callers on one cluster, and four on each of two"),
  ].join("\n");
}

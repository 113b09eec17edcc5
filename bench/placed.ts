import { connectGrpc } from "../test/support/grpc.ts";
import { type BenchClusters, type ClusterName, startClusters } from "./placed/clusters.ts";
import { measureMove, type MoveResult, moveTable } from "./placed/moves.ts";
import { measureOutage, type OutageResult, outageTable } from "./placed/outages.ts";
import { type BenchTenant, makeTenant } from "./placed/tenants.ts";
import { measureWrites, type WriteCosts, writeLines } from "./placed/writes.ts";

export interface PlacedOptions {
  /** Tuples of the tenant that moves. */
  readonly tuples: number;
  /** Without a cluster that is lost, and as many with it. */
  readonly seconds: number;
  /** Of alternating measurements of writes. */
  readonly pairs: number;
  /** The parts to measure: those whose name holds the text. */
  readonly only: string;
  readonly sharedBuffers: string;
}

export interface PlacedResult {
  readonly moves: readonly MoveResult[];
  readonly outages: readonly OutageResult[];
  readonly writes: WriteCosts | undefined;
}

const documents = 10_000;

/** The rate of the second move, in tuples per second. */
const slowRate = 20_000;

/**
 * Measures tenants on three clusters, each on a server of its own: a move of a large tenant and its neighbours,
 * the loss of one cluster and the tenants of others, and what writes take on one cluster and on two.
 */
export async function benchPlaced(
  options: PlacedOptions,
  print: (line: string) => void,
): Promise<PlacedResult> {
  const clusters = await startClusters(options.sharedBuffers);
  const grpc = connectGrpc(clusters.serving.grpc);
  const make = async (cluster: ClusterName, id: string, size = documents): Promise<BenchTenant> =>
    await makeTenant(grpc, clusters.of[cluster], { id, documents: size });
  const includes = (part: string): boolean => part.includes(options.only);
  try {
    const a = await make("a", "near-source");
    const b = await make("b", "near-target");
    const c = await make("c", "elsewhere");
    const moves = includes("move") ? await benchMoves(clusters, [a, b], make, options) : [];
    if (moves.length > 0) print(`\n${moveTable(moves)}`);
    const outages: OutageResult[] = [];
    for (const kind of ["down", "silent"] as const) {
      if (!includes("outage")) break;
      const tenants = { lost: c, others: [a, b] };
      outages.push(await measureOutage(kind, clusters, tenants, options.seconds));
    }
    if (outages.length > 0) print(`\n${outageTable(outages)}`);
    const writes = includes("write")
      ? await benchWrites(clusters, [a, b], make, options.pairs)
      : undefined;
    if (writes !== undefined) print(`\n${writeLines(writes)}`);
    return { moves, outages, writes };
  } finally {
    grpc.close();
    await clusters.stop();
  }
}

async function benchMoves(
  clusters: BenchClusters,
  neighbours: readonly BenchTenant[],
  make: (cluster: ClusterName, id: string, size: number) => Promise<BenchTenant>,
  { tuples }: PlacedOptions,
): Promise<readonly MoveResult[]> {
  const { id: tenant } = await make("a", "large", tuples);
  const shared = { tenant, neighbours };
  const fast = await measureMove(clusters, { ...shared, to: "b", rate: undefined });
  const slow = await measureMove(clusters, { ...shared, to: "a", rate: slowRate });
  return [fast, slow];
}

async function benchWrites(
  clusters: BenchClusters,
  [a, b]: readonly [BenchTenant, BenchTenant],
  make: (cluster: ClusterName, id: string) => Promise<BenchTenant>,
  pairs: number,
): Promise<WriteCosts> {
  const ofA = [a, await make("a", "second-of-source")];
  const ofB = [b, await make("b", "second-of-target")];
  const tenants = { fewOnOne: [a], manyOnOne: ofA, fewOnTwo: [a, b], manyOnTwo: [...ofA, ...ofB] };
  return await measureWrites(clusters, tenants, pairs);
}

import type { TenantId } from "../../../base/tuple.ts";

/** What a plan knows of a cluster. */
export interface ClusterLoad {
  readonly name: string;
  readonly weight: number;
  /** Tuples of all its tenants. */
  readonly tuples: number;
  /** Its largest tenants, the largest first. */
  readonly tenants: readonly { readonly id: TenantId; readonly tuples: number }[];
}

export interface PlannedMove {
  readonly tenant: TenantId;
  readonly tuples: number;
  readonly from: string;
  readonly to: string;
}

/** A difference from the share that is worth no move, as a part of the share. */
const tolerance = 0.05;

/** A cluster amid a plan. */
interface PlannedLoad {
  readonly name: string;
  readonly share: number;
  /** Tuples above its share. */
  above: number;
  readonly tenants: ClusterLoad["tenants"][number][];
}

/**
 * Moves after which each cluster has about its share of all tuples, by weight. Clusters with the weight 0 are
 * left as they are. Each move goes from a cluster that has most above its share to the one that has most below
 * it, and takes the tenant that makes the two most equal. No tenant moves twice.
 */
export function planBalance(loads: readonly ClusterLoad[]): readonly PlannedMove[] {
  const taking = loads.filter(({ weight }) => weight > 0);
  const weights = taking.reduce((sum, { weight }) => sum + weight, 0);
  const total = taking.reduce((sum, { tuples }) => sum + tuples, 0);
  const state = taking.map(({ name, weight, tuples, tenants }): PlannedLoad => {
    const share = (total * weight) / weights;
    return { name, share, above: tuples - share, tenants: [...tenants] };
  });
  const moves: PlannedMove[] = [];
  for (let next = nextMove(state); next !== undefined; next = nextMove(state)) moves.push(next);
  return moves;
}

function nextMove(state: readonly PlannedLoad[]): PlannedMove | undefined {
  const sorted = state.toSorted((one, other) => other.above - one.above);
  const least = sorted.at(-1);
  if (least === undefined) return undefined;
  for (const most of sorted) {
    if (most.above <= most.share * tolerance) return undefined;
    const gap = most.above - least.above;
    const fitting = most.tenants.filter(({ tuples }) => tuples > 0 && tuples < gap);
    const [first, ...rest] = fitting;
    if (first === undefined) continue;
    const off = ({ tuples }: { readonly tuples: number }): number => Math.abs(tuples - gap / 2);
    const chosen = rest.reduce((one, other) => (off(other) <= off(one) ? other : one), first);
    most.tenants.splice(most.tenants.indexOf(chosen), 1);
    most.above -= chosen.tuples;
    least.above += chosen.tuples;
    return { tenant: chosen.id, tuples: chosen.tuples, from: most.name, to: least.name };
  }
  return undefined;
}

/** Where tenants of a cluster go that is drained: `next` names the cluster for one more. */
export class DrainPlan {
  #loads: { readonly name: string; readonly weight: number; tenants: number }[];
  readonly #lost = new Set<string>();

  /** @param others the clusters with a weight above 0, without the drained one */
  constructor(
    others: readonly {
      readonly name: string;
      readonly weight: number;
      readonly tenants: number;
    }[],
  ) {
    this.#loads = others.map((one) => ({ ...one }));
  }

  /** The cluster cannot be used: it gets no more tenants. */
  lose(name: string): void {
    this.#lost.add(name);
    this.#loads = this.#loads.filter((one) => one.name !== name);
  }

  isLost(name: string): boolean {
    return this.#lost.has(name);
  }

  /** Undefined if there is no other cluster. */
  next(): string | undefined {
    const [first, ...rest] = this.#loads;
    if (first === undefined) return undefined;
    const chosen = rest.reduce((one, other) => (after(other) < after(one) ? other : one), first);
    chosen.tenants++;
    return chosen.name;
  }
}

function after({ tenants, weight }: { readonly tenants: number; readonly weight: number }): number {
  return (tenants + 1) / weight;
}

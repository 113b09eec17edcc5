import type { ClusterControl } from "../../src/store/store.ts";

/** A cluster without a database. */
export class FakeCluster implements ClusterControl {
  readonly name: string;
  weight = 1;
  answers = true;

  constructor(name: string) {
    this.name = name;
  }

  setWeight(weight: number): void {
    this.weight = weight;
  }

  ping: () => Promise<void> = async () => {
    if (!this.answers) throw new Error("it is down");
  };
}

/** Two clusters with these names. */
export function fakeClusters(one: string, other: string): readonly [FakeCluster, FakeCluster] {
  return [new FakeCluster(one), new FakeCluster(other)];
}

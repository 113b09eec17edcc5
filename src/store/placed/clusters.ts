import { hash } from "node:crypto";

import { must } from "../../base/assert.ts";
import { fieldError, PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import type { NewTenant } from "../store.ts";
import type { Cluster } from "./cluster.ts";

/** The clusters of the configuration. */
export class Clusters {
  readonly all: readonly Cluster[];
  readonly #byName: ReadonlyMap<string, Cluster>;

  constructor(all: readonly Cluster[]) {
    this.all = all;
    this.#byName = new Map(all.map((cluster) => [cluster.name, cluster]));
  }

  /** Fails with UNAVAILABLE if there is no such cluster, which the start of another instance may mend. */
  named(name: string): Cluster {
    const cluster = this.#byName.get(name);
    if (cluster !== undefined) return cluster;
    throw new PembaError(
      "UNAVAILABLE",
      "the tenant is on a cluster that `database.clusters` of this instance does not name",
    );
  }

  /** The same without an error. */
  find(name: string | undefined): Cluster | undefined {
    return name === undefined ? undefined : this.#byName.get(name);
  }

  /**
   * The cluster for a new tenant: the one that is asked for, or one by the weights, the same for the same
   * id. One that is known not to answer gets none while another one does.
   */
  choose({ id, cluster: name }: NewTenant): Cluster {
    if (name !== undefined) return this.#asked(name);
    const taking = this.all.filter(({ weight }) => weight > 0);
    const serving = taking.filter(({ isServing }) => isServing);
    const candidates = serving.length > 0 ? serving : taking;
    const total = candidates.reduce((sum, { weight }) => sum + weight, 0);
    let left = (hash("sha256", id, "buffer").readUInt32BE(0) / 2 ** 32) * total;
    const chosen = candidates.find(({ weight }) => (left -= weight) < 0) ?? candidates.at(-1);
    return must(chosen, "the configuration has a cluster with a weight");
  }

  #asked(name: string): Cluster {
    const cluster = this.#byName.get(name);
    if (cluster !== undefined) return cluster;
    const names = [...this.#byName.keys()].map((one) => quote(one)).join(", ");
    throw fieldError("VALIDATION", "cluster", `${quote(name)} is none of the clusters ${names}`);
  }
}

import { PembaError, reasonOf } from "../../base/error.ts";
import { pause } from "../../base/pause.ts";
import { isAway, onceServerAnswers } from "../postgres/await-server.ts";
import type { ClusterControl, Store } from "../store.ts";

/** A cluster as it is configured. */
export interface ClusterSource {
  readonly name: string;
  /** Its share of new tenants at first. It gets none with the weight 0. */
  readonly weight: number;
  /** The database that takes writes. */
  readonly url: string;
  /** Opens its engine, with the layers that stand around it. Fails as opening an engine does. */
  readonly open: () => Promise<Store>;
  /** Whether requests are kept away from its database, which is gone. Never, if absent. */
  readonly isGone?: () => boolean;
  /** Called with what an operator should know of it. */
  readonly warn: (message: string) => void;
}

/** The start of the process waits this long for a cluster. It then goes on without it. */
const startPatienceMs = 10_000;

/** A database that answers and cannot be used, such as one that lacks a migration, is tried again after this. */
const refusedPauseMs = 30_000;

/** A cluster with its store, which may be opened long after the start. */
export class Cluster implements ClusterControl {
  readonly name: string;
  #weight: number;
  readonly #source: ClusterSource;
  readonly #closing = new AbortController();
  #store: Store | undefined;
  #opening: Promise<void> | undefined;

  private constructor(source: ClusterSource, store: Store | undefined) {
    this.name = source.name;
    this.#weight = source.weight;
    this.#source = source;
    this.#store = store;
  }

  /** A cluster whose store is open. */
  static opened(source: ClusterSource, store: Store): Cluster {
    return new Cluster(source, store);
  }

  /**
   * Opens the store of a cluster. If the cluster does not answer, or takes long, this goes on in the
   * background, and its tenants are refused until then. Fails as opening the engine does if the cluster
   * answers.
   */
  static async begin(source: ClusterSource): Promise<Cluster> {
    const cluster = new Cluster(source, undefined);
    const waiting = new AbortController();
    const slow = new Error("it takes longer than the start waits");
    const first = cluster.#attempt(0);
    const late = pause(startPatienceMs, waiting.signal).then(() => slow);
    const problem = await Promise.race([first, late]);
    waiting.abort();
    if (problem === undefined) return cluster;
    if (problem !== slow && !isAway(problem)) throw problem;
    source.warn(
      `the start goes on without the cluster, its tenants are refused until it is open: ${reasonOf(problem)}`,
    );
    cluster.#opening = cluster.#openLater(first);
    return cluster;
  }

  /** The database that takes writes. */
  get url(): string {
    return this.#source.url;
  }

  get weight(): number {
    return this.#weight;
  }

  setWeight(weight: number): void {
    this.#weight = weight;
  }

  /** Fails with UNAVAILABLE until the cluster has answered. */
  get store(): Store {
    if (this.#store !== undefined) return this.#store;
    throw new PembaError(
      "UNAVAILABLE",
      "the database of this tenant has not answered since the start, retry later",
    );
  }

  /** False if requests fail at once: its store is not open, or its database is known to be gone. */
  get isServing(): boolean {
    return this.#store !== undefined && this.#source.isGone?.() !== true;
  }

  /** The store, if it is open. */
  get openStore(): Store | undefined {
    return this.#store;
  }

  async ping(): Promise<void> {
    await this.store.ping();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening;
    await this.#store?.close();
  }

  /** Opens the store, and waits so many milliseconds for its server. Resolves to the problem, if there is one. */
  async #attempt(timeoutMs: number): Promise<unknown> {
    const patience = { timeoutMs, signal: this.#closing.signal, onAbsent: () => {} };
    try {
      this.#store = await onceServerAnswers(this.#source.url, patience, this.#source.open);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Tries again and again after the first attempt, and tells of each problem besides an outage. */
  async #openLater(first: Promise<unknown>): Promise<void> {
    const { signal } = this.#closing;
    const { warn } = this.#source;
    let told: string | undefined;
    let problem = await first;
    while (problem !== undefined && !signal.aborted) {
      if (!isAway(problem)) {
        const reason = reasonOf(problem);
        if (reason !== told) warn(`the cluster cannot be used, its tenants are refused: ${reason}`);
        told = reason;
        await pause(refusedPauseMs, signal);
      }
      problem = await this.#attempt(Number.POSITIVE_INFINITY);
    }
    if (problem === undefined) warn("the cluster answers, its tenants are served");
  }
}

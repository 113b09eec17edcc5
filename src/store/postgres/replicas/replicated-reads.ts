import { errorOf, reasonOf } from "../../../base/error.ts";
import { hostOf, hostUris } from "../../../base/host-uris.ts";
import { BackgroundLoop } from "../../background-loop.ts";
import type { Database, DatabaseOptions } from "../connect/database.ts";
import { faultOf } from "../connect/driver-error.ts";
import type { PoolState } from "../connect/pool.ts";
import type { Row } from "../connect/row.ts";
import type { ParameterValue } from "../connect/value.ts";
import type { PinnedState } from "../token/snap-token.ts";
import { isFinal, type ReadFrame, type Reads } from "./reads.ts";
import { Replica, ReplicationLag, type ServerLook, lookAt } from "./replica.ts";

/** How often servers are asked how far they have come. */
const lookEveryMs = 1_000;

/** A replica that is further behind is not asked: what was revoked must not stay allowed for long. */
const lagMaxMs = 60_000;

/** The state of a replica, for metrics. */
export interface ReplicaState {
  /** Host and port. */
  readonly name: string;
  /** Is it asked? */
  readonly isUsed: boolean;
  /** How many milliseconds it is behind; undefined while that is not known. */
  readonly lagMs: number | undefined;
  readonly pool: PoolState | undefined;
}

interface Follower {
  readonly name: string;
  readonly replica: Replica;
  lagMs: number | undefined;
  /** Why it is not asked; undefined when it is. */
  unfit: string | undefined;
}

interface ReplicatedReadsParts {
  readonly writer: Database;
  /** Another connection to the writer, which does not wait behind requests. */
  readonly probe: Database;
  readonly replicas: readonly { readonly name: string; readonly replica: Replica }[];
  readonly warn: (message: string) => void;
  /** Told of what is well again. */
  readonly info: (message: string) => void;
}

/**
 * Asks replicas, and the writer whenever a replica may not give the right answer: it has not
 * reached the state that is asked for, knows another head, has no name for the state that it read,
 * fails, or is gone. No request fails for a replica.
 */
export class ReplicatedReads implements Reads {
  readonly #writer: Database;
  readonly #probe: Database;
  readonly #followers: readonly Follower[];
  readonly #warn: (message: string) => void;
  readonly #info: (message: string) => void;
  readonly #lag = new ReplicationLag();
  readonly #loop: BackgroundLoop;
  /** The writer when it was last asked. */
  #writing: ServerLook;
  #next = 0;

  private constructor(
    { writer, probe, replicas, warn, info }: ReplicatedReadsParts,
    writing: ServerLook,
  ) {
    this.#writer = writer;
    this.#probe = probe;
    this.#warn = warn;
    this.#info = info;
    this.#writing = writing;
    this.#lag.wrote({ at: performance.now(), position: writing.position });
    this.#followers = replicas.map(({ name, replica }) => ({
      name,
      replica,
      lagMs: undefined,
      unfit: undefined,
    }));
    this.#loop = new BackgroundLoop({
      everyMs: lookEveryMs,
      work: async (signal) => await this.#lookAround(signal),
      failed: (error) => warn(`the standbys could not be looked at: ${reasonOf(error)}`),
    });
  }

  /** Looks which servers are there. Missing replicas are used when they come. Fails as the writer does. */
  static async start(parts: ReplicatedReadsParts): Promise<ReplicatedReads> {
    const reads = new ReplicatedReads(parts, await lookAt(parts.probe));
    await reads.#lookAround();
    return reads;
  }

  get states(): readonly ReplicaState[] {
    return this.#followers.map(({ name, replica, lagMs, unfit }) => ({
      name,
      isUsed: unfit === undefined,
      lagMs,
      pool: replica.database?.pool,
    }));
  }

  /** How many servers share the questions: replicas that are fit, and the writer when there is none. */
  get servers(): number {
    let fit = 0;
    for (const follower of this.#followers) if (this.#isFitFor(follower, undefined)) fit++;
    return Math.max(1, fit);
  }

  async read(
    text: string,
    values: readonly ParameterValue[],
    frame: ReadFrame,
  ): Promise<readonly Row[]> {
    const follower = this.#choose(frame.state);
    const rows = follower && (await this.#askReplica(follower, text, values, frame.signal));
    if (rows !== undefined && isFinal(rows, frame)) return rows;
    return await this.#writer.read(text, values, frame.signal);
  }

  async close(): Promise<void> {
    await this.#loop.close();
    await Promise.all(this.#followers.map(async ({ replica }) => await replica.close()));
  }

  /** The one with the least to do that is known to have reached the state, in rotation. */
  #choose(state: PinnedState | undefined): Follower | undefined {
    let best: Follower | undefined;
    let least = Number.POSITIVE_INFINITY;
    this.#next++;
    for (let index = 0; index < this.#followers.length; index++) {
      const follower = this.#followers[(index + this.#next) % this.#followers.length];
      if (follower === undefined || !this.#isFitFor(follower, state)) continue;
      const { busy, waiting } = follower.replica.database?.pool ?? { busy: 0, waiting: 0 };
      if (busy + waiting >= least) continue;
      best = follower;
      least = busy + waiting;
    }
    return best;
  }

  #isFitFor({ replica, unfit }: Follower, state: PinnedState | undefined): boolean {
    const { look } = replica;
    if (unfit !== undefined || look === undefined) return false;
    if (state === undefined) return true;
    return state.timeline === this.#writing.timeline && endOf(state) <= look.reached;
  }

  /** Undefined when the writer is to be asked. */
  async #askReplica(
    follower: Follower,
    text: string,
    values: readonly ParameterValue[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Row[] | undefined> {
    try {
      return await follower.replica.database?.read(text, values, signal);
    } catch (thrown) {
      const error = errorOf(thrown);
      // A statement that ran there for too long, or blocked the replica, is asked of the writer.
      if (error.kind === "cancelled") throw error;
      if (faultOf(error) === "unreached") this.#leaveOut(follower, reasonOf(error));
      return undefined;
    }
  }

  /** The signal ends it. */
  async #lookAround(signal?: AbortSignal): Promise<void> {
    const at = performance.now();
    try {
      this.#writing = await lookAt(this.#probe, signal);
      this.#lag.wrote({ at, position: this.#writing.position });
    } catch {
      // It stays as it was: a request to it meets the same fault and reports it.
      this.#lag.saidNothing();
    }
    if (signal?.aborted === true) return;
    await Promise.all(
      this.#followers.map(async (follower) => await this.#lookAt(follower, signal)),
    );
  }

  async #lookAt(follower: Follower, signal: AbortSignal | undefined): Promise<void> {
    try {
      const look = await follower.replica.lookAround(signal);
      follower.lagMs = this.#lag.of(look.position, performance.now());
      const unfit = unfitness(look, this.#writing, follower.lagMs);
      if (unfit !== undefined) {
        this.#leaveOut(follower, unfit);
        return;
      }
      if (follower.unfit === undefined) return;
      follower.unfit = undefined;
      this.#info(`the standby \`${follower.name}\` is asked`);
    } catch (error) {
      if (signal?.aborted === true) return;
      follower.lagMs = undefined;
      this.#leaveOut(follower, reasonOf(errorOf(error)));
    }
  }

  #leaveOut(follower: Follower, reason: string): void {
    const isNew = follower.unfit === undefined;
    follower.unfit = reason;
    if (isNew) this.#warn(`the standby \`${follower.name}\` is not asked: ${reason}`);
  }
}

/**
 * Replicas for a store, when it has some. Fails as the writer does, and for none of them.
 */
export async function startReplicas(
  options: DatabaseOptions & {
    readonly replicaUrl?: string | undefined;
    readonly info?: ((message: string) => void) | undefined;
  },
  writer: Database,
  probe: Database,
): Promise<ReplicatedReads | undefined> {
  const { url, replicaUrl = "", pool, readTimeoutMs, telemetry, onStatement, warn } = options;
  const { info = () => {} } = options;
  if (replicaUrl === "" || replicaUrl === url) return undefined;
  const replicas = hostUris(replicaUrl).uris.map((uri) => ({
    name: hostOf(uri),
    replica: new Replica({ url: uri, pool, readTimeoutMs, telemetry, onStatement, warn }),
  }));
  return await ReplicatedReads.start({ writer, probe, replicas, warn, info });
}

/** Why a server cannot answer for the writer; undefined when it can. */
function unfitness(look: ServerLook, writer: ServerLook, lagMs: number): string | undefined {
  if (look.place !== writer.place) return "it is of another cluster or database than the writer";
  if (!look.isStandby && look.startedAt !== writer.startedAt) {
    return "it follows no server, and is not the writer";
  }
  if (look.timeline !== writer.timeline) return "it follows another timeline than the writer's";
  if (lagMs > lagMaxMs) {
    return `it is more than ${lagMaxMs / 1000} seconds behind, or the writer has not answered for so long`;
  }
  return undefined;
}

/** Every transaction that the state shows has a lower id. */
function endOf({ snapshot }: PinnedState): bigint {
  return BigInt(snapshot.split(":")[1] ?? "");
}

import type { SchemaVersion, Subject, TenantId } from "../../base/tuple.ts";

/** A change of a tuple or an attribute, as far as it says which answers it may change. */
export interface TailChange {
  readonly entityType: string;
  /** Of a relation or an attribute. */
  readonly name: string;
  readonly entityId: string;
  /** Undefined for an attribute. */
  readonly subject: Subject | undefined;
}

/** The latest of them are enough: an answer that was not asked for since then is found anew. */
const changesMax = 128;

/** What a tail takes without its changes, and each of them without its ids: estimated upwards. */
const ownBytes = 600;
const changeBytes = 250;

/** The state in which a tail was read. */
export interface TailState {
  /** Of the schema; undefined when there is none. */
  readonly head: SchemaVersion | undefined;
  /** What it shows for certain, in the words of the storage. */
  readonly shown: string;
}

interface TailEntry {
  readonly position: number;
  readonly change: TailChange;
}

/**
 * The end of the change log of one tenant, as it was last read. Positions name the states in which it was
 * read: they ascend, and no two tails share one.
 */
export class Tail {
  readonly #changes: TailEntry[] = [];
  /** What changed since earlier positions is not known. */
  #start: number;
  #position: number;
  #state: TailState;
  #bytes = ownBytes;

  constructor(position: number, state: TailState) {
    this.#start = position;
    this.#position = position;
    this.#state = state;
  }

  /** Of the state in which it was last read. */
  get position(): number {
    return this.#position;
  }

  get state(): TailState {
    return this.#state;
  }

  /** Approximately. */
  get bytes(): number {
    return this.#bytes;
  }

  /** It was read again: `changes` holds at least all that this state shows and the one before does not. */
  moveTo(position: number, state: TailState, changes: readonly TailChange[]): void {
    this.#position = position;
    this.#state = state;
    for (const change of changes) {
      this.#changes.push({ position, change });
      this.#bytes += bytesOf(change);
    }
    const surplus = this.#changes.splice(0, Math.max(0, this.#changes.length - changesMax));
    for (const { change } of surplus) this.#bytes -= bytesOf(change);
    this.#start = surplus.at(-1)?.position ?? this.#start;
  }

  /** Is it known that no change `touches` since a position? */
  isUntouchedSince(position: number, touches: (change: TailChange) => boolean): boolean {
    if (position < this.#start) return false;
    const later = this.#changes.findIndex((entry) => entry.position > position);
    return later < 0 || !this.#changes.slice(later).some(({ change }) => touches(change));
  }
}

function bytesOf({ entityId, subject }: TailChange): number {
  return changeBytes + entityId.length + (subject?.id.length ?? 0);
}

/** Follows tenants by reading their tails. */
export interface TailReader {
  /** The tail as it was last read. Undefined if the tenant is not followed. */
  known(tenant: TenantId): Tail | undefined;
  /** Whether other callers are waited for, who would share a reading. */
  readonly isGathering: boolean;
  /**
   * Whether a reading for one caller is likely to cost little. Each question counts as a chance to find that out again,
   * so it is asked only if the answer decides.
   */
  mayReadAlone(tenant: TenantId): boolean;
  /**
   * The tail, read at a moment after the call; undefined if the server that was asked knows no such
   * tenant. Fails with UNAVAILABLE, and with CANCELLED when the signal aborts.
   */
  read(tenant: TenantId, signal: AbortSignal | undefined): Promise<Tail | undefined>;
  /** Does a state show all that another one shows? Both as `shown` of what was found in them. */
  isShownIn(shown: string, by: string): boolean;
}

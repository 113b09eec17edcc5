import { randomBytes } from "node:crypto";

import { type TokenMac, tokenMac } from "../../base/token-mac.ts";
import type { Attribute, SnapToken, TenantId, Tuple } from "../../base/tuple.ts";
import type { KnownFacts } from "../../memory/known-facts.ts";
import type { DataOperation } from "../bundle.ts";
import type { Change } from "../change.ts";
import { type DataChange, preconditionFailed, tokenField } from "../data-change.ts";
import {
  type AttributeFilter,
  attributePlace,
  comparePlaces,
  leadingEnd,
  type TupleFilter,
  tuplePlace,
} from "../filter.ts";
import { countWithin, pageOf } from "../page.ts";
import {
  expiredSnapToken,
  invalidSnapToken,
  snapTokenBeforeTenant,
  tenantNotFound,
  withTokenIn,
} from "../store-error.ts";
import type { DataFilters, DataPage, DataRead } from "../store.ts";
import type { ChangeLog } from "./change-log.ts";
import { FactsAt } from "./facts.ts";
import { KeptHistory } from "./kept-history.ts";
import type { Revision } from "./revision.ts";
import { decodeRevision, encodeRevision, type TokenMaker } from "./snap-token.ts";
import { applyOperations, deleteFound, emptyTenantData, type TenantData } from "./tenant-data.ts";

/**
 * Changes, of all tenants together, that are kept only for states of the past and for streams that read
 * them: some hundred megabytes.
 */
const pastChangesMax = 1_000_000;

/**
 * The tuples and attributes of all tenants, in every state they have had that is kept. There is one
 * writer at a time, since nothing here waits.
 */
export class MemoryData {
  /** Authenticates continuous tokens. */
  readonly pageMac: TokenMac;
  readonly #tokenMaker: TokenMaker;
  readonly #tenants = new Map<TenantId, TenantData>();
  readonly #history: KeptHistory;
  readonly #keepsChanges: boolean;
  #revision: Revision = 0;

  /**
   * `keepsChanges`: whether there is a log of what is changed from now on. Without `tokenKey` one is
   * drawn: nothing that tokens name outlives the process.
   */
  constructor(options: {
    readonly keepsChanges: boolean;
    readonly pastChangesMax?: number;
    readonly tokenKey?: string | undefined;
  }) {
    const key = options.tokenKey ?? randomBytes(32).toString("hex");
    this.pageMac = tokenMac(key, "continuous");
    this.#tokenMaker = { engine: randomBytes(8).toString("hex"), mac: tokenMac(key, "snap") };
    this.#keepsChanges = options.keepsChanges;
    this.#history = new KeptHistory(options.pastChangesMax ?? pastChangesMax);
  }

  /** Makes room for a tenant that does not exist yet. */
  addTenant(tenant: TenantId): void {
    // A state of its own, so that no token of a tenant that had the id before names it.
    this.#revision++;
    this.#tenants.set(tenant, emptyTenantData(this.#revision));
  }

  /** Drops all that a tenant holds; one with the same id begins empty, in states of its own. */
  removeTenant(tenant: TenantId): void {
    this.#tenants.get(tenant)?.log.end();
    this.#tenants.delete(tenant);
  }

  /** Applies operations whose writes fit the schema; returns the token of the state right after. */
  apply(tenant: TenantId, operations: readonly DataOperation[]): SnapToken {
    return this.#change(tenant, (data, revision) => applyOperations(data, operations, revision));
  }

  /** Deletes what the filters let through, and returns the token of the state right after. */
  delete(tenant: TenantId, filters: DataFilters): SnapToken {
    const by = {
      tuples: filters.tuples === undefined ? [] : [filters.tuples],
      attributes: filters.attributes === undefined ? [] : [filters.attributes],
    };
    return this.#change(tenant, (data, revision) => deleteFound(data, by, revision));
  }

  /**
   * Deletes, then writes what fits the schema, and returns the token of the state right after. Fails
   * with PRECONDITION_FAILED, and as `revisionOf` does.
   */
  change(tenant: TenantId, change: DataChange): SnapToken {
    const failed = this.#failedPreconditions(tenant, change);
    if (failed.length > 0) throw preconditionFailed(change, failed);
    const by = { tuples: change.tupleFilters, attributes: change.attributeFilters };
    const { tuples, attributes } = change;
    const written = { tuples, attributes, deletedTuples: [], deletedAttributes: [] };
    return this.#change(tenant, (data, revision) => [
      ...deleteFound(data, by, revision),
      ...applyOperations(data, [written], revision),
    ]);
  }

  /** The places of the preconditions that do not hold now. */
  #failedPreconditions(tenant: TenantId, { preconditions }: DataChange): readonly number[] {
    const data = this.#dataOf(tenant);
    return preconditions.flatMap((precondition, place) => {
      const holds =
        precondition.kind === "tuple"
          ? data.tuples.has(precondition.tuple, this.#revision) === precondition.exists
          : data.changed <=
            withTokenIn(tokenField(place), () => this.#revisionIn(data, precondition.since));
      return holds ? [] : [place];
    });
  }

  /** A page of the tuples in one state. Fails with TENANT_NOT_FOUND or INVALID_SNAP_TOKEN. */
  readTuples(tenant: TenantId, read: DataRead<TupleFilter>): DataPage<Tuple> {
    const data = this.#dataOf(tenant);
    const { tuples } = data;
    const end = leadingEnd(read.filter);
    return this.#page(data, read, {
      find: (revision) => tuples.find(read.filter, revision),
      placeOf: (tuple) => tuplePlace(tuple, end),
      bytesOf: () => 0,
    });
  }

  /** A page of the attributes in one state. Fails with TENANT_NOT_FOUND or INVALID_SNAP_TOKEN. */
  readAttributes(tenant: TenantId, read: DataRead<AttributeFilter>): DataPage<Attribute> {
    const data = this.#dataOf(tenant);
    const { attributes } = data;
    return this.#page(data, read, {
      find: (revision) => attributes.find(read.filter, revision),
      placeOf: attributePlace,
      // Values may be large.
      bytesOf: ({ value }) => JSON.stringify(value.data).length,
    });
  }

  /**
   * The state of a tenant that a token names. Fails with TENANT_NOT_FOUND, INVALID_SNAP_TOKEN or
   * SNAP_TOKEN_EXPIRED.
   */
  revisionOf(tenant: TenantId, token: SnapToken): Revision {
    return this.#revisionIn(this.#dataOf(tenant), token);
  }

  /** Fails with SNAP_TOKEN_EXPIRED when a state that was read is kept no longer. */
  requireKept(revision: Revision): void {
    if (revision < this.#history.horizon) throw expiredSnapToken();
  }

  /** The token of a state. */
  tokenOf(revision: Revision): SnapToken {
    return encodeRevision(this.#tokenMaker, revision);
  }

  /** The present state. */
  get revision(): Revision {
    return this.#revision;
  }

  /** The log of a tenant. Fails with TENANT_NOT_FOUND. */
  changes(tenant: TenantId): ChangeLog {
    return this.#dataOf(tenant).log;
  }

  /** Notes which state is the present one, so that later it is known how old it is. */
  noteState(): void {
    this.#history.note(this.#revision, performance.now());
  }

  /** Refuses from now on the tokens of states that had gone by `windowMs` ago. */
  giveUpStates(windowMs: number): void {
    const now = performance.now();
    this.#history.note(this.#revision, now);
    this.#history.giveUp(now - windowMs);
  }

  /** Forgets at most `limit` of what no kept state has. Returns how much that was. */
  prune(limit: number): number {
    const { horizon } = this.#history;
    let pruned = 0;
    for (const { tuples, attributes, log } of this.#tenants.values()) {
      pruned += tuples.prune(horizon, limit - pruned);
      pruned += attributes.prune(horizon, limit - pruned);
      pruned += log.prune(horizon, limit - pruned);
    }
    return pruned;
  }

  /** The facts of a tenant as they stood, or as they stand now. Fails with TENANT_NOT_FOUND. */
  stateAt(
    tenant: TenantId,
    token: SnapToken | undefined,
  ): { readonly facts: KnownFacts; readonly revision: Revision } {
    const revision = token === undefined ? this.#revision : this.revisionOf(tenant, token);
    return { facts: new FactsAt(this.#dataOf(tenant), revision), revision };
  }

  #revisionIn({ created }: TenantData, token: SnapToken): Revision {
    const revision = decodeRevision(this.#tokenMaker, token);
    if (revision > this.#revision) {
      throw invalidSnapToken("names a state in the future");
    }
    if (revision < created) throw snapTokenBeforeTenant();
    this.requireKept(revision);
    return revision;
  }

  #page<T>(
    data: TenantData,
    { snapToken, after, limit }: Omit<DataRead<unknown>, "filter">,
    source: {
      readonly find: (revision: Revision) => Iterable<T>;
      readonly placeOf: (item: T) => readonly string[];
      readonly bytesOf: (item: T) => number;
    },
  ): DataPage<T> {
    const revision = snapToken === undefined ? this.#revision : this.#revisionIn(data, snapToken);
    const behind = [...source.find(revision)]
      .map((item) => ({ item, place: source.placeOf(item) }))
      .filter(({ place }) => after === undefined || comparePlaces(place, after) > 0)
      .sort((a, b) => comparePlaces(a.place, b.place));
    const fitting = countWithin(behind.slice(0, limit), ({ item }) => source.bytesOf(item));
    const { items, next } = pageOf(behind, fitting, ({ place }) => place);
    return {
      items: items.map(({ item }) => item),
      next,
      snapToken: this.tokenOf(revision),
    };
  }

  /** Runs `work`, which says what it changed: anything makes a new state. */
  #change(
    tenant: TenantId,
    work: (data: TenantData, revision: Revision) => readonly Change[],
  ): SnapToken {
    const data = this.#dataOf(tenant);
    const revision = this.#revision + 1;
    const changes = work(data, revision);
    if (changes.length > 0) {
      this.#revision = revision;
      data.changed = revision;
      if (this.#keepsChanges) data.log.append({ revision, changes });
      this.#boundHistory(changes, revision);
    }
    return this.tokenOf(this.#revision);
  }

  /** Limits the history even if the window would keep more. */
  #boundHistory(changes: readonly Change[], revision: Revision): void {
    const left = this.#keepsChanges
      ? changes.length
      : changes.filter(({ operation }) => operation === "delete").length;
    if (this.#history.leave(left, revision)) this.prune(Infinity);
  }

  #dataOf(tenant: TenantId): TenantData {
    const data = this.#tenants.get(tenant);
    if (data === undefined) throw tenantNotFound(tenant);
    return data;
  }
}

import { randomBytes } from "node:crypto";

import { presentCaller } from "../../base/caller.ts";
import { cancelled } from "../../base/error.ts";
import type { Steps } from "../../base/steps.ts";
import { runInSlices } from "../../base/time-slice.ts";
import { type TokenMac, tokenMac } from "../../base/token-mac.ts";
import type { Attribute, SnapToken, TenantId, Tuple } from "../../base/tuple.ts";
import type { KnownFacts } from "../../memory/known-facts.ts";
import type { Change } from "../change.ts";
import {
  type AttributeFilter,
  attributePlace,
  comparePlaces,
  leadingEnd,
  type TupleFilter,
  tuplePlace,
} from "../filter.ts";
import { attributeSizes, countWithin, pageOf, type PageSizes, tupleSizes } from "../page.ts";
import {
  expiredSnapToken,
  invalidSnapToken,
  snapTokenBeforeTenant,
  tenantNotFound,
} from "../store-error.ts";
import type { DataPage, DataRead } from "../store.ts";
import type { ChangeLog } from "./change-log.ts";
import { FactsAt } from "./facts.ts";
import { FirstItems } from "./first-items.ts";
import { KeptHistory } from "./kept-history.ts";
import type { PageVisitor } from "./key-order.ts";
import type { Revision, Write } from "./revision.ts";
import { decodeRevision, encodeRevision, type TokenMaker } from "./snap-token.ts";
import { emptyTenantData, type TenantData } from "./tenant-data.ts";
import { TenantWriter } from "./writer.ts";

/**
 * Changes, of all tenants together, that are kept only for states of the past and for streams that read
 * them: some hundred megabytes.
 */
const pastChangesMax = 1_000_000;

/** A few milliseconds. */
const prunedAtOnce = 2_000;

interface PlacedItem<T> {
  readonly item: T;
  readonly place: readonly string[];
}

/**
 * The tuples and attributes of all tenants, in every state they have had that is kept. A tenant has one
 * writer at a time, which goes on for as many time slices as it needs.
 */
export class MemoryData {
  /** Authenticates continuous tokens. */
  readonly pageMac: TokenMac;
  readonly #tokenMaker: TokenMaker;
  readonly #tenants = new Map<TenantId, TenantData>();
  readonly #history: KeptHistory;
  readonly #keepsChanges: boolean;
  #revision: Revision = 0;
  /** To make one takes as long as a short question. */
  #lastToken: { readonly revision: Revision; readonly token: SnapToken } | undefined;

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

  /**
   * Lets `work` change a tenant alone: other writers of it wait until its promise is settled. Fails with
   * TENANT_NOT_FOUND, and with CANCELLED if the caller has left before it begins.
   */
  async writeAlone<T>(tenant: TenantId, work: (writer: TenantWriter) => Promise<T>): Promise<T> {
    for (;;) {
      const data = this.#dataOf(tenant);
      const done = await data.writes.run(async () => {
        if (presentCaller()?.signal.aborted === true) throw cancelled(undefined);
        // While this waited, the tenant may have been deleted, and made anew.
        if (this.#tenants.get(tenant) !== data) return undefined;
        return { result: await work(this.#writerOf(tenant, data)) };
      });
      if (done !== undefined) return done.result;
    }
  }

  #writerOf(tenant: TenantId, data: TenantData): TenantWriter {
    return new TenantWriter(data, {
      commit: (write, changes) => this.#commit(tenant, data, write, changes),
      revision: () => this.#revision,
      revisionIn: (token) => this.#revisionIn(data, token),
    });
  }

  /** A page of the tuples in one state. Fails with TENANT_NOT_FOUND or INVALID_SNAP_TOKEN. */
  async readTuples(tenant: TenantId, read: DataRead<TupleFilter>): Promise<DataPage<Tuple>> {
    const data = this.#dataOf(tenant);
    const { tuples } = data;
    const end = leadingEnd(read.filter);
    const page = this.#page<Tuple>(data, read, {
      visit: (revision, page) => tuples.visit(read.filter, revision, page),
      placeOf: (tuple) => tuplePlace(tuple, end),
      sizes: tupleSizes,
    });
    return await runInSlices(page, read.signal);
  }

  /** A page of the attributes in one state. Fails with TENANT_NOT_FOUND or INVALID_SNAP_TOKEN. */
  async readAttributes(
    tenant: TenantId,
    read: DataRead<AttributeFilter>,
  ): Promise<DataPage<Attribute>> {
    const data = this.#dataOf(tenant);
    const { attributes } = data;
    const page = this.#page<Attribute>(data, read, {
      visit: (revision, page) => attributes.visit(read.filter, revision, page),
      placeOf: attributePlace,
      sizes: attributeSizes,
    });
    return await runInSlices(page, read.signal);
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
    if (this.#lastToken?.revision !== revision) {
      this.#lastToken = { revision, token: encodeRevision(this.#tokenMaker, revision) };
    }
    return this.#lastToken.token;
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
      if (pruned >= limit) break;
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

  *#page<T>(
    data: TenantData,
    { snapToken, after, limit }: Omit<DataRead<unknown>, "filter">,
    source: {
      readonly visit: (revision: Revision, page: PageVisitor<T>) => Steps<void>;
      readonly placeOf: (item: T) => readonly string[];
      readonly sizes: PageSizes<T>;
    },
  ): Steps<DataPage<T>> {
    const revision = snapToken === undefined ? this.#revision : this.#revisionIn(data, snapToken);
    const first = new FirstItems<PlacedItem<T>>(limit + 1, (a, b) =>
      comparePlaces(a.place, b.place),
    );
    let count = 0;
    yield* source.visit(revision, {
      // A read that goes through all ids has that of the entity in front of each place.
      firstId: after?.[0] ?? "",
      hasEnough: () => count > limit,
      take: (item) => {
        const place = source.placeOf(item);
        if (after !== undefined && comparePlaces(place, after) <= 0) return;
        first.add({ item, place });
        count += 1;
      },
    });
    const behind = yield* first.inOrder();
    // Other requests came between, the collection of history among them.
    this.requireKept(revision);
    const fitting = countWithin(
      behind.slice(0, limit).map(({ item }) => item),
      source.sizes,
    );
    const { items, next } = pageOf(behind, fitting, ({ place }) => place);
    return {
      items: items.map(({ item }) => item),
      next,
      snapToken: this.tokenOf(revision),
    };
  }

  /** Makes a state of what a write has changed, if that is anything. Returns the token of the state. */
  *#commit(
    tenant: TenantId,
    data: TenantData,
    write: Write,
    changes: readonly Change[],
  ): Steps<SnapToken> {
    if (this.#tenants.get(tenant) !== data) throw tenantNotFound(tenant);
    if (changes.length === 0) return this.tokenOf(this.#revision);
    this.#revision++;
    write.revision = this.#revision;
    data.changed = this.#revision;
    if (this.#keepsChanges) data.log.append({ revision: this.#revision, changes });
    const token = this.tokenOf(this.#revision);
    yield* this.#boundHistory(changes, this.#revision);
    return token;
  }

  /** Limits the history even if the window would keep more. */
  *#boundHistory(changes: readonly Change[], revision: Revision): Steps<void> {
    const left = this.#keepsChanges ? changes.length : deletesAmong(changes);
    if (!this.#history.leave(left, revision)) return;
    while (this.prune(prunedAtOnce) === prunedAtOnce) yield;
  }

  #dataOf(tenant: TenantId): TenantData {
    const data = this.#tenants.get(tenant);
    if (data === undefined) throw tenantNotFound(tenant);
    return data;
  }
}

function deletesAmong(changes: readonly Change[]): number {
  let count = 0;
  for (const { operation } of changes) if (operation === "delete") count++;
  return count;
}

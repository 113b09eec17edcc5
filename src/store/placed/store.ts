import { must } from "../../base/assert.ts";
import { PembaError, reasonOf } from "../../base/error.ts";
import type { SchemaVersion, TenantId } from "../../base/tuple.ts";
import { BackgroundLoop } from "../background-loop.ts";
import { makeOperations } from "../layer/make-operations.ts";
import { operations } from "../layer/operation.ts";
import { isBeforeTenant, snapTokenBeforeMove, tenantNotFound } from "../store-error.ts";
import type { Store } from "../store.ts";
import type { Clusters } from "./clusters.ts";
import type { Directory, Placement } from "./directory.ts";
import type { MoveNotes, Mover } from "./move/notes.ts";
import { recoverMoves } from "./move/recover.ts";
import { removeStrays } from "./move/strays.ts";
import { endAsMoved, isMoving, Moving } from "./moving.ts";
import { Placements } from "./placements.ts";
import { isCode, PlacedTenants } from "./tenants.ts";

const settleEveryMs = 60_000;

/** What moves leave that were ended by others is small, and looked for rarely: each look connects to all clusters. */
const straysEveryMs = 3_600_000;

/** A tenant may begin to move once more just after a move of it has ended. */
const attemptsMax = 4;

/** Where a tenant is asked for. Without a version it is what this process has known, which may be out of date. */
interface AskedPlace extends Pick<Placement, "cluster"> {
  readonly version: string | undefined;
}

/** What a store of placed tenants consists of. It closes all of it. */
interface PlacedParts {
  readonly directory: Directory;
  readonly clusters: Clusters;
  readonly warn: (message: string) => void;
}

/**
 * A store whose tenants are on several clusters. Each operation of a tenant goes to the store of its
 * cluster, and to no other one. The list of tenants comes from the directory.
 */
export function createPlacedStore(parts: PlacedParts): Store {
  const { directory, clusters } = parts;
  const placements = new Placements(directory);
  const moving = new Moving(directory);
  const tenants = new PlacedTenants({ directory, placements, moving, clusters });
  const settling = startSettling(parts, tenants);

  /**
   * Does work on the store of a tenant. It may have left the place that was known or found, or leave it at
   * this moment, so a tenant that is not there is looked for once more. It is not there at all only if its
   * placement is the same as before its cluster was asked: a move that is taken back ends where it began.
   */
  const onItsStore = async <T>(
    tenant: TenantId,
    work: (store: Store) => Promise<T>,
  ): Promise<T> => {
    const known = placements.known(tenant);
    let at: AskedPlace | undefined =
      known === undefined ? await placements.find(tenant) : { cluster: known, version: undefined };
    if (at === undefined) throw tenantNotFound(tenant);
    for (let attempt = 1; ; attempt++) {
      try {
        return await work(clusters.named(at.cluster).store);
      } catch (error) {
        const isGone = isCode(error, "TENANT_NOT_FOUND");
        // A token of the new place means nothing at the old one.
        const mayBeOfOther = isCode(error, "SNAP_TOKEN_EXPIRED");
        if (isBeforeTenant(error) && (await directory.hasMoved(tenant))) {
          throw snapTokenBeforeMove(error);
        }
        if (!isGone && !mayBeOfOther) throw error;
        if (isGone) await moving.ended(tenant);
        const now = await placements.find(tenant);
        const isSame = isGone ? now?.version === at.version : now?.cluster === at.cluster;
        if (now === undefined || isSame) throw error;
        if (attempt === attemptsMax) throw isGone ? isMoving() : error;
        at = now;
      }
    }
  };

  const knownStore = (tenant: TenantId): Store | undefined =>
    clusters.find(placements.known(tenant))?.openStore;

  const heads = {
    knownHead: (tenant: TenantId) => knownStore(tenant)?.schemas.knownHead(tenant),
    learnHead: (tenant: TenantId, version: SchemaVersion) =>
      knownStore(tenant)?.schemas.learnHead(tenant, version),
  };

  const home = clusters.named(directory.cluster);
  const made = makeOperations(heads, (name, of) => async (...request) => {
    const tenant = must(operations[name].tenantOf(request), "those of no tenant are below");
    return await onItsStore(tenant, (store) => of(store)(...request));
  });
  return {
    ...made,
    changes: {
      follow: async (tenant, from) => {
        const stream = await made.changes.follow(tenant, from);
        return { ...stream, messages: endAsMoved(stream.messages, tenant, directory) };
      },
    },
    tenants,
    clusters: clusters.all,
    // All clusters have the same key.
    pageMac: (content) => home.store.pageMac(content),
    ping: async () => {
      try {
        await Promise.any(clusters.all.map(async (cluster) => await cluster.ping()));
      } catch (cause) {
        throw new PembaError("UNAVAILABLE", "no cluster answers", { cause });
      }
    },
    close: async () => {
      moving.close();
      await settling.close();
      await Promise.all([directory, ...clusters.all].map(async (part) => await part.close()));
    },
  };
}

/** Ends from time to time what crashes and outages have left. */
function startSettling(
  { directory, clusters, warn }: PlacedParts,
  tenants: PlacedTenants,
): BackgroundLoop {
  const urlOf = (name: string): string | undefined => clusters.find(name)?.url;
  const notesOf = (mover: Mover): MoveNotes => directory.notes(mover);
  const place = { urlOf, directory: directory.cluster, notesOf };
  let straysAt = 0;
  return new BackgroundLoop({
    everyMs: settleEveryMs,
    work: async (signal) => {
      try {
        await tenants.settleOld(signal);
      } finally {
        // Tenants may be refused until then.
        await recoverMoves(place, signal);
      }
      if (performance.now() < straysAt) return;
      const names = clusters.all.map(({ name }) => name);
      if (await removeStrays({ ...place, clusters: names }, signal)) {
        straysAt = performance.now() + straysEveryMs;
      }
    },
    failed: (error) => warn(`placements of tenants could not be settled: ${reasonOf(error)}`),
  });
}

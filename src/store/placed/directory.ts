import { must } from "../../base/assert.ts";
import { Caller, forCaller, presentCaller } from "../../base/caller.ts";
import type { TenantId } from "../../base/tuple.ts";
import { ConcurrencyLimiter } from "../layer/concurrency-limiter.ts";
import type { Page } from "../page.ts";
import type { CircuitBreaker } from "../postgres/connect/circuit-breaker.ts";
import type { Database } from "../postgres/connect/database.ts";
import {
  booleanOf,
  numberOf,
  oneOf,
  optionalTextOf,
  type Row,
  tenantIdOf,
  textOf,
} from "../postgres/connect/row.ts";
import { statementFile } from "../postgres/connect/statement-file.ts";
import type { ParameterValue } from "../postgres/connect/value.ts";
import { readTenantPage, type TenantStatements } from "../postgres/tenant-page.ts";
import type { NewTenant, Tenant, TenantStore } from "../store.ts";
import { MoveNotes, type Mover } from "./move/notes.ts";

const findStatement = statementFile("placement/find.sql");
const readStatement = statementFile("placement/read.sql");
const beginStatement = statementFile("placement/begin.sql");
const chooseAgainStatement = statementFile("placement/choose-again.sql");
const confirmStatement = statementFile("placement/confirm.sql");
const beginDeletionStatement = statementFile("placement/begin-deletion.sql");
const keepStatement = statementFile("placement/keep.sql");
const removeStatement = statementFile("placement/remove.sql");
const adoptStatement = statementFile("placement/adopt.sql");
const adoptAllStatement = statementFile("placement/adopt-all.sql");
const listStatements: TenantStatements = {
  all: statementFile("placement/list.sql"),
  among: statementFile("placement/list-among.sql"),
};
const clustersStatement = statementFile("placement/clusters.sql");
const unsettledStatement = statementFile("placement/unsettled.sql");
const hasMovedStatement = statementFile("placement/move-known.sql");
const removeAbsentStatement = statementFile("placement/remove-absent.sql");

/** The connections of a directory. Its statements are short, and what is found is kept. */
export const directoryConnections = 4;

/** One connection is left for tenants, while lists, which belong to none, are slow. */
const shareOfTenant = directoryConnections - 1;
const waitingMax = 10_000;

const states = ["creating", "placed", "moving", "deleting"] as const;

/** With `moving`, the cluster may refuse the tenant for a moment. */
export type PlacementState = (typeof states)[number];

/** Where a tenant is, and what is being done about that. */
export interface Placement {
  readonly tenant: TenantId;
  /** The name of the cluster. */
  readonly cluster: string;
  readonly state: PlacementState;
  /** Differs after each change of the placement. */
  readonly version: string;
}

/**
 * The table that says on which cluster each tenant is. Changes name the version that they were decided
 * on, and do nothing if the placement has another one by then. Every method fails as a statement does.
 */
export class Directory {
  readonly #database: Database;
  readonly #circuit: Pick<CircuitBreaker, "close"> | undefined;
  readonly #limiter = new ConcurrencyLimiter({
    running: directoryConnections,
    runningOfTenant: shareOfTenant,
    waiting: waitingMax,
    refusal: `${waitingMax} requests wait for the directory of tenants, retry in a second`,
  });
  /** The name of the cluster whose database has the table. */
  readonly cluster: string;

  /**
   * @param database that of the cluster; the directory closes it
   * @param circuit guards the database; the directory closes it, too
   */
  constructor(database: Database, cluster: string, circuit?: Pick<CircuitBreaker, "close">) {
    this.#database = database;
    this.cluster = cluster;
    this.#circuit = circuit;
  }

  /**
   * The placement of the tenant; undefined if it is nowhere. A tenant that this database has without one is
   * adopted. It goes on when its caller leaves, since others may share it.
   *
   * @param begun called when the statement is sent
   */
  async find(tenant: TenantId, begun: () => void = () => {}): Promise<Placement | undefined> {
    return await this.#limiter.run(tenant, undefined, async () => {
      begun();
      const [found] = await this.#database.read(findStatement, [tenant]);
      const row = must(found, "a select without a table has one row");
      if (optionalTextOf(row, "tenant") !== undefined) return placementOf(row);
      if (!booleanOf(row, "is_here")) return undefined;
      return await forCaller(new Caller(new AbortController()), () => this.#adopt(tenant));
    });
  }

  /** The placement of the tenant. */
  async read(tenant: TenantId): Promise<Placement | undefined> {
    const [row] = await this.#read(tenant, readStatement, [tenant]);
    return row && placementOf(row);
  }

  /** Whether the tenant may have been on another cluster than now. */
  async hasMoved(tenant: TenantId): Promise<boolean> {
    const [row] = await this.#read(tenant, hasMovedStatement, [tenant]);
    return booleanOf(must(row, "a select without a table has one row"), "has_moved");
  }

  /** What the process that moves tenants has noted, for another one to go on with it. */
  notes(mover: Mover): MoveNotes {
    const query = async (text: string, values: readonly ParameterValue[]) =>
      await this.#database.write(text, values);
    return new MoveNotes({ query }, mover);
  }

  /** Places a tenant that is to be created. Resolves to false if it has a placement. */
  async begin({ id, name }: NewTenant, cluster: string): Promise<boolean> {
    return (await this.#write(id, beginStatement, [id, cluster, name])).length > 0;
  }

  /** Has a tenant that is being created go to another cluster. Resolves to false if nothing changed. */
  async chooseAgain({ tenant, version }: Placement, cluster: string): Promise<boolean> {
    const values = [tenant, version, cluster];
    return (await this.#write(tenant, chooseAgainStatement, values)).length > 0;
  }

  /** The cluster has made the tenant. Resolves to false if the placement is not one of a creation there. */
  async confirm({ id, name, createdAt }: Tenant, cluster: string): Promise<boolean> {
    const values = [id, cluster, name, createdAt.toISOString()];
    return (await this.#write(id, confirmStatement, values)).length > 0;
  }

  /** Notes that the tenant is to be deleted. Resolves to its placement, or undefined if it is not placed. */
  async beginDeletion(tenant: TenantId): Promise<Placement | undefined> {
    const [row] = await this.#write(tenant, beginDeletionStatement, [tenant]);
    return row && placementOf(row);
  }

  /** A tenant that was to be deleted is there. */
  async keep({ tenant, version }: Placement): Promise<void> {
    await this.#write(tenant, keepStatement, [tenant, version]);
  }

  /** Forgets a tenant that its cluster does not have. Resolves to false if its placement has changed. */
  async remove({ tenant, version }: Placement): Promise<boolean> {
    return (await this.#write(tenant, removeStatement, [tenant, version])).length > 0;
  }

  /**
   * Follows what an instance that knows one database has done in it: places the tenants that it has
   * created on the cluster of this database, and removes the placements of those that it has deleted.
   */
  async followDatabase(): Promise<void> {
    await this.#write(undefined, adoptAllStatement, [this.cluster]);
    await this.#write(undefined, removeAbsentStatement, [this.cluster]);
  }

  /** The tenants of all clusters, as a store lists them. */
  async list(page: Parameters<TenantStore["list"]>[0]): Promise<Page<Tenant, TenantId>> {
    return await readTenantPage(
      listStatements,
      page,
      async (statement, values) => await this.#read(undefined, statement, values),
    );
  }

  /** How many tenants are on each cluster that has any, by its name. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#read(undefined, clustersStatement, []);
    return new Map(rows.map((row) => [textOf(row, "cluster"), numberOf(row, "tenants")]));
  }

  /** Placements on a cluster that have been between two states for so many milliseconds, the oldest first. */
  async unsettled(
    cluster: string,
    { forMs, limit }: { readonly forMs: number; readonly limit: number },
  ): Promise<readonly Placement[]> {
    const rows = await this.#read(undefined, unsettledStatement, [cluster, forMs, limit]);
    return rows.map(placementOf);
  }

  async close(): Promise<void> {
    this.#circuit?.close();
    await this.#database.close();
  }

  /** An instance made the tenant that knows this database only. */
  async #adopt(tenant: TenantId): Promise<Placement | undefined> {
    await this.#database.write(adoptStatement, [this.cluster, tenant]);
    const [row] = await this.#database.read(readStatement, [tenant]);
    return row && placementOf(row);
  }

  async #read(
    tenant: TenantId | undefined,
    statement: string,
    values: readonly ParameterValue[],
  ): Promise<readonly Row[]> {
    const signal = presentCaller()?.signal;
    const read = async () => await this.#database.read(statement, values, signal);
    return await this.#limiter.run(tenant, signal, read);
  }

  async #write(
    tenant: TenantId | undefined,
    statement: string,
    values: readonly ParameterValue[],
  ): Promise<readonly Row[]> {
    const write = async () => await this.#database.write(statement, values);
    return await this.#limiter.run(tenant, presentCaller()?.signal, write);
  }
}

function placementOf(row: Row): Placement {
  return {
    tenant: tenantIdOf(row),
    cluster: textOf(row, "cluster"),
    state: oneOf(row, "state", states),
    version: textOf(row, "version"),
  };
}

import { presentCaller } from "../../../base/caller.ts";
import { PembaError } from "../../../base/error.ts";
import type { TenantId } from "../../../base/tuple.ts";
import type { Database } from "../../postgres/connect/database.ts";
import { numberOf, oneOf, type Row, tenantIdOf, textOf } from "../../postgres/connect/row.ts";
import { statementFile } from "../../postgres/connect/statement-file.ts";
import { arrayLiteral, type ParameterValue } from "../../postgres/connect/value.ts";

const beginStatement = statementFile("placement/move-begin.sql");
const takeStatement = statementFile("placement/move-take.sql");
const readStatement = statementFile("placement/move-read.sql");
const placementStatement = statementFile("placement/read.sql");
const leftStatement = statementFile("placement/move-left.sql");
const idleStatement = statementFile("placement/move-idle.sql");
const seenStatement = statementFile("placement/move-seen.sql");
const stopStatement = statementFile("placement/move-stop.sql");
const resumeStatement = statementFile("placement/move-resume.sql");
const switchStatement = statementFile("placement/move-switch.sql");
const settleStatement = statementFile("placement/move-settle.sql");
const endStatement = statementFile("placement/move-end.sql");

/** What a move asks of a database. Every statement is a transaction of its own. */
export type MoveDatabase = Pick<Database, "query">;

const steps = ["copying", "stopping", "switched", "removing"] as const;

/** How far a move is, as the directory has it. */
export type MoveStep = (typeof steps)[number];

/** A move that has begun and not ended. */
export interface NotedMove {
  readonly tenant: TenantId;
  /** The names of two clusters. */
  readonly source: string;
  readonly target: string;
  readonly step: MoveStep;
}

/** The same with the age of the last sign of its process, in milliseconds. */
export interface SeenMove extends NotedMove {
  readonly unseenMs: number;
}

/** Who moves a tenant. A process that gives no sign for `leaseMs` is taken for gone. */
export interface Mover {
  readonly id: string;
  readonly leaseMs: number;
}

/**
 * The moves that the directory knows. The methods that note a step do nothing, and resolve to false, if
 * another process moves the tenant by now.
 */
export class MoveNotes {
  readonly #database: MoveDatabase;
  readonly #mover: Mover;

  constructor(database: MoveDatabase, mover: Mover) {
    this.#database = database;
    this.#mover = mover;
  }

  get moverId(): string {
    return this.#mover.id;
  }

  /** Begins a move, or goes on with one to the same target. Undefined if neither can be done. */
  async begin(tenant: TenantId, target: string): Promise<NotedMove | undefined> {
    const { id, leaseMs } = this.#mover;
    const [row] = await this.#query(beginStatement, [tenant, target, id, leaseMs]);
    return row && moveOf(row);
  }

  /** Takes over a move whose process is gone. Undefined if there is none. */
  async take(tenant: TenantId): Promise<NotedMove | undefined> {
    const { id, leaseMs } = this.#mover;
    const [row] = await this.#query(takeStatement, [tenant, id, leaseMs]);
    return row && moveOf(row);
  }

  async read(tenant: TenantId): Promise<SeenMove | undefined> {
    const [row] = await this.#query(readStatement, [tenant]);
    return row && seenMoveOf(row);
  }

  /** The cluster on which the tenant is. Undefined if there is none. */
  async clusterOf(tenant: TenantId): Promise<string | undefined> {
    const [row] = await this.#query(placementStatement, [tenant]);
    return row && textOf(row, "cluster");
  }

  /** Moves whose process is gone, and which need no more than to be ended or to be led back to the source. */
  async left(limit: number): Promise<readonly NotedMove[]> {
    const values = [this.#mover.leaseMs, limit];
    return (await this.#query(leftStatement, values)).map(moveOf);
  }

  /** Those of which no move is under way. */
  async idle(tenants: readonly TenantId[]): Promise<ReadonlySet<string>> {
    const rows = await this.#query(idleStatement, [arrayLiteral(tenants)]);
    return new Set(rows.map((row) => textOf(row, "tenant")));
  }

  /** Gives a sign. */
  async seen(tenant: TenantId): Promise<boolean> {
    return await this.#note(seenStatement, tenant);
  }

  /** The source is about to refuse the tenant. False also if the tenant is deleted. */
  async stop(tenant: TenantId): Promise<boolean> {
    return await this.#note(stopStatement, tenant);
  }

  /** The source serves the tenant again. */
  async resume(tenant: TenantId): Promise<boolean> {
    return await this.#note(resumeStatement, tenant);
  }

  /** From now on the tenant is at the target. */
  async switchOver(tenant: TenantId): Promise<boolean> {
    return await this.#note(switchStatement, tenant);
  }

  /** The target serves the tenant. */
  async settle(tenant: TenantId): Promise<boolean> {
    return await this.#note(settleStatement, tenant);
  }

  async end(tenant: TenantId): Promise<void> {
    await this.#query(endStatement, [tenant, this.#mover.id]);
  }

  async #note(statement: string, tenant: TenantId): Promise<boolean> {
    return (await this.#query(statement, [tenant, this.#mover.id])).length > 0;
  }

  async #query(statement: string, values: readonly ParameterValue[]): Promise<readonly Row[]> {
    return await this.#database.query(statement, values, presentCaller()?.signal);
  }
}

/** Another process goes on with the move, or has taken it back. */
export function takenOver(): PembaError {
  return new PembaError("SERIALIZATION", "another process moves this tenant now");
}

function moveOf(row: Row): NotedMove {
  return {
    tenant: tenantIdOf(row),
    source: textOf(row, "source"),
    target: textOf(row, "target"),
    step: oneOf(row, "step", steps),
  };
}

function seenMoveOf(row: Row): SeenMove {
  return { ...moveOf(row), unseenMs: numberOf(row, "unseen_ms") };
}

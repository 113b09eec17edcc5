import { PembaError } from "../../../base/error.ts";
import { pause } from "../../../base/pause.ts";
import { quote } from "../../../base/quote.ts";
import type { TenantId } from "../../../base/tuple.ts";
import { BackgroundLoop } from "../../background-loop.ts";
import { tenantNotFound } from "../../store-error.ts";
import { isCode } from "../tenants.ts";
import { Copy, type CopyStatus } from "./copy.ts";
import {
  finish,
  goBackToSource,
  leaveSource,
  type MoveSides,
  refuseLate,
  takeBack,
} from "./end-move.ts";
import { type MoveNotes, type NotedMove, takenOver } from "./notes.ts";
import { type Stopped, stopAtSource } from "./stop.ts";
import { withinTime } from "./within-time.ts";

/** What a move tells of itself. */
export type MoveEvent =
  | ({ readonly kind: "copied" } & CopyStatus)
  | { readonly kind: "counting" }
  | { readonly kind: "following"; readonly changes: number }
  | { readonly kind: "waiting"; readonly reason: string }
  /** The source refused the tenant for so long. */
  | { readonly kind: "switched"; readonly stopMs: number };

export interface MoveOptions {
  /** Rows per second at most. Infinity: as fast as it goes. */
  readonly rate: number;
  /** For how long the tenant may be refused. Beyond that it is served at the source again. */
  readonly stopMs: number;
  /** How often a stop is tried. */
  readonly stopsMax: number;
  /** A sign of the process is noted so often. */
  readonly signEveryMs: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: MoveEvent) => void;
}

export const defaultMoveOptions = {
  rate: Number.POSITIVE_INFINITY,
  stopMs: 2_000,
  stopsMax: 20,
  signEveryMs: 3_000,
} as const;

/** A process that has given no sign for so long is gone. Others may go on with its move. */
export const moveLeaseMs = 15_000;

/** A stop that is over ends by itself. A server that says nothing for so much longer ends the move. */
const silenceMs = 2_000;

/** Statements that end a move, or lead it back, take some milliseconds each. */
const endMaxMs = 10_000;

/** A pause after a stop that took too long: it doubles each time, up to this. */
const pauseMaxMs = 10_000;
const firstPauseMs = 500;

/** The log is followed until a round takes no longer than this part of a stop. */
const roundPart = 0.25;

/**
 * Moves a tenant that `begin` of the notes has given to this process. Resolves when the target serves it and the
 * rows at the source are left to be removed. If it fails, the tenant is served at one of the two clusters,
 * or by what was noted the next process has it served.
 *
 * Fails with TENANT_NOT_FOUND if the tenant is deleted, INVALID_ARGUMENT if maps of one of the clusters derive
 * its data, SERIALIZATION if another process goes on with the move, and UNAVAILABLE if a database does not
 * answer or no stop is short enough.
 */
export async function moveTenant(
  sides: MoveSides,
  move: NotedMove,
  options: MoveOptions,
): Promise<void> {
  const { tenant, step } = move;
  const lost = new AbortController();
  const signs = new BackgroundLoop({
    everyMs: options.signEveryMs,
    work: async () => {
      const isSeen = await withinTime(moveLeaseMs, async () => await sides.notes.seen(tenant));
      if (!isSeen) lost.abort(takenOver());
    },
    // The next sign may come through. Without any, another process may go on.
    failed: () => {},
  });
  try {
    if (step === "switched" || step === "removing") {
      return await whileRefused(endMaxMs, async () => await finish(sides, move));
    }
    const signal = AbortSignal.any([options.signal, lost.signal]);
    await moveOn(sides, move, { ...options, signal });
  } finally {
    await signs.close();
  }
}

async function moveOn(sides: MoveSides, move: NotedMove, options: MoveOptions): Promise<void> {
  const { tenant } = move;
  const { onEvent } = options;
  const number = await whileRefused(endMaxMs, async () => await goBackToSource(sides, move));
  await refuseDerived(sides, move);
  const arrival = await sides.target.expect(tenant);
  await refuseLate(sides.notes, tenant);
  if (arrival.isTaken) {
    await takeBack(sides, move);
    throw isTaken(move);
  }
  const copy = await Copy.open({
    ...sides,
    number,
    arrival,
    rate: options.rate,
    signal: options.signal,
    onCopied: (status) => onEvent({ kind: "copied", ...status }),
  });
  await copy.copyPages();
  onEvent({ kind: "counting" });
  await copy.count();
  for (let stops = 0; stops < options.stopsMax; stops++) {
    await followUntilShort(sides, copy, options);
    const begun = performance.now();
    const reason = await stopAndSwitch(
      sides,
      move,
      { number, arrival: arrival.number, copy },
      options,
    );
    if (reason === undefined) {
      onEvent({ kind: "switched", stopMs: performance.now() - begun });
      await leaveSource(sides, tenant);
      return;
    }
    onEvent({ kind: "waiting", reason });
    await pause(Math.min(firstPauseMs * 2 ** stops, pauseMaxMs), options.signal);
    options.signal.throwIfAborted();
  }
  throw new PembaError(
    "UNAVAILABLE",
    `writes of the tenant could not be stopped within ${options.stopMs} ms in ${options.stopsMax} attempts, run the command again when fewer are made`,
  );
}

/** Follows the log until little is left, and no transaction at the source has been open for long. */
async function followUntilShort(sides: MoveSides, copy: Copy, options: MoveOptions): Promise<void> {
  for (;;) {
    options.signal.throwIfAborted();
    const writersBelow = await sides.source.writersBelow();
    const begun = performance.now();
    const changes = await copy.follow();
    const tookMs = performance.now() - begun;
    options.onEvent({ kind: "following", changes });
    if (tookMs > options.stopMs * roundPart) continue;
    if (await sides.source.isQuietBelow(writersBelow)) return;
    options.onEvent({ kind: "waiting", reason: "a transaction at the source is open" });
    await pause(firstPauseMs, options.signal);
  }
}

/** Resolves to undefined when the target serves the tenant, or else to why the source serves it again. */
async function stopAndSwitch(
  sides: MoveSides,
  move: NotedMove,
  { number, arrival, copy }: { number: string; arrival: string; copy: Copy },
  { stopMs, signal }: MoveOptions,
): Promise<string | undefined> {
  const { tenant } = move;
  const parts = { ...sides, tenant, number, arrivalNumber: arrival, copy, limitMs: stopMs, signal };
  const goBack = async (): Promise<unknown> =>
    await whileRefused(endMaxMs, async () => await goBackToSource(sides, move));
  let stopped: Stopped;
  try {
    stopped = await whileRefused(stopMs + silenceMs, async () => {
      const outcome = await stopAtSource(parts);
      // A map may have been made since the move began.
      if (outcome.kind === "ready") await refuseDerived(sides, move);
      return outcome;
    });
  } catch (error) {
    // The first error is told. If this fails, too, an instance has the source serve the tenant again.
    await goBack().catch(() => undefined);
    throw error;
  }
  if (stopped.kind === "ready") {
    await whileRefused(endMaxMs, async () => {
      // If this fails, the switch may have been made all the same. Only what was noted tells.
      if (!(await sides.notes.switchOver(tenant))) throw takenOver();
      await sides.target.receive(tenant);
      if (!(await sides.notes.settle(tenant))) throw takenOver();
    });
    return undefined;
  }
  await goBack();
  if (stopped.kind === "too_long") return stopped.reason;
  throw stopped.kind === "gone" ? tenantNotFound(tenant) : differs(stopped.labels);
}

/**
 * Does work while no cluster may serve the tenant. If a server says nothing, the move ends: instances end what it has left
 * when its process gives no sign any more.
 */
async function whileRefused<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await withinTime(limitMs, work);
  } catch (error) {
    if (!isCode(error, "CANCELLED")) throw error;
    const problem = `a database did not answer within ${limitMs} ms, run the command again`;
    throw new PembaError("UNAVAILABLE", problem, { cause: error });
  }
}

async function refuseDerived(sides: MoveSides, move: NotedMove): Promise<void> {
  for (const [side, name] of [
    [sides.source, move.source],
    [sides.target, move.target],
  ] as const) {
    const tables = await side.derivedFrom(move.tenant);
    if (tables.length === 0) continue;
    await takeBack(sides, move);
    const list = tables.map((table) => quote(table)).join(", ");
    throw new PembaError(
      "INVALID_ARGUMENT",
      `the tenant cannot move from ${quote(move.source)} to ${quote(move.target)}: maps of ${quote(name)} derive data of it from ${list}, expected no map (\`pemba sql map drop\`)`,
    );
  }
}

function isTaken({ tenant, target }: NotedMove): PembaError {
  const found = `${quote(target)} has a tenant ${quote(tenant)} that the directory does not list`;
  return new PembaError(
    "UNIQUE_CONSTRAINT",
    `--to: ${found}, expected none (the function \`delete_tenant\` in its database removes it)`,
  );
}

function differs(labels: readonly string[]): PembaError {
  return new PembaError(
    "UNAVAILABLE",
    `the copy differs from the source in ${labels.slice(0, 10).join(", ")}: take the move back with --revert, and begin anew`,
  );
}

/** Why the notes have not given the move to this process. */
export async function refusedMove(
  notes: MoveNotes,
  tenant: TenantId,
  target: string | undefined,
): Promise<PembaError> {
  const other = await notes.read(tenant);
  if (other === undefined) {
    const cluster = await notes.clusterOf(tenant);
    if (cluster === undefined) return tenantNotFound(tenant);
    if (target !== undefined && target !== cluster) {
      const problem = "the tenant is just being created, deleted or moved, run the command again";
      return new PembaError("SERIALIZATION", problem);
    }
    return new PembaError(
      "INVALID_ARGUMENT",
      target === undefined
        ? `--revert: no move of the tenant is under way, it is on ${quote(cluster)}`
        : `--to: the tenant is on ${quote(cluster)}, expected another cluster`,
    );
  }
  if (target !== undefined && other.target !== target) {
    return new PembaError(
      "INVALID_ARGUMENT",
      `--to: the tenant is moving to ${quote(other.target)}, expected this cluster, or --revert first`,
    );
  }
  const seconds = Math.ceil((moveLeaseMs - other.unseenMs) / 1_000);
  return new PembaError(
    "SERIALIZATION",
    `another process moves the tenant: if it is gone, run the command again in ${Math.max(1, seconds)} s`,
  );
}

import { randomUUID } from "node:crypto";

import type { TenantId } from "../../src/base/tuple.ts";
import { finish, type MoveSides, takeBack } from "../../src/store/placed/move/end-move.ts";
import {
  defaultMoveOptions,
  type MoveEvent,
  type MoveOptions,
  moveTenant,
  refusedMove,
} from "../../src/store/placed/move/move.ts";
import {
  type MoveDatabase,
  MoveNotes,
  type Mover as MoverId,
  type NotedMove,
} from "../../src/store/placed/move/notes.ts";
import { recoverMoves } from "../../src/store/placed/move/recover.ts";
import { MoveSource } from "../../src/store/placed/move/source.ts";
import { removeStrays } from "../../src/store/placed/move/strays.ts";
import { MoveTarget } from "../../src/store/placed/move/target.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";

/** What a move of a test may be told. */
export interface TestMove extends Partial<MoveOptions> {
  readonly tenant: TenantId;
  readonly to: string;
  /** Stands before each database, with the name of its cluster. */
  readonly through?: (database: MoveDatabase, cluster: string) => MoveDatabase;
  /** A process without a sign for so long is taken for gone. */
  readonly leaseMs?: number;
}

export interface Mover {
  readonly run: (move: TestMove) => Promise<readonly MoveEvent[]>;
  /** What an instance does once a minute, for a mover that is gone at once. */
  readonly recover: () => Promise<void>;
  /** What an instance does once an hour. */
  readonly removeStrays: () => Promise<void>;
  readonly revert: (tenant: TenantId) => Promise<void>;
  readonly notes: MoveNotes;
  readonly close: () => Promise<void>;
}

/** Moves tenants between databases, whose clusters are a, b, c ... in this order. */
export async function openMover(urls: readonly string[]): Promise<Mover> {
  const pool = { maxConnections: 4, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 };
  const databases = new Map<string, Database>();
  for (const [index, url] of urls.entries()) {
    const name = String.fromCodePoint(97 + index);
    databases.set(name, await Database.connect({ url, pool, warn: () => {} }));
  }
  const at = (name: string): Database => {
    const database = databases.get(name);
    if (database === undefined) throw new Error(`no cluster ${name}`);
    return database;
  };
  const direct = (database: MoveDatabase): MoveDatabase => database;
  const sidesOf = (
    { source, target }: Pick<NotedMove, "source" | "target">,
    notes: MoveNotes,
    through: NonNullable<TestMove["through"]>,
  ): MoveSides => ({
    notes,
    source: new MoveSource(through(at(source), source), notes.moverId),
    target: new MoveTarget(through(at(target), target), notes.moverId),
  });
  const notes = new MoveNotes(at("a"), { id: randomUUID(), leaseMs: 0 });
  const place = {
    urlOf: (name: string): string | undefined => urls[name.charCodeAt(0) - 97],
    directory: "a",
    notesOf: (by: MoverId): MoveNotes => new MoveNotes(at("a"), by),
  };
  return {
    notes,
    run: async ({ tenant, to, through = direct, leaseMs = 60_000, ...options }) => {
      const own = new MoveNotes(through(at("a"), "a"), { id: randomUUID(), leaseMs });
      const move = await own.begin(tenant, to);
      if (move === undefined) throw await refusedMove(notes, tenant, to);
      const events: MoveEvent[] = [];
      await moveTenant(sidesOf(move, own, through), move, {
        ...defaultMoveOptions,
        signal: new AbortController().signal,
        ...options,
        onEvent: (event) => {
          events.push(event);
          options.onEvent?.(event);
        },
      });
      return events;
    },
    recover: async () => await recoverMoves(place, new AbortController().signal, 0),
    removeStrays: async () => {
      await removeStrays(
        { ...place, clusters: [...databases.keys()] },
        new AbortController().signal,
      );
    },
    revert: async (tenant) => {
      const move = await notes.take(tenant);
      if (move === undefined) throw await refusedMove(notes, tenant, undefined);
      const sides = sidesOf(move, notes, direct);
      if (move.step === "switched" || move.step === "removing") await finish(sides, move);
      else await takeBack(sides, move);
    },
    close: async () => {
      for (const database of databases.values()) await database.close();
    },
  };
}

/** Moves that are killed at random steps, and ended by others. */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import { must } from "../../src/base/assert.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import type { MoveDatabase } from "../../src/store/placed/move/notes.ts";
import { type Dice, dice } from "../support/dice.ts";
import type { Mover } from "../support/moves.ts";
import { startPemba } from "../support/pemba.ts";
import { clusterNames, type Fleet } from "./fleet.ts";
import { rowsOf } from "./rows.ts";
import { eventually, within } from "./within.ts";

/** A mover dies at one of its first statements, of which a small move has some fifty. */
const statementsMax = 60;

/** A process that moves a tenant is killed so long after it began, at most. */
const killedAfterMaxMs = 400;

/** What a move may end with beside others that recover it or delete the tenant, and while servers are killed. */
const endings: readonly RegExp[] = [
  /no tenant `/,
  /--to: the tenant is (on|moving to) `/,
  /--revert: no move of the tenant is under way/,
  /another process moves th(is|e) tenant/,
  /the tenant is just being created, deleted or moved/,
  /writes of the tenant could not be stopped within/,
  /a database did not answer within/,
  /concurrent requests conflicted/,
  /the database does not answer/,
  /the connection was lost before the database confirmed the change/,
];

class Killed extends Error {}

/** What came of all moves. */
export interface Moved {
  /** Begun by a function, and by a process. */
  functions: number;
  processes: number;
  switched: number;
  killed: number;
  broken: number;
  /** How what was left was ended. */
  recovered: number;
  reverted: number;
  resumed: number;
}

/** Moves tenants, and ends each move before the next one of the tenant. */
export class Movers {
  readonly moved: Moved = {
    functions: 0,
    processes: 0,
    switched: 0,
    killed: 0,
    broken: 0,
    recovered: 0,
    reverted: 0,
    resumed: 0,
  };
  readonly #fleet: Fleet;
  readonly #mover: Mover;
  readonly #moving = new Set<string>();
  readonly #begun = new Map<string, number>();

  constructor(fleet: Fleet, mover: Mover) {
    this.#fleet = fleet;
    this.#mover = mover;
  }

  /** One move to another cluster, perhaps with an end before its end. Then one cluster serves the tenant. */
  async move(tenants: readonly string[], number: number): Promise<void> {
    const draws = dice(50_000 + number);
    const free = tenants.filter((id) => !this.#moving.has(id));
    const id = must(free[draws.upTo(free.length)], "there are more tenants than movers");
    const tenant = id as TenantId;
    this.#moving.add(id);
    try {
      const [from] = await this.settled(id);
      const others = clusterNames.filter((name) => name !== from);
      const to = must(others[draws.upTo(others.length)], "there are two");
      this.#begun.set(id, 1 + this.begun(id));
      await this.#run(tenant, to, draws);
      await this.settled(id);
    } finally {
      this.#moving.delete(id);
    }
  }

  /** How often `move` has moved a tenant, or tried to. */
  begun(tenant: string): number {
    return this.#begun.get(tenant) ?? 0;
  }

  /** One move of a tenant that may be deleted meanwhile, or may be where it is to go. */
  async moveOnce(id: string, number: number): Promise<void> {
    const draws = dice(60_000 + number);
    const to = must(clusterNames[draws.upTo(clusterNames.length)], "there are three");
    await this.#run(id as TenantId, to, draws);
  }

  /** The clusters that serve a tenant that does not move: the one that the directory names, and no other. */
  async settled(tenant: string): Promise<readonly string[]> {
    const serving: string[] = [];
    for (const [index, name] of clusterNames.entries()) {
      const url = must(this.#fleet.urls[index], "each has a server");
      const rows = await rowsOf(url, "select from tenants where id = $1", tenant);
      if (rows.length > 0) serving.push(name);
    }
    const directory = must(this.#fleet.urls[0], "there are three");
    const placed = "select cluster, state from placements where tenant = $1";
    const placements = await rowsOf(directory, placed, tenant);
    const expected = serving.map((cluster) => ({ cluster, state: "placed" }));
    assert.deepEqual([...placements], expected, tenant);
    assert.equal(serving.length, 1, `${tenant} is served by ${serving.join(" and ")}`);
    return serving;
  }

  /** A move, perhaps with an end before its end. Then nothing of it is left. */
  async #run(tenant: TenantId, to: string, draws: Dice): Promise<void> {
    if (draws.happens(0.3)) await this.#byProcess(tenant, to, draws);
    else await this.#byFunction(tenant, to, draws);
    await this.#end(tenant, draws);
  }

  async #byFunction(tenant: TenantId, to: string, draws: Dice): Promise<void> {
    this.moved.functions++;
    const through = draws.happens(0.6) ? dyingAt(1 + draws.upTo(statementsMax)) : undefined;
    const move = { tenant, to, leaseMs: 0, ...(through && { through }) };
    try {
      await within(`move of ${tenant}`, this.#mover.run(move));
      this.moved.switched++;
    } catch (error) {
      this.#note(error);
    }
  }

  /** Kills it some time after it has begun, if at all. */
  async #byProcess(tenant: TenantId, to: string, draws: Dice): Promise<void> {
    this.moved.processes++;
    const command = ["tenant", "move", tenant, "--to", to];
    const { process: child, finished } = startPemba(command, { env: this.#fleet.env });
    let isOver = false;
    const ended = finished.finally(() => (isOver = true));
    try {
      if (draws.happens(0.7)) {
        await eventually(`a process moves ${tenant}`, async () => {
          const move = await this.#mover.notes.read(tenant).catch(unlessBroken);
          return move !== undefined || isOver ? true : undefined;
        });
        await Promise.race([wait(draws.upTo(killedAfterMaxMs)), ended]);
        child.kill("SIGKILL");
      }
      const { status, stderr } = await within(`the process that moves ${tenant}`, ended);
      if (status === 0) this.moved.switched++;
      else if (status === null) this.moved.killed++;
      else {
        unlessBroken(new Error(stderr));
        this.moved.broken++;
      }
    } finally {
      child.kill("SIGKILL");
    }
  }

  /** Ends what was begun: as instances do, by taking it back, or by going on. */
  async #end(tenant: TenantId, draws: Dice): Promise<void> {
    await eventually(`the end of the move of ${tenant}`, async () => {
      this.#fleet.over.throwIfAborted();
      try {
        const begun = await this.#mover.notes.read(tenant);
        if (begun === undefined) return true;
        const way = draws.upTo(3);
        if (way === 0) {
          await within(`recovery of ${tenant}`, this.#mover.recover());
          this.moved.recovered++;
        } else if (way === 1) {
          await within(`end of the move of ${tenant}`, this.#mover.revert(tenant));
          this.moved.reverted++;
        } else {
          const again = { tenant, to: begun.target, leaseMs: 0 };
          await within(`the move of ${tenant} goes on`, this.#mover.run(again));
          this.moved.resumed++;
        }
      } catch (error) {
        this.#note(error);
      }
      return undefined;
    });
  }

  /** An error that a move may end with here. */
  #note(error: unknown): void {
    if (error instanceof Killed) this.moved.killed++;
    else {
      unlessBroken(error);
      this.moved.broken++;
    }
  }
}

function unlessBroken(error: unknown): undefined {
  const text = String(error);
  if (!endings.some((ending) => ending.test(text))) throw error;
}

/** Stands before databases and dies before its statement with this number, or after it. */
function dyingAt(number: number): (database: MoveDatabase) => MoveDatabase {
  let sent = 0;
  return (database) => ({
    query: async (text, values) => {
      if (++sent > number) throw new Killed();
      const rows = await database.query(text, values);
      if (sent >= number) throw new Killed();
      return rows;
    },
  });
}

/** Looks again and again which servers have a tenant, while it moves: never two at the same time. */
import assert from "node:assert/strict";

import type postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { pause } from "../../src/base/pause.ts";
import type { Dice } from "../support/dice.ts";
import { clusterNames, type Fleet } from "./fleet.ts";
import { connectTo } from "./rows.ts";

const pauseMaxMs = 30;

export class ServiceAudit {
  looks = 0;
  readonly #servers: readonly postgres.Sql[];
  readonly #draws: Dice;

  constructor({ urls }: Fleet, draws: Dice) {
    this.#servers = urls.map((url) => connectTo(url));
    this.#draws = draws;
  }

  async live(signal: AbortSignal, tenants: readonly string[]): Promise<void> {
    while (!signal.aborted) {
      const tenant = must(tenants[this.#draws.upTo(tenants.length)], "there are tenants");
      const before = await this.#serving(tenant);
      const after = await this.#serving(tenant);
      // A tenant that leaves a cluster and comes back has another number: these stayed for the time between.
      const both = before.filter((row) => after.includes(row));
      assert.ok(both.length <= 1, `${tenant} is served by ${both.join(" and ")} at the same time`);
      this.looks++;
      await pause(this.#draws.upTo(pauseMaxMs), signal);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map(async (sql) => await sql.end({ timeout: 1 })));
  }

  /** The clusters that have the tenant, with its number there. A server that is away is left out. */
  async #serving(tenant: string): Promise<readonly string[]> {
    const found: string[] = [];
    for (const [index, sql] of this.#servers.entries()) {
      const rows = await sql<{ number: string }[]>`
        select number::text from tenants where id = ${tenant}`.catch(() => []);
      for (const { number } of rows) found.push(`${clusterNames[index]}:${number}`);
    }
    return found;
  }
}

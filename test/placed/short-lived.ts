/** Tenants that are made, moved and deleted, one after the other under the same names. */
import assert from "node:assert/strict";

import { must } from "../../src/base/assert.ts";
import { pause } from "../../src/base/pause.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Tenancy as PembaTenancy } from "../../src/gen/pemba/v1/tenancy_pb.ts";
import { schemaText } from "../store/engines.ts";
import type { Dice } from "../support/dice.ts";
import { clusterNames, type Fleet } from "./fleet.ts";
import type { Movers } from "./movers.ts";
import { rowsOf } from "./rows.ts";
import { keyOf, readTuples, tupleOf } from "./tuples.ts";

const names = 2;
const tuplesMax = 30;

/** A tenant is deleted so long after its move began, at most. */
const deletedAfterMaxMs = 300;

/** A tenant has what was written to it since it was made, and is gone once it is deleted. */
export class ShortLivedTenants {
  made = 0;
  moved = 0;
  readonly #fleet: Fleet;
  readonly #movers: Movers;
  readonly #draws: Dice;
  readonly #generations = Array.from({ length: names }, () => 0);

  constructor(fleet: Fleet, movers: Movers, draws: Dice) {
    this.#fleet = fleet;
    this.#movers = movers;
    this.#draws = draws;
  }

  async live(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) await this.#one(signal);
  }

  async #one(signal: AbortSignal): Promise<void> {
    const { upTo, happens } = this.#draws;
    const name = upTo(names);
    const id = `short-${name}g${this.#generations[name]}`;
    const tries = await this.#make(id);
    this.made++;
    const moving = happens(0.8) ? this.#movers.moveOnce(id, this.made) : undefined;
    if (moving !== undefined) this.moved++;
    // It is waited for below, and may fail before.
    moving?.catch(() => undefined);
    await pause(upTo(deletedAfterMaxMs), signal);
    const triesOfEnd = await this.#delete(id);
    // An attempt without an answer may be made late: the next one has another name.
    if (tries + triesOfEnd > 2) this.#generations[name] = 1 + (this.#generations[name] ?? 0);
    await this.#verifyGone(id);
    await moving;
    await this.#verifyGone(id);
  }

  /** Resolves to the number of tries. */
  async #make(id: string): Promise<number> {
    const fleet = this.#fleet;
    const { upTo } = this.#draws;
    const cluster = ["", ...clusterNames][upTo(1 + clusterNames.length)] ?? "";
    const { code, tries } = await fleet.untilAnswered(
      `${id} is made`,
      async () =>
        await fleet.ask(this.#draws, PembaTenancy.method.create, { id, name: "", cluster }),
      ["UNIQUE_CONSTRAINT"],
    );
    assert.ok(code === undefined || tries > 1, `${id} is there before it is made`);
    const schema = { tenantId: id, schema: schemaText };
    await fleet.answer(this.#draws, Schema.method.write, schema);
    assert.deepEqual(await this.#tuples(id), [], `${id} has nothing yet`);
    const tuples = Array.from({ length: 1 + upTo(tuplesMax) }, (_, document) =>
      tupleOf(`d${document}`, "owner", "ann"),
    );
    const request = { tenantId: id, metadata: {}, tuples };
    await fleet.answer(this.#draws, Data.method.write, request);
    assert.deepEqual((await this.#tuples(id)).toSorted(), tuples.map(keyOf).toSorted(), id);
    return tries;
  }

  async #tuples(id: string): Promise<readonly string[]> {
    const { answer } = await this.#fleet.untilAnswered(
      `tuples of ${id}`,
      async () => await readTuples(this.#fleet, this.#draws, id, ""),
    );
    return must(answer, "no code is an answer");
  }

  /** Resolves to the number of tries. */
  async #delete(id: string): Promise<number> {
    const { code, tries } = await this.#fleet.untilAnswered(
      `${id} is deleted`,
      async () => await this.#fleet.ask(this.#draws, Tenancy.method.delete, { id }),
      ["TENANT_NOT_FOUND"],
    );
    assert.ok(code === undefined || tries > 1, `${id} is gone before it is deleted`);
    return tries;
  }

  /** No instance finds the tenant, and no server has it. */
  async #verifyGone(id: string): Promise<void> {
    await this.#fleet.atEach(async (instance) => {
      const { answer } = await this.#fleet.untilAnswered(
        `${id} is gone`,
        async () => await readTuples(instance, this.#draws, id, ""),
        ["TENANT_NOT_FOUND"],
      );
      assert.equal(answer, undefined, `${id} is read after it was deleted`);
    });
    for (const url of this.#fleet.urls) {
      const rows = await rowsOf(url, "select from tenants where id = $1", id);
      assert.equal(rows.length, 0, `${id} is on ${url} after it was deleted`);
    }
  }
}

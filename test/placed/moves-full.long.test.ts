/**
 * Random moves of tenants between three servers under all that clients do, while movers, instances and servers are
 * killed. `PEMBA_CASES` says how many moves, `PEMBA_SEED` which.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { dice } from "../support/dice.ts";
import { type Mover, openMover } from "../support/moves.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { clusterNames, Fleet } from "./fleet.ts";
import { TenantModel } from "./model.ts";
import { Movers } from "./movers.ts";
import { verifyNothingLeft, verifyPlacements } from "./nothing-left.ts";
import { Outages } from "./outages.ts";
import { LookupPager } from "./pager.ts";
import { SchemaWriter } from "./schema-writer.ts";
import { ServiceAudit } from "./service-audit.ts";
import { ShortLivedTenants } from "./short-lived.ts";
import { TenantWatcher } from "./watcher.ts";

const moves = caseCount({ short: 4, long: 6 });

/** So many moves are made at the same time, beside those of tenants that are deleted. */
const moversAtOnce = 2;

let fleet: Fleet;
let mover: Mover;

before(async () => {
  fleet = await Fleet.start();
  mover = await openMover(fleet.urls);
});

after(async () => {
  await fleet.stop();
  await mover.close();
});

/** A tenant with all of its clients. */
class BusyTenant {
  readonly model: TenantModel;
  readonly #watcher: TenantWatcher;
  readonly #pager: LookupPager;
  readonly #schemas: SchemaWriter;
  readonly #number: number;

  constructor(index: number, cluster: string) {
    this.#number = index + 1;
    const draws = (kind: number) => dice(10_000 * kind + index);
    this.model = new TenantModel(fleet, `tenant-${cluster}`);
    this.#watcher = new TenantWatcher(this.model, draws(10));
    this.#pager = new LookupPager(this.model, draws(11));
    this.#schemas = new SchemaWriter(this.model, draws(12));
  }

  async live(signal: AbortSignal): Promise<void> {
    const writing = this.model.live(signal, this.#number, async (change, draws) => {
      if (draws.happens(0.3)) await this.#watcher.shows(change, signal);
      if (draws.happens(0.2)) await this.model.verifyAtEach(draws, change);
    });
    const watching = new AbortController();
    const changing = async (): Promise<void> => {
      await Promise.all([writing, this.#pager.live(signal), this.#schemas.live(signal)]);
      await this.#watcher.agrees();
    };
    const changed = changing().finally(() => watching.abort());
    await Promise.all([changed, this.#watcher.live(watching.signal)]);
  }

  /** What is stored is what was acknowledged. */
  async verify(movers: Movers): Promise<void> {
    const { model } = this;
    const draws = dice(40_000);
    await model.verify(draws);
    await this.#schemas.verify();
    await movers.settled(model.id);
    // A switch ends a token that a client has, once.
    const begun = movers.begun(model.id);
    for (const { expired } of [this.#watcher, this.#pager]) {
      assert.ok(expired <= begun, `${expired} tokens of ${model.id} in ${begun} moves`);
    }
    assert.ok(model.answers > 0 && this.#schemas.answers > 0 && this.#watcher.streams > 0);
  }

  /** For a report. */
  get counts(): object {
    const { streams, changes, expired } = this.#watcher;
    const { sequences, expired: expiredPages } = this.#pager;
    const { answers } = this.model;
    const { versions } = this.#schemas;
    return { answers, streams, changes, expired, sequences, expiredPages, versions };
  }
}

test(`${moves} moves under everything lose nothing, with the seed ${seed}`, async (t) => {
  const tenants = clusterNames.map((name, index) => new BusyTenant(index, name));
  for (const [index, { model }] of tenants.entries()) await model.make(clusterNames[index] ?? "a");
  const ids = tenants.map(({ model }) => model.id);
  const movers = new Movers(fleet, mover);
  const outages = new Outages(fleet);
  const shortLived = new ShortLivedTenants(fleet, movers, dice(90_000));
  const audit = new ServiceAudit(fleet, dice(95_000));
  t.after(async () => await audit.close());
  const over = new AbortController();
  let begun = 0;

  const moving = async (): Promise<void> => {
    while (begun < moves && !over.signal.aborted) await movers.move(ids, begun++);
  };
  const moved = Promise.all(Array.from({ length: moversAtOnce }, moving));
  const all = [
    moved.finally(() => over.abort()),
    outages.live(over.signal),
    shortLived.live(over.signal),
    audit.live(over.signal, ids),
    ...tenants.map(async (tenant) => await tenant.live(over.signal)),
  ];
  await Promise.all(all).finally(() => over.abort());

  const { instances, servers } = outages;
  const { made, moved: ofShortLived } = shortLived;
  const counts = { ...movers.moved, instances, ...servers, made, ofShortLived, looks: audit.looks };
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`);
  for (const tenant of tenants) t.diagnostic(JSON.stringify(tenant.counts));
  for (const tenant of tenants) await tenant.verify(movers);
  await verifyNothingLeft(fleet);
  await verifyPlacements(fleet);
});

/**
 * Random moves of tenants between three servers, under load against a model, while movers are killed.
 * `PEMBA_CASES` says how many moves, `PEMBA_SEED` which.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { dice } from "../support/dice.ts";
import { type Mover, openMover } from "../support/moves.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { clusterNames, Fleet } from "./fleet.ts";
import { TenantModel } from "./model.ts";
import { Movers, rowsOf } from "./movers.ts";
import { eventually } from "./within.ts";

const moves = caseCount({ short: 6, long: 30 });

/** So many moves are made at the same time. */
const moversAtOnce = 2;

/** Rows of tenants that are not there, and what is noted of moves that have not ended. */
const leftovers = [
  "select from relationships as r where not exists (select from tenants where number = r.tenant)",
  "select from attributes as r where not exists (select from tenants where number = r.tenant)",
  "select from departures",
  "select from arrivals",
  "select from moves where step <> 'ended'",
];

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

test(`${moves} moves between three servers lose nothing, with the seed ${seed}`, async (t) => {
  const models = clusterNames.map((name) => new TenantModel(fleet, `tenant-${name}`));
  for (const [index, model] of models.entries()) await model.make(clusterNames[index] ?? "a");
  const tenants = models.map(({ id }) => id);
  const movers = new Movers(fleet, mover);
  const over = new AbortController();
  let begun = 0;

  const moving = async (): Promise<void> => {
    while (begun < moves && !over.signal.aborted) await movers.move(tenants, begun++);
  };
  const moved = Promise.all(Array.from({ length: moversAtOnce }, moving)).finally(() =>
    over.abort(),
  );
  const living = models.map(async (model, index) => await model.live(over.signal, index + 1));
  await Promise.all([moved, ...living]).finally(() => over.abort());

  const answers = models.reduce((sum, model) => sum + model.answers, 0);
  t.diagnostic(`seed ${seed}: ${JSON.stringify({ ...movers.moved, answers })}`);
  for (const model of models) {
    await model.verify(dice(40_000));
    await movers.settled(model.id);
  }
  // Rows that movers left are removed by the next start.
  for (const index of [0, 1]) await fleet.restartInstance(index);
  for (const url of fleet.urls) {
    for (const statement of leftovers) {
      await eventually(`none of ${statement}`, async () =>
        (await rowsOf(url, statement)).length === 0 ? true : undefined,
      );
    }
  }
  assert.ok(answers > moves, "the tenants were under load");
});

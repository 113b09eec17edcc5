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
import { Movers } from "./movers.ts";
import { verifyNothingLeft } from "./nothing-left.ts";

const moves = caseCount({ short: 6, long: 30 });

/** So many moves are made at the same time. */
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
  await verifyNothingLeft(fleet);
  assert.ok(answers > moves, "the tenants were under load");
});

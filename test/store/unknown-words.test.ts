/** Words in the database that this version does not know, since instances of a newer one may run beside it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Directory } from "../../src/store/placed/directory.ts";
import { MoveNotes } from "../../src/store/placed/move/notes.ts";
import { MoveSource } from "../../src/store/placed/move/source.ts";
import { Database } from "../../src/store/postgres/connect/database.ts";
import { oneOf } from "../../src/store/postgres/connect/row.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { fails, pool, tenantId } from "./engines.ts";

const unknown = "which only a newer version may know";

let place: TestDatabase;
let directory: Directory;
let database: Database;

before(async () => {
  place = await createMigratedDatabase();
  database = await Database.connect({ url: place.url, pool, warn: () => {} });
  directory = new Directory(database, "a");
});
after(async () => {
  await directory.close();
  await place.drop();
});

test("a placement in a state that is not known is not taken for one that is placed", async () => {
  const tenant = tenantId("frozen");
  await database.query(
    "insert into placements (tenant, cluster, state, name) values ($1::text, 'a', 'frozen', '')",
    [tenant],
  );
  await fails(directory.read(tenant), "UNAVAILABLE", `\`frozen\` for \`state\`, ${unknown}`);
  await fails(directory.find(tenant), "UNAVAILABLE", unknown);
});

test("a source that says something else of a tenant has not lost it", async () => {
  const source = new MoveSource({ query: async () => [{ outcome: "late" }] }, "mover");
  await fails(source.hide("1", 1_000), "UNAVAILABLE", `\`late\` for \`outcome\`, ${unknown}`);
});

test("nor is the step of a move guessed", async () => {
  const row = { tenant: "t1", source: "a", target: "b", step: "resting" };
  const notes = new MoveNotes({ query: async () => [row] }, { id: "mover", leaseMs: 1_000 });
  await fails(notes.take(tenantId("t1")), "UNAVAILABLE", `\`resting\` for \`step\`, ${unknown}`);
});

test("a word that is known is given back", () => {
  assert.equal(oneOf({ state: "b" }, "state", ["a", "b"]), "b");
});

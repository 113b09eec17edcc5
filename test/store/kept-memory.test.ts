/**
 * What kept answers hold on the heap is within what they may take, for all questions.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { noTelemetry } from "../../src/base/telemetry.ts";
import type { SchemaVersion, TenantId } from "../../src/base/tuple.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { OutdatedPlans } from "../../src/store/layer/outdated-plans.ts";
import type { PresentQuestion } from "../../src/store/layer/present-question.ts";
import { AnswerFootprints } from "../../src/store/postgres/questions/answer-footprints.ts";
import { nameOf } from "../language/numbered-name.ts";
import { lookUp } from "./asked-text.ts";
import { newTenant, openPostgres, write } from "./engines.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");
const megabyte = 1024 * 1024;

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

test("a kept list of one id does not hold the text of all candidates", async (t) => {
  const maxBytes = 200_000;
  let hits = 0;
  const { store, close } = await openPostgres({
    cache: { maxBytes, maxEntries: 1_000 },
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") hits += amount;
      },
    },
  });
  t.after(close);
  const tenant = await newTenant(store);
  // It is gathered: both operands of `and` lead back to it.
  await store.schemas.write(tenant, {
    text: `
      entity user {}
      entity doc {
        relation parent @doc
        relation side @doc
        relation owner @user
        permission view = owner or (parent.view and side.view)
      }
    `,
  });
  const users = Array.from({ length: 60 }, (_, nth) => `u${nth}`);
  const id = (nth: number): string => `${"x".repeat(120)}${nth}`;
  const children = Array.from({ length: 200 }, (_, nth) => `doc:${id(nth)}#parent@doc:${id(999)}`);
  await write(store, tenant, {
    tuples: [...users.map((user) => `doc:${id(999)}#owner@user:${user}`), ...children],
  });
  const ask = async (user: string): Promise<void> => {
    const { items } = await lookUp(store, tenant, `doc#view@user:${user}`);
    assert.deepEqual(items, [id(999)]);
  };
  const warm = users.slice(0, 10);
  for (const user of [...warm, ...warm, ...warm]) await ask(user);
  for (const user of users) await ask(user);
  const before = heapUsed();
  for (const user of users) await ask(user);
  const grown = heapUsed() - before;
  t.diagnostic(`${(grown / megabyte).toFixed(1)} MiB for lists that may take ${maxBytes} bytes`);
  for (const user of users) await ask(user);
  assert.ok(hits > users.length / 2, `${hits} kept`);
  assert.ok(grown < megabyte / 2, `${(grown / megabyte).toFixed(1)} MiB`);
});

test("the memory of outdated plans has an end", () => {
  const plans = new OutdatedPlans();
  const before = heapUsed();
  for (let nth = 0; nth < 10_000; nth += 1) {
    plans.failed(Buffer.alloc(20_000, `${nth} `).toString("latin1"), 1, 2);
  }
  const grown = heapUsed() - before;
  assert.ok(grown < 20 * megabyte, `${(grown / megabyte).toFixed(1)} MiB`);
  assert.equal(plans.rests("another"), false);
});

test("footprints are counted as what they hold on the heap", async () => {
  const relations = Array.from(
    { length: 12_000 },
    (_, nth) => `r_${nameOf(nth)}_${"x".repeat(50)}`,
  );
  const text = `entity user {} entity doc {
    ${relations.map((name) => `relation ${name} @user`).join("\n")}
    permission view = ${relations.join(" or ")}
  }`;
  const [tenant, version] = ["t" as TenantId, "v" as SchemaVersion];
  const schemas = new CompiledSchemas(async () => ({ version, text, createdAt: new Date() }), {
    maxBytes: 1024 * megabyte,
  });
  const { compiled } = await schemas.find(tenant, version);
  const footprints = new AnswerFootprints(schemas);
  const item = {
    entity: { type: "doc", id: "1" },
    permission: "view",
    subject: { type: "user", id: "", relation: "" },
    arguments: [],
  };
  const path = (field: string): string => field;
  const question = {
    entityType: "doc",
    permission: "view",
    subjectType: "user",
    subjectRelation: "",
    arguments: [],
  };
  await schemas.planner.lookupOf({ compiled, question, path });
  const rest = { item, path, schemaVersion: undefined, signal: undefined, plan: "", key: "" };
  const before = { heap: heapUsed(), counted: schemas.limit.bytes };
  const kinds: readonly PresentQuestion["kind"][] = ["entities", "subjects"];
  for (const kind of kinds) await footprints.find(tenant, version, { ...rest, kind });
  const held = heapUsed() - before.heap;
  const counted = schemas.limit.bytes - before.counted;
  assert.ok(held < 2 * counted, `${held} bytes are held, ${counted} counted`);
});

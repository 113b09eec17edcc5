import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { createPostgresStore } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";

const tenant = "t1" as TenantId;
/** A rule of hundreds of parts. */
const many = Array.from({ length: 200 }, (_, at) => `context.data.text == "${at}"`).join(" || ");
const schema = `entity user {}
entity doc {
  relation parent @doc
  relation peer @doc
  relation owner @user
  permission view = owner or parent.view
  permission both = owner or (parent.both and peer.both)
  attribute level integer
  permission ruled = owner or wanted(level)
  permission listed = owner or many(level)
}
rule wanted(level integer) { level > context.data.wanted }
rule many(level integer) { level == 0 && (${many}) }`;

let database: TestDatabase;
let store: Store;
let onStatement: (text: string) => void = () => {};
const counts = { pushed_down: 0, gathered: 0, looked_into: 0 };

before(async () => {
  database = await createMigratedDatabase();
  store = await createPostgresStore({
    url: database.url,
    pool: { maxConnections: 1, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 },
    autoMigrate: true,
    maxRetries: 3,
    maxSchemaCacheBytes: 1024 * 1024,
    warn: () => {},
    onAnswered: (how, answers) => {
      counts[how] += answers;
    },
    onStatement: (text) => onStatement(text),
  });
  await store.schemas.write(tenant, { text: schema });
});
after(async () => {
  await store.close();
  await database.drop();
});

const ask = (permissions: readonly string[], data: Readonly<Record<string, number | string>>) =>
  store.permissions.check(tenant, {
    schemaVersion: undefined,
    snapToken: undefined,
    depth: 100,
    context: { tuples: [], attributes: [], data },
    items: permissions.map((permission) => ({
      entity: { type: "doc", id: "1" },
      permission,
      subject: { type: "user", id: "ann", relation: "" },
      arguments: [],
    })),
    path: (_item, field) => field,
  });

test("answers are counted by how they were found", async () => {
  await ask(["view", "both", "view", "ruled"], { wanted: 1 });
  assert.deepEqual(counts, { pushed_down: 3, gathered: 1, looked_into: 0 });
});

test("an answer that a rule leaves open is looked into, and counted as that", async () => {
  counts.looked_into = 0;
  await assert.rejects(ask(["ruled"], {}), /RULE_EVALUATION/);
  assert.equal(counts.looked_into, 1);
});

test("a rule of many parts is interpreted where it reads a long text", async () => {
  for (const [text, how, allowed] of [
    ["199", "pushed_down", true],
    ["x".repeat(1_000), "pushed_down", false],
    ["x".repeat(1_000_000), "looked_into", false],
  ] as const) {
    counts.pushed_down = 0;
    counts.looked_into = 0;
    const [answer] = await ask(["listed"], { text });
    assert.equal(answer?.allowed, allowed);
    assert.deepEqual(
      [counts.pushed_down, counts.looked_into],
      how === "pushed_down" ? [1, 0] : [0, 1],
    );
  }
});

/** Makes `ann` an owner, and returns when that is committed: a statement can wait for it. */
function makeOwner(): void {
  const script = `
    import { createPostgresStore } from ${JSON.stringify(new URL("../../src/store/postgres/store.ts", import.meta.url).href)};
    const pool = { maxConnections: 1, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 10_000 };
    const store = await createPostgresStore({ url: process.argv[1], pool, autoMigrate: false, maxRetries: 3, maxSchemaCacheBytes: 1024, warn() {} });
    const tuple = { entity: { type: "doc", id: "1" }, relation: "owner", subject: { type: "user", id: "ann", relation: "" } };
    await store.data.write("t1", { schemaVersion: undefined, tuples: [tuple], attributes: [] });
    await store.close();`;
  execFileSync(process.execPath, ["--input-type=module", "--eval", script, database.url]);
}

test("all items of a bulk check are answered at one state, also when a rule leaves one open", async () => {
  let checks = 0;
  onStatement = (text) => {
    if (!text.includes("verdict")) return;
    checks += 1;
    if (checks === 2) makeOwner();
  };
  const answers = await ask(["view", "ruled"], {});
  assert.ok(checks >= 2);
  assert.deepEqual(
    answers.map(({ allowed }) => allowed),
    [true, true],
  );
});

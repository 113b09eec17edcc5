import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { fails, newTenant, schemaText, write } from "../store/engines.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { type CommandScene, openCommands, schemaFile } from "./commands-scene.ts";

/** Its `odd` has a negation through recursion, which has no SQL. */
const oddSchema = `
  entity user {}
  entity doc {
    relation parent @doc
    relation viewer @user
    permission odd = viewer not parent.odd
  }
`;

let scene: CommandScene;

before(async () => {
  scene = await openCommands();
});

after(async () => {
  await scene.close();
});

async function tenantOf(text: string): Promise<string> {
  const tenant = await newTenant(scene.store);
  await scene.store.schemas.write(tenant, { text });
  await write(scene.store, tenant, { tuples: ["doc:1#viewer@user:ada"] });
  return tenant;
}

test("sync makes what can be asked follow the configuration, and a dry run changes nothing", async () => {
  const tenant = await tenantOf(schemaText);
  const ask = async () =>
    await scene.app`select pemba.may(${tenant}, 'doc', '1', 'owner', 'user', 'ada') as may`;
  await assert.rejects(ask, { code: "PB001" });
  const questions = "--database-sql-questions=doc.owner@user";
  const one = ["--tenant", tenant, questions];
  assert.match(
    await scene.printed("sync", ...one, "--dry-run"),
    /^would sync the schemas of 1 tenants, and make [1-9]\d* functions\n$/,
  );
  await assert.rejects(ask, { code: "PB001" });
  assert.equal(await scene.printed("sync", ...one), "synced the schemas of 1 tenants\n");
  const [row] = await ask();
  assert.equal(row?.["may"], false);
  assert.match(await scene.printed("sync"), /^synced the schemas of \d+ tenants\n$/);
  await assert.rejects(ask, { code: "PB001" });
});

test("sync --tenant leaves other tenants alone, and names those that it lacks", async () => {
  const first = await tenantOf(schemaText);
  const second = await tenantOf(schemaText);
  const questions = "--database-sql-questions=doc.owner@user";
  const { status, stdout, stderr } = await scene.pemba(
    "sync",
    "--tenant",
    first,
    "--tenant=none",
    "--tenant=a,b",
    questions,
  );
  assert.deepEqual([status, stdout], [1, "synced the schemas of 1 tenants\n"]);
  assert.equal(
    stderr,
    "pemba: --tenant: `none` does not exist, or has no schema\n" +
      "pemba: --tenant: `a,b` does not exist, or has no schema\n",
  );
  const [row] =
    await scene.app`select pemba.may(${second}, 'doc', '1', 'view', 'user', 'ada') as may`;
  assert.equal(row?.["may"], true);
});

test("status tells of unsynced schemas, unused and lost functions and obstacles, and sync mends it", async (t) => {
  const own = await openCommands();
  t.after(own.close);
  const tenant = await newTenant(own.store);
  await own.store.schemas.write(tenant, { text: oddSchema });
  const inStep = await own.pemba("status");
  assert.deepEqual([inStep.status, inStep.stderr], [0, ""]);
  assert.match(
    inStep.stdout,
    /^the SQL interface in the schema `pemba` is up to date \(version \d+\)$/m,
  );
  assert.match(inStep.stdout, /^functions: [1-9]\d*, of which 0 are unused$/m);
  assert.match(inStep.stdout, /^schemas of tenants: 1, of which 0 are not synced$/m);
  assert.match(
    inStep.stdout,
    /^questions: 2, of which 1 have no SQL\n {2}doc\.odd@user \(1 tenants\): doc#odd: ./m,
  );

  await own.store.schemas.write(tenant, { text: schemaText });
  const file = schemaFile(t, schemaText.replaceAll("group", "team"));
  assert.match(await own.printed("sync", "--schema", file), /^made [1-9]\d* functions\n$/);
  const unused = await own.pemba("status");
  assert.equal(unused.status, 0);
  assert.match(unused.stdout, /^functions: \d+, of which [1-9]\d* are unused$/m);

  const [lost] = await own.owner<{ signature: string }[]>`
    select p.signature from pemba_plans.plans as p
    join pemba_plans.questions as q on q.plans ->> p.kind = p.hash
    join tenants as t on t.head_version = q.version
    where p.kind = 'may'
  `;
  await own.owner.unsafe(`drop function ${lost?.signature}`);
  const broken = await own.pemba("status");
  assert.equal(broken.status, 2);
  assert.match(broken.stdout, /^ {2}1 are not in the database any more: run `pemba sql sync`$/m);
  await own.printed("sync");
  const [row] =
    await own.app`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ada') as may`;
  assert.equal(row?.["may"], false);
  assert.equal((await own.pemba("status")).status, 0);

  const changed = await own.pemba("status", "--database-sql-questions", "doc.view@user");
  assert.equal(changed.status, 2);
  assert.match(
    changed.stdout,
    new RegExp(`, of which 1 are not synced\n {2}run .*\n {2}${tenant}\n`),
  );
  const others = await own.pemba("status", "--database-sql-bound");
  assert.equal(others.status, 2);
  assert.match(others.stdout, /with other options: run `pemba sql enable`$/m);
  await own.owner`update pemba_plans.installation set version = version + 1`;
  const newer = await own.pemba("status");
  assert.equal(newer.status, 0);
  assert.match(newer.stdout, /which a newer release installed$/m);
});

test("without the interface, status says so with 2, and what needs it fails", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const env = { SERVICE_DATABASE_URI: url };
  assert.deepEqual(await scene.run(["sql", "status"], env), {
    status: 2,
    stdout: "there is no SQL interface in the schema `pemba`: run `pemba sql enable`\n",
    stderr: "",
  });
  const file = schemaFile(t, schemaText);
  for (const words of [["sync"], ["sync", "--schema", file], ["generate", "--schema", file]]) {
    assert.deepEqual(await scene.run(["sql", ...words], env), {
      status: 1,
      stdout: "",
      stderr:
        "pemba: the SQL interface in the schema `pemba` is not installed: run `pemba sql enable`\n",
    });
  }
});

test("where a server may not make functions, another role makes those of a schema before", async (t) => {
  const own = await openCommands({ sync: "command" });
  const { name } = await own.newRole(t);
  t.after(own.close);
  const role = own.owner(name);
  await own.owner`grant usage, create on schema pemba_plans to ${role}`;
  await own.owner`grant select, insert, update on pemba_plans.plans to ${role}`;
  await own.owner`grant select on pemba_plans.installation to ${role}`;
  await own.owner`
    grant execute on function pemba_plans.missing_functions, pemba_plans.make_functions,
      pemba_plans.keep_function, lock_key to ${role}
  `;
  const tenant = await newTenant(own.store);
  const writeSchema = async () => await own.store.schemas.write(tenant, { text: schemaText });
  await fails(writeSchema(), "MIGRATION", "pemba sql sync");
  const file = schemaFile(t, schemaText);
  const url = new URL(own.url);
  url.searchParams.set("role", name);
  const env = { SERVICE_DATABASE_URI: url.href.replaceAll("+", "%20") };
  const preview = await scene.run(["sql", "sync", "--schema", file, "--dry-run"], env);
  assert.equal(preview.stderr, "");
  const [, count] = /^would make (\d+) functions\n$/.exec(preview.stdout) ?? [];
  await fails(writeSchema(), "MIGRATION", "pemba sql sync");
  const made = await scene.run(["sql", "sync", "--schema", file], env);
  assert.deepEqual(made, { status: 0, stdout: `made ${count} functions\n`, stderr: "" });
  await writeSchema();
  await write(own.store, tenant, { tuples: ["doc:1#owner@user:ada"] });
  const [row] =
    await own.app`select pemba.may(${tenant}, 'doc', '1', 'view', 'user', 'ada') as may`;
  assert.equal(row?.["may"], true);
  const again = await scene.run(["sql", "sync", "--schema", file], env);
  assert.deepEqual(again, { status: 0, stdout: "made 0 functions\n", stderr: "" });
});

test("mistakes in the flags of sync, and in its file, are one line", async (t) => {
  const bad = schemaFile(t, "entity user {\n  relation x @none\n}");
  for (const [words, expected] of [
    [["--schema", "/none.perm"], /^pemba: --schema: `\/none\.perm` is not there\n$/],
    [["--schema", bad], /^pemba: .*app\.perm:2:\d+: .*none.*\n$/],
    [["--schema", bad, "--tenant", "t"], /^pemba: --tenant: does not go with --schema: .*\n$/],
    [["--dry-run=maybe"], /^pemba: --dry-run: expected .*\n$/],
    [["now"], /^pemba: sql sync: `now` is not understood\n$/],
    [["--tenant"], /^pemba: --tenant: needs a value\n$/],
  ] as const) {
    const run = await scene.pemba("sync", ...words);
    assert.deepEqual([run.status, run.stdout], [1, ""]);
    assert.match(run.stderr, expected);
  }
});

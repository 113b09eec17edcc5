/** `pemba sql map` and `pemba sql reconcile`. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { newTenant } from "../store/engines.ts";
import { untilWaiting } from "../store/open-write.ts";
import { type MapScene, openMaps } from "./map-scene.ts";

let scene: MapScene;

before(async () => {
  scene = await openMaps();
  await scene.owner.unsafe(`
    create schema app;
    create table app.documents (
      id bigint primary key, owner_id text, folder_id bigint, team_id uuid, is_public boolean,
      size numeric, big bigint, doubled bigint generated always as (id * 2) stored,
      slug text not null unique deferrable
    );
    create table app.members (team_id uuid, user_id text, note text, unique (team_id, user_id));
    create view app.seen as select * from app.documents;
    create table app.parts (id bigint primary key, owner_id text) partition by range (id);
    create table app.parts_low partition of app.parts for values from (0) to (1000);
    create table app.parts_high partition of app.parts for values from (1000) to (20000);
    create table app.elder (id bigint primary key);
    create table app.heir () inherits (app.elder);
  `);
});

after(async () => {
  await scene.close();
});

const good = {
  table: "app.documents",
  tenant: "t1",
  entity: '"document:{id}"',
  tuples: '["owner@user:{owner_id}"]',
};

function mapText(parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts)
    .map(([key, value], index) => `${index === 0 ? "- " : "  "}${key}: ${value}\n`)
    .join("");
}

test("what is wrong with a file is told with its place and a suggestion", async () => {
  for (const [changed, expected] of [
    [{ table: "app.document" }, "1:10: the table `app.document` does not exist"],
    [
      { table: "app.documents; x" },
      "1:10: `app.documents; x` is no name of a table, such as app.documents",
    ],
    [{ table: "app.seen" }, "1:10: app.seen is a view, expected a table"],
    [
      { table: "app.parts_low" },
      "1:10: app.parts_low is a part of app.parts, whose statements would not be seen: expected that table",
    ],
    [
      { table: "app.elder", tuples: '["owner@user:x"]' },
      "1:10: app.heir inherits from app.elder, and its statements would not be seen: expected a table without heirs",
    ],
    [
      { tenant: "t9" },
      "2:11: the tenant `t9` does not exist, or has no schema, or it was not synced: write one, or run `pemba sql sync`",
    ],
    [{ tenant: '"{tenant}"' }, "2:11: the table app.documents has no column `tenant`"],
    [
      { entity: '"dokument:{id}"' },
      "3:11: `dokument` is not an entity type, expected `user`, `group`, `folder`, `document` (did you mean `document`?)",
    ],
    [
      { entity: '"document"' },
      "3:11: `document` is not an entity, expected such as `document:{id}`",
    ],
    [{ entity: '"document:{ident}"' }, "3:11: the table app.documents has no column `ident`"],
    [{ entity: '"document:{id"' }, "3:11: `document:{id` has a brace without the other one"],
    [{ entity: '"document:a b{id}"' }, "3:11: `a b` has characters that no id has"],
    [
      { tuples: '["owmer@user:{owner_id}"]' },
      "4:12: `owmer` is not a relation of `document`, expected `parent`, `owner`, `viewer` (did you mean `owner`?)",
    ],
    [
      { tuples: '["owner@user"]' },
      "4:12: `owner@user` is not a tuple without its entity, expected such as `owner@user:{owner_id}` or `viewer@group:{team_id}#member`",
    ],
    [
      { tuples: '["viewer@group:{team_id}"]' },
      "4:12: `group` is not a subject of `document#viewer`, expected `user`, `group#member`",
    ],
    [
      { tuples: '["owner@user:{size}"]' },
      "4:12: the column `size` has the type numeric, which cannot be in an id, expected text, character varying, uuid, smallint, integer, bigint",
    ],
    [{ tuples: '["owner@user:{owner}"]' }, "4:12: the table app.documents has no column `owner`"],
    [
      { tuples: '["owner@user:{owner_id}{slug}"]' },
      "4:12: different rows could give the same id: put a text between the columns that one of them cannot have, such as `:`",
    ],
    [
      { entity: '"document:{slug}"' },
      "4:12: two rows of app.documents could give the same: expected a unique index whose columns are among `slug`, `owner_id`",
    ],
    [
      { attributes: '["publik: {is_public}"]' },
      "5:16: `publik` is not an attribute of `document`, expected `public`, `title`, `tags`, `level`, `weight` (did you mean `public`?)",
    ],
    [
      { attributes: '["public: {owner_id}"]' },
      "5:16: the column `owner_id` has the type text, and the attribute `public` is of boolean: expected boolean",
    ],
    [
      { attributes: '["level: {big}"]' },
      "5:16: the column `big` has the type bigint, and the attribute `level` is of integer: expected smallint, integer",
    ],
    [
      { attributes: '["public: {is_public}", "public: {is_public}"]' },
      "5:39: the attribute `public` is given twice",
    ],
    [
      { attributes: '["public"]' },
      "5:16: `public` is not an attribute, expected such as `public: {is_public}`",
    ],
    [{ tupels: "[]" }, "5:3: `tupels` is not a key of a map (did you mean `tuples`?)"],
    [{ truncate: "yes" }, "5:13: `truncate` is `yes`, expected refuse or delete"],
    [
      { name: "My-Map" },
      "5:9: `name` is `My-Map`, expected 1 to 40 lower case letters, digits and underscores",
    ],
  ] as const) {
    const path = scene.file(mapText({ ...good, ...changed }));
    const run = await scene.pemba("map", path);
    assert.deepEqual(run, { status: 1, stdout: "", stderr: `pemba: ${path}:${expected}\n` });
  }
  const members = {
    table: "app.members",
    tenant: "t1",
    entity: '"group:{team_id}"',
    tuples: '["member@user:{user_id}", "member@user:{note}"]',
  };
  const twice = await scene.pemba("map", scene.file(mapText(members)));
  assert.match(
    twice.stderr,
    /:4:12: two rows of app\.members could give the same: .* among `team_id`\n/,
  );
  const missing = scene.file("- table: app.documents\n");
  assert.deepEqual((await scene.pemba("map", missing)).stderr.split("\n").slice(0, 3), [
    `pemba: ${missing}:1:3: the map has no \`tenant\``,
    `pemba: ${missing}:1:3: the map has no \`entity\``,
    `pemba: ${missing}:1:3: the map has neither \`tuples\` nor \`attributes\``,
  ]);
  for (const [words, expected] of [
    [["map"], "sql map: expected a file of maps"],
    [["map", "/nowhere.yaml"], "FILE: `/nowhere.yaml` is not there"],
    [["map", scene.file(mapText(good)), "--load", "--drop"], "--load: does not go with --drop"],
    [["map", scene.file("[]")], /the file has no map, expected a list of maps/],
    [["map", scene.file(mapText(good) + mapText(good))], /two maps have the name `documents`/],
  ] as const) {
    const run = await scene.pemba(...words);
    assert.equal(run.status, 1);
    if (typeof expected === "string") assert.equal(run.stderr, `pemba: ${expected}\n`);
    else assert.match(run.stderr, expected);
  }
});

const parts = `
- table: app.parts
  tenant: t1
  entity: "document:p{id}"
  tuples: ["owner@user:{owner_id}"]
`;

test("rows that were there are loaded, as often as one likes", async () => {
  const { owner, pemba, file, apply, printed, stored, drop } = scene;
  await owner`insert into app.parts select n, 'u' || n % 3 from generate_series(1, 12000) n`;
  const path = file(parts);
  const early = await pemba("map", path, "--load");
  assert.deepEqual(early, {
    status: 1,
    stdout: "",
    stderr:
      "pemba: the map `parts` is not in the database as in the file: run what `pemba sql map FILE` prints first\n",
  });
  await apply(await printed("map", path));
  assert.deepEqual(await stored(), []);
  const before = await pemba("reconcile", path);
  assert.equal(before.status, 2);
  assert.match(before.stdout, /^missing t1 document:p1#owner@user:u1$/m);
  assert.match(before.stdout, /^parts: 12000 missing, 0 surplus$/m);
  assert.equal(
    await printed("map", path, "--load"),
    "parts: read 12000 rows, made 12000 tuples and attributes\n",
  );
  await owner`update app.parts set owner_id = null where id > 10`;
  assert.equal(
    await printed("map", path, "--load"),
    "parts: read 12000 rows, made 0 tuples and attributes\n",
  );
  assert.equal(await printed("reconcile"), "parts: equal\n");
  await owner`delete from app.parts`;
  await drop(parts);
});

test("statements that no trigger sees are differences, which a repair mends in batches", async () => {
  const { owner, install, pemba, stored, drop, printed } = scene;
  // Before there is a map. They are of no row, and some ids are no keys at all.
  const strays = ["document:px#owner@user:ada", "document:p99999999999999999999#owner@user:ada"];
  await owner`select pemba.write_tuples('t1', ${strays}::text[])`;
  await install(parts);
  await owner`insert into app.parts select n, 'ada' from generate_series(1, 1500) n`;
  await owner`delete from app.parts_low where id < 800`;
  await owner`insert into app.parts_high values (3000, 'bob')`;
  await owner`update app.parts_high set owner_id = 'cleo' where id = 1500`;
  const told = await pemba("reconcile");
  assert.equal(told.status, 2);
  const lines = told.stdout.trimEnd().split("\n");
  assert.equal(lines.length, 799 + 2 + 1 + 2 + 1);
  assert.equal(lines.at(-1), "parts: 2 missing, 802 surplus");
  for (const line of [
    "missing t1 document:p3000#owner@user:bob",
    "missing t1 document:p1500#owner@user:cleo",
    "surplus t1 document:p1500#owner@user:ada",
    "surplus t1 document:px#owner@user:ada",
    "surplus t1 document:p99999999999999999999#owner@user:ada",
    "surplus t1 document:p799#owner@user:ada",
  ]) {
    assert.ok(lines.includes(line), line);
  }
  const mended = await printed("reconcile", "--repair");
  assert.match(mended, /parts: 2 missing, 802 surplus, 804 repaired\n$/);
  assert.equal(await printed("reconcile"), "parts: equal\n");
  assert.equal((await stored()).length, 702);
  await owner`delete from app.parts`;
  await drop(parts);
});

test("what a map of attributes alone derives is compared and mended", async () => {
  const { owner, install, pemba, stored, drop } = scene;
  await owner`create table app.levels (id integer primary key, level integer)`;
  const levels = `
- table: app.levels
  tenant: t1
  entity: "document:{id}"
  attributes: ["level: {level}"]
`;
  await install(levels);
  await owner`insert into app.levels values (1, 1), (2, 2)`;
  await owner`alter table app.levels disable trigger all`;
  await owner`update app.levels set level = 3 where id = 2`;
  await owner`alter table app.levels enable trigger all`;
  const mended = await pemba("reconcile", "--repair");
  assert.deepEqual([mended.status, mended.stderr], [0, ""]);
  assert.match(mended.stdout, /^levels: 1 missing, 1 surplus, \d repaired$/m);
  assert.deepEqual(await stored(), ["document 1 level integer1", "document 2 level integer3"]);
  assert.equal((await pemba("reconcile")).stdout, "levels: equal\n");
  await owner`delete from app.levels`;
  await drop(levels);
});

test("a comparison waits for a transaction that empties the table", async () => {
  const { owner, install, pemba, printed, stored, drop } = scene;
  const emptied = `${parts}  truncate: delete\n`;
  await install(emptied);
  await owner`insert into app.parts values (1, 'ada'), (2, 'bob')`;
  let told: ReturnType<typeof pemba> | undefined;
  await owner.begin(async (inside) => {
    await inside`truncate app.parts`;
    told = pemba("reconcile");
    await untilWaiting(owner, 1);
  });
  assert.deepEqual(await told, { status: 0, stdout: "parts: equal\n", stderr: "" });
  assert.deepEqual(await stored(), []);
  assert.equal(await printed("reconcile"), "parts: equal\n");
  await drop(emptied);
});

test("a role that may read the mapped columns alone compares", async (t) => {
  const { owner, url, install, run, drop, newRole } = scene;
  await install(parts);
  const { name } = await newRole(t);
  await owner`grant usage on schema app to ${owner(name)}`;
  await owner`grant select (id, owner_id) on app.parts to ${owner(name)}`;
  const schemas = await owner`select nspname from pg_namespace where nspname ~ '^(pemba|public)'`;
  for (const { nspname } of schemas) {
    await owner`grant usage on schema ${owner(nspname)} to ${owner(name)}`;
    await owner`grant select on all tables in schema ${owner(nspname)} to ${owner(name)}`;
  }
  const query = `role=${encodeURIComponent(name)}`;
  const finished = await run(["sql", "reconcile"], { SERVICE_DATABASE_URI: `${url}?${query}` });
  assert.deepEqual(finished, { status: 0, stdout: "parts: equal\n", stderr: "" });
  await drop(parts);
});

test("rows of tenants that do not exist are left out, and told", async () => {
  const { owner, store, install, pemba, stored, drop } = scene;
  await owner`create table app.shared (tenant_id text, id text, owner_id text, primary key (tenant_id, id))`;
  const shared = `
- table: app.shared
  tenant: "{tenant_id}"
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}"]
`;
  await install(shared);
  const [one, two] = [await newTenant(store), await newTenant(store)];
  await owner`insert into app.shared values (${one}, 'a', 'ada'), (${two}, 'a', 'bob')`;
  await store.tenants.delete(two);
  const told = await pemba("reconcile");
  assert.deepEqual(told, {
    status: 0,
    stdout: "shared: equal\n",
    stderr: "pemba: warning: shared: 1 rows are of tenants that do not exist, and were left out\n",
  });
  await owner`alter table app.shared disable trigger all`;
  await owner`insert into app.shared values (${one}, 'b', 'bob')`;
  await owner`alter table app.shared enable trigger all`;
  const loaded = await pemba("map", scene.file(shared), "--load");
  assert.equal(loaded.stdout, "shared: read 3 rows, made 1 tuples and attributes\n");
  assert.match(loaded.stderr, /1 rows are of tenants that do not exist/);
  assert.deepEqual(await stored(one), ["document a owner user ada", "document b owner user bob"]);
  await owner`delete from app.shared`;
  await drop(shared);
});

test("a drop takes the triggers and leaves the tuples, which then are as any others", async () => {
  const { owner, install, pemba, store, tenant, stored, drop } = scene;
  await install(parts);
  await owner`insert into app.parts values (1, 'ada')`;
  const disabled = await pemba("disable");
  assert.equal(disabled.status, 1);
  assert.match(disabled.stderr, /there are maps: `parts`/);
  await drop(parts);
  await owner`insert into app.parts values (2, 'ada')`;
  assert.deepEqual(await stored(), ["document p1 owner user ada"]);
  await store.data.delete(tenant, {
    tuples: {
      entity: { type: "document", ids: [] },
      relation: "owner",
      subject: { type: "", ids: [], relation: "" },
    },
    attributes: undefined,
  });
  assert.deepEqual(await stored(), []);
  assert.equal((await pemba("reconcile")).stdout, "there are no maps\n");
  await owner`delete from app.parts`;
});

test("a load and a repair go on beside transactions that change the rows", async () => {
  const { owner, install, pemba, stored, drop } = scene;
  await owner`insert into app.parts select n, 'ada' from generate_series(1, 3000) n`;
  await install(parts);
  let isOver = false;
  const changing = (async () => {
    for (let count = 0; !isOver; count++) {
      const id = 1 + ((count * 37) % 3000);
      await owner`update app.parts set owner_id = ${`u${count}`} where id = ${id}`.catch(
        (error: unknown) => {
          assert.ok(error instanceof Error && "code" in error && error.code === "40001");
        },
      );
    }
  })();
  const loaded = await pemba("map", scene.file(parts), "--load");
  await owner`alter table app.parts disable trigger all`;
  await owner`update app.parts set owner_id = 'bob' where id % 2 = 0`;
  await owner`alter table app.parts enable trigger all`;
  const repaired = await pemba("reconcile", "--repair");
  isOver = true;
  await changing;
  assert.deepEqual([loaded.status, repaired.status], [0, 0], repaired.stderr);
  const rows = await owner<{ line: string }[]>`
    select 'document p' || id || ' owner user ' || owner_id as line from app.parts
  `;
  assert.deepEqual(await stored(), rows.map(({ line }) => line).toSorted());
  await owner`delete from app.parts`;
  await drop(parts);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import type { Question } from "../../src/plan/question.ts";
import { wrapperName } from "../../src/sql/application/wrapper-name.ts";
import { quotedName } from "../../src/sql/text/quote.ts";
import { fails, newTenant, schemaText, write } from "../store/engines.ts";
import { type CommandScene, openCommands, schemaFile } from "./commands-scene.ts";

let scene: CommandScene;

before(async () => {
  scene = await openCommands({ sync: "command" });
});

after(async () => {
  await scene.close();
});

test("the printed migration makes what a schema write needs, and can be run again", async (t) => {
  const { store, owner, app } = scene;
  const tenant = await newTenant(store);
  const text = `
    entity user {}
    entity note { relation reader @user @note#reader  permission can_read = reader }
  `;
  const writeSchema = async () => await store.schemas.write(tenant, { text });
  await fails(writeSchema(), "MIGRATION", "pemba sql sync");
  const migration = await scene.printed("generate", "--schema", schemaFile(t, text));
  await fails(writeSchema(), "MIGRATION", "pemba sql sync");
  assert.match(migration, /^-- .*\n(?:-- .*\n)*\nbegin;\n[\s\S]*\ncommit;\n$/);
  await scene.apply(migration);
  await scene.apply(migration);
  await writeSchema();
  const [row] =
    await app`select pemba.may(${tenant}, 'note', '1', 'can_read', 'user', 'ada') as may`;
  assert.equal(row?.["may"], false);
  const open = await owner`
    select p.oid::regprocedure::text as name
    from pg_proc as p
    cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as granted
    where p.pronamespace in ('pemba'::regnamespace, 'pemba_plans'::regnamespace)
      and granted.grantee = 0
  `;
  assert.deepEqual([...open], []);
});

test("wrappers take and return keys of the application's types", async (t) => {
  const { store, owner } = scene;
  const file = schemaFile(t, schemaText);
  const words = ["generate", "--schema", file, "--wrappers", "--key", "doc=bigint"];
  const migration = await scene.printed(...words);
  await scene.apply(migration);
  await scene.apply(migration);
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  const ids = ["1", "2", "01", "9223372036854775808", "x", "30"];
  await write(store, tenant, { tuples: ids.map((id) => `doc:${id}#viewer@group:g#member`) });
  await write(store, tenant, { tuples: ["group:g#member@user:ada"] });
  const { name, sql } = await scene.newRole(t);
  await scene.apply(await scene.printed("grant", "--role", name, "--for", "ask"));
  const ask = async () =>
    await sql`
    select array(select pemba.visible_doc_view(${tenant}, 'ada') order by 1)::bigint[]::text[] as visible,
      pemba.may_doc_view(${tenant}, 1::bigint, 'ada') as may,
      pemba.may_doc_view(${tenant}, 4::bigint, 'ada') as others,
      pemba.may_doc_view(${tenant}, null, 'ada') as nothing,
      array(select pemba.visible_doc_view(${tenant}, null))::text[] as unseen
  `;
  await assert.rejects(ask, { code: "42501" });
  const signatures = [...migration.matchAll(/^-- {3}(".*)$/gm)].map(([, signature]) => signature);
  await owner.unsafe(`grant execute on function ${signatures.join(", ")} to ${quotedName(name)}`);
  assert.deepEqual(
    [...(await ask())],
    [{ visible: ["1", "2", "30"], may: true, others: false, nothing: false, unseen: [] }],
  );
  // Operators that the caller's schema shadows are not those of the function.
  await owner`create schema shadows`;
  await owner`grant usage on schema shadows to ${owner(name)}`;
  await owner`create function shadows.yes(text, text) returns boolean language sql as 'select false'`;
  await owner`create operator shadows.~ (function = shadows.yes, leftarg = text, rightarg = text)`;
  const seen = await sql.begin(async (inside) => {
    await inside`set local search_path to shadows, pg_catalog`;
    return await inside`select count(*)::int as seen from pemba.visible_doc_view(${tenant}, 'ada')`;
  });
  assert.deepEqual([...seen], [{ seen: 3 }]);
});

test("a wrapper takes a subject of a column whose collation is not deterministic", async (t) => {
  const { store, owner } = scene;
  const [icu] = await owner`select from pg_collation where collprovider = 'i' limit 1`;
  if (icu === undefined) {
    t.skip("the server has no ICU");
    return;
  }
  await owner`
    create collation public.alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false)
  `;
  const words = ["generate", "--schema", schemaFile(t, schemaText), "--wrappers"];
  await scene.apply(await scene.printed(...words, "--key", "doc=bigint"));
  const tenant = await newTenant(store);
  await store.schemas.write(tenant, { text: schemaText });
  await write(store, tenant, { tuples: ["doc:1#owner@user:ada"] });
  const rows = await owner`
    select array(select pemba.visible_doc_view(${tenant}, u.id))::text[] as visible,
      pemba.may_doc_view(${tenant}, 1, u.id) as may
    from (values ('ada' collate public.alike), ('ADA')) as u(id)
  `;
  assert.deepEqual(
    [...rows],
    [
      { visible: ["1"], may: true },
      { visible: [], may: false },
    ],
  );
});

test("a question without SQL is a warning, and has no wrapper", async (t) => {
  const file = schemaFile(
    t,
    `entity user {}
     entity doc {
       relation parent @doc
       relation viewer @user
       permission odd = viewer not parent.odd
       permission even = viewer
     }`,
  );
  const { status, stdout, stderr } = await scene.pemba("generate", "--schema", file, "--wrappers");
  assert.equal(status, 0);
  assert.match(stderr, /^pemba: warning: .*app\.perm: `doc\.odd@user` has no SQL: .+\n$/);
  assert.match(stdout, /"visible_doc_odd_doc"/);
  assert.doesNotMatch(stdout, /"(?:may|visible)_doc_odd"/);
});

test("names of wrappers are those of their questions, and no two questions have the same", () => {
  const question = (
    entityType: string,
    permission: string,
    type = "user",
    relation = "",
  ): Question => ({
    entityType,
    permission,
    subjectType: type,
    subjectRelation: relation,
    arguments: [],
  });
  assert.equal(wrapperName("visible", question("document", "view")), "visible_document_view");
  assert.equal(wrapperName("may", question("document", "can_view")), "may_document__can_view");
  assert.equal(wrapperName("may", question("doc", "view", "team")), "may_doc_view_team");
  assert.equal(
    wrapperName("may", question("doc", "view", "team", "member")),
    "may_doc_view_team_member",
  );
  const names = fc.stringMatching(/^[ab_]{1,5}$/);
  const long = fc.stringMatching(/^[ab]{60,64}$/);
  const name = fc.oneof({ weight: 6, arbitrary: names }, { weight: 1, arbitrary: long });
  const anyQuestion = fc
    .tuple(name, name, fc.oneof(fc.constant("user"), name), fc.oneof(fc.constant(""), name))
    .map((parts) => question(...parts));
  fc.assert(
    fc.property(fc.array(anyQuestion, { minLength: 2, maxLength: 200 }), (questions) => {
      const byName = Map.groupBy(questions, (each) => wrapperName("may", each));
      for (const [made, same] of byName) {
        assert.ok(made.length <= 63, made);
        assert.equal(new Set(same.map((each) => JSON.stringify(each))).size, 1, made);
      }
    }),
    { seed: 16, numRuns: 300 },
  );
});

test("mistakes in the flags of generate are one line that names the flag", async (t) => {
  const file = schemaFile(t, schemaText);
  for (const [words, expected] of [
    [[], "--schema: is missing"],
    [["--schema", file, "--key", "doc=uuid"], "--key: goes only with --wrappers"],
    [
      ["--schema", file, "--wrappers", "--key", "doc"],
      "--key: `doc` is not understood, expected such as document=uuid",
    ],
    [
      ["--schema", file, "--wrappers", "--key", "doc=json; drop"],
      "--key: `json; drop` cannot be the type of a key, expected text, character varying, uuid, smallint, integer, bigint",
    ],
    [
      ["--schema", file, "--wrappers", "--key", "doc=int", "--key", "doc=uuid"],
      "--key: `doc` has two types, integer and uuid",
    ],
    [
      ["--schema", file, "--wrappers", "--key", "paper=uuid"],
      "--key: no question of the schema is about the entity type `paper`",
    ],
  ] as const) {
    const run = await scene.pemba("generate", ...words);
    assert.deepEqual(run, { status: 1, stdout: "", stderr: `pemba: ${expected}\n` });
  }
});

/**
 * Applications that change mapped tables in all ways that SQL has, at the same time, with rollbacks. At the
 * end what is stored must be what plain queries of the tables say, lookups must be those of plain queries,
 * and the log must replay. Then triggers are disabled for a while: a comparison must tell exactly what
 * differs, and mend it.
 */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, before, test } from "node:test";

import type postgres from "postgres";

import { changesOf, replay, storedState } from "../store/change-log.ts";
import { connect } from "../store/open-write.ts";
import { type Dice, dice } from "../support/dice.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { type MapScene, openMaps } from "./map-scene.ts";

const statements = caseCount({ short: 120, long: 2_500 });
const applications = 4;

const maps = `
- table: app.folders
  tenant: t1
  entity: "folder:{id}"
  tuples: ["parent@folder:{parent_id}"]
  truncate: delete
- table: app.folders
  name: folder_owners
  tenant: t1
  entity: "folder:{id}"
  tuples: ["owner@user:{owner_id}"]
  truncate: delete
- table: app.documents
  tenant: t1
  entity: "document:{region}:{id}"
  tuples:
    - "owner@user:{owner_id}"
    - "owner@user:{deputy_id}"
    - "parent@folder:{folder_id}"
    - "viewer@group:{team_id}#member"
  attributes: ["public: {is_public}", "title: {title}", "tags: {tags}"]
  truncate: delete
- table: app.members
  tenant: t1
  entity: "group:{team_id}"
  tuples: ["member@user:{user_id}"]
  truncate: delete
- table: app.documents
  name: levels
  tenant: t1
  entity: "document:{region}:{id}"
  attributes: ["level: {level}", "weight: {weight}"]
  truncate: delete
`;

const tables = `
create schema app;
create domain app.person as text check (value <> '');
create table app.folders (
  id text primary key,
  parent_id text references app.folders on delete cascade on update cascade,
  owner_id app.person
);
create table app.documents (
  id integer,
  region smallint,
  owner_id app.person,
  deputy_id app.person,
  folder_id text references app.folders on delete set null on update cascade,
  team_id uuid,
  is_public boolean,
  title varchar(20),
  tags text[],
  level smallint,
  weight double precision,
  note text,
  primary key (region, id)
) partition by range (region);
create table app.documents_low partition of app.documents for values from (0) to (2);
create table app.documents_high partition of app.documents for values from (2) to (10);
create table app.members (
  number bigint generated always as identity primary key,
  team_id uuid,
  user_id text,
  unique (team_id, user_id)
);
-- Changes the row again, after the statement has changed it.
create function app.touch() returns trigger language plpgsql as $$
begin
  update app.documents set deputy_id = 'zoe' where (region, id) = (new.region, new.id);
  return null;
end $$;
create trigger touch after insert or update of note on app.documents
  for each row when (new.note = 'touch') execute function app.touch();
`;

/** What the rows give, by a query that is written by hand. */
const expectedQuery = `
select 'folder ' || id || ' parent folder ' || parent_id as line from app.folders where parent_id is not null
union all
select 'folder ' || id || ' owner user ' || owner_id from app.folders where owner_id is not null
union all
select distinct 'document ' || region || ':' || id || ' owner user ' || person
from app.documents, unnest(array[owner_id, deputy_id]::text[]) as person where person is not null
union all
select 'document ' || region || ':' || id || ' parent folder ' || folder_id
from app.documents where folder_id is not null
union all
select 'document ' || region || ':' || id || ' viewer group ' || team_id || ' member'
from app.documents where team_id is not null
union all
select 'document ' || region || ':' || id || ' public boolean' || is_public
from app.documents where is_public is not null
union all
select 'document ' || region || ':' || id || ' title string' || to_jsonb(title::text)
from app.documents where title is not null
union all
select 'document ' || region || ':' || id || ' tags string[]' || to_jsonb(tags)
from app.documents where tags is not null
union all
select 'document ' || region || ':' || id || ' level integer' || level
from app.documents where level is not null
union all
select 'document ' || region || ':' || id || ' weight double' || to_jsonb(weight)
from app.documents where weight is not null
union all
select 'group ' || team_id || ' member user ' || user_id
from app.members where team_id is not null and user_id is not null
`;

/** The documents that a user may view, by the rows alone. */
const visibleQuery = `
with recursive owned as (
  select id from app.folders where owner_id = $1
  union
  select f.id from app.folders f join owned o on f.parent_id = o.id
)
select region || ':' || id as id
from app.documents
where is_public or $1 in (owner_id, deputy_id) or folder_id in (select id from owned)
  or team_id in (select team_id from app.members where user_id = $1)
`;

const users = ["ada", "bob", "cleo", "zoe"];
const teams = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`);

let scene: MapScene;
let app: ReturnType<typeof connect>;

before(async () => {
  scene = await openMaps();
  await scene.owner.unsafe(tables);
  await scene.install(maps);
  app = connect(`${scene.url}?deadlock_timeout=20ms`, applications);
});

after(async () => {
  await app.end({ timeout: 1 });
  await scene.close();
});

type Transaction = Parameters<Parameters<typeof app.begin>[1]>[0];

function orNull<T>(die: Dice, values: readonly T[]): T | null {
  return die.happens(0.25) ? null : (values[die.upTo(values.length)] ?? null);
}

interface DocumentRow {
  readonly id: number;
  readonly region: number;
  readonly owner_id: string | null;
  readonly deputy_id: string | null;
  readonly folder_id: string | null;
  readonly team_id: string | null;
  readonly is_public: boolean | null;
  readonly title: string | null;
  readonly tags: readonly string[] | null;
  readonly level: number | null;
  readonly weight: number | null;
  readonly note: string | null;
}

const columns = [
  "id",
  "region",
  "owner_id",
  "deputy_id",
  "folder_id",
  "team_id",
  "is_public",
  "title",
  "tags",
  "level",
  "weight",
  "note",
] as const satisfies readonly (keyof DocumentRow)[];

async function documentRow(inside: Transaction, die: Dice): Promise<DocumentRow> {
  // A folder that is there, or the constraint would refuse most rows.
  const folders = await inside<{ id: string }[]>`select id from app.folders order by id`;
  return {
    id: die.upTo(8),
    region: die.upTo(4),
    owner_id: orNull(die, users),
    deputy_id: orNull(die, users),
    folder_id: orNull(
      die,
      folders.map(({ id }) => id),
    ),
    team_id: orNull(die, teams),
    is_public: orNull(die, [true, false]),
    title: orNull(die, ["a", "b c", 'd"e']),
    tags: orNull(die, [[], ["x"], ["x", "y,z"]]),
    level: orNull(die, [0, 1, -5]),
    weight: orNull(die, [0.5, 1, 1e300]),
    note: orNull(die, ["touch", "x"]),
  };
}

/** A row as a query of its values. */
function valuesOf(inside: Transaction, row: DocumentRow) {
  return inside`
    select ${row.id}::integer, ${row.region}::smallint, ${row.owner_id}::text, ${row.deputy_id}::text,
      ${row.folder_id}::text, ${row.team_id}::uuid, ${row.is_public}::boolean, ${row.title}::text,
      ${row.tags}::text[], ${row.level}::smallint, ${row.weight}::double precision, ${row.note}::text
  `;
}

async function changeDocuments(inside: Transaction, die: Dice): Promise<void> {
  const { upTo, happens } = die;
  const row = await documentRow(inside, die);
  const values = valuesOf(inside, row);
  const names = inside(columns);
  switch (upTo(12)) {
    case 0:
    case 1:
      await inside`insert into app.documents (${names}) ${values}`;
      break;
    case 2: {
      const other = valuesOf(inside, await documentRow(inside, die));
      await inside`insert into app.documents (${names}) ${values} union ${other}`;
      break;
    }
    case 3:
      await inside`
        insert into app.documents (${names}) ${values}
        on conflict (region, id) do update
          set owner_id = excluded.owner_id, tags = excluded.tags, note = excluded.note
      `;
      break;
    case 4:
      await inside`
        update app.documents set owner_id = deputy_id, deputy_id = owner_id, team_id = ${row.team_id},
          level = ${row.level}
        where id <= ${row.id}
      `;
      break;
    case 5:
      // Partitions are left.
      await inside`update app.documents set region = (region + 1) % 4 where id = ${row.id}`;
      break;
    case 6:
      // Rows change places, in one partition and across them.
      await inside`update app.documents set region = 3 - region, id = id`;
      break;
    case 7:
      await inside`update app.documents set note = ${row.note} where region = ${row.region}`;
      break;
    case 8:
      await inside`delete from app.documents where id = ${row.id}`;
      break;
    case 9:
      await merge(inside, values);
      break;
    case 10:
      await inside`
        with gone as (
          delete from app.documents where id = ${row.id} and region = ${row.region} returning *
        )
        insert into app.documents (id, region, owner_id, tags)
        select id, region, ${row.owner_id}::text, tags from gone
      `;
      break;
    default:
      if (happens(0.1)) await inside`truncate app.documents`;
      else await copy(inside, row);
  }
}

/** Deletes a row, changes others, and inserts one, perhaps with the key of the one that it deletes. */
async function merge(
  inside: Transaction,
  values: postgres.PendingQuery<postgres.Row[]>,
): Promise<void> {
  const [server] = await inside<{ version: number }[]>`
    select current_setting('server_version_num')::integer as version
  `;
  if ((server?.version ?? 0) < 150_000) return;
  await inside`
    merge into app.documents as d
    using (
      select s.*, d.id is not null and d.owner_id is null as is_bad
      from (${values}) as s(${inside(columns)})
      left join app.documents as d on d.region = s.region and d.id = s.id
    ) as s
    on d.region = s.region and d.id = s.id and not s.is_bad
    when matched and d.level is null then delete
    when matched then update set owner_id = s.owner_id, weight = s.weight
    when not matched and not s.is_bad then
      insert (id, region, owner_id, folder_id, tags)
      values (s.id, s.region, s.owner_id, s.folder_id, s.tags)
  `;
}

/** Rows with keys of their own: the driver does not tell that a copy has failed. */
async function copy(inside: Transaction, row: DocumentRow): Promise<void> {
  const stream = await inside`
    copy app.documents (id, region, owner_id, team_id) from stdin
  `.writable();
  copied += 2;
  const values = [row.region, row.owner_id ?? "\\N", row.team_id ?? "\\N"].join("\t");
  await pipeline(Readable.from([`${copied}\t${values}\n${copied + 1}\t${values}\n`]), stream);
}

let copied = 1_000;

const folderIds = ["a", "b", "c", "d", "e"];

async function changeFolders(inside: Transaction, die: Dice): Promise<void> {
  const { upTo, happens } = die;
  const id = folderIds[upTo(folderIds.length)] ?? "";
  const parent = orNull(die, folderIds);
  const owner = orNull(die, users);
  switch (upTo(6)) {
    case 0:
    case 1:
      await inside`
        insert into app.folders
        select ${id}, (select id from app.folders where id = ${parent}), ${owner}
        on conflict (id) do update set owner_id = excluded.owner_id, parent_id = excluded.parent_id
      `;
      break;
    case 2:
      await inside`update app.folders set owner_id = ${owner} where id >= ${id}`;
      break;
    case 3:
      // It cascades to folders and documents, and perhaps to itself.
      await inside`
        update app.folders set id = id || 'x' where id = ${id} and length(id) < 4
      `;
      break;
    case 4:
      await inside`delete from app.folders where id like ${`${id}%`}`;
      break;
    default:
      if (happens(0.1)) await inside`truncate app.folders cascade`;
      else await inside`update app.folders set parent_id = id where id = ${id}`;
  }
}

async function changeMembers(inside: Transaction, die: Dice): Promise<void> {
  const { upTo, happens } = die;
  const team = orNull(die, teams);
  const user = orNull(die, users);
  switch (upTo(5)) {
    case 0:
    case 1:
      await inside`
        insert into app.members (team_id, user_id) values (${team}, ${user}) on conflict do nothing
      `;
      break;
    case 2:
      // The rows that are deleted and those that are inserted give the same tuples.
      await inside`
        with gone as (delete from app.members where team_id = ${team} returning *)
        insert into app.members (team_id, user_id) select team_id, user_id from gone
      `;
      break;
    case 3:
      await inside`delete from app.members where user_id = ${user}`;
      break;
    default:
      if (happens(0.1)) await inside`truncate app.members`;
      else await inside`update app.members set user_id = ${user} where number % 3 = ${upTo(3)}`;
  }
}

class Undone extends Error {}

async function changeOnce(inside: Transaction, die: Dice): Promise<void> {
  const draw = die.upTo(10);
  if (draw < 6) await changeDocuments(inside, die);
  else if (draw < 8) await changeFolders(inside, die);
  else await changeMembers(inside, die);
}

/** Others were in the way, or the rows do not fit together. */
const refusals = new Set(["40001", "40P01", "23505", "23503", "21000", "27000"]);

/** What happened, by its code; `done` is a commit. */
async function transaction(die: Dice, tally: Map<string, number>): Promise<void> {
  const note = (code: string): unknown => tally.set(code, (tally.get(code) ?? 0) + 1);
  try {
    await app.begin(async (inside) => {
      for (let left = 1 + die.upTo(3); left > 0; left--) {
        const isUndone = die.happens(0.1);
        await inside
          .savepoint(async (part) => {
            await changeOnce(part, die);
            if (isUndone) throw new Undone();
          })
          .catch((error: unknown) => {
            const code = error instanceof Error && "code" in error ? String(error.code) : "";
            if (!(error instanceof Undone) && !["23505", "23503"].includes(code)) throw error;
          });
      }
      if (die.happens(0.1)) throw new Undone();
    });
    note("done");
  } catch (error) {
    if (error instanceof Undone) return;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!refusals.has(code)) throw error;
    note(code);
  }
}

async function expected(): Promise<readonly string[]> {
  const rows = await scene.owner.unsafe<{ line: string }[]>(expectedQuery);
  return rows.map(({ line }) => line).toSorted();
}

/** Compares lookups with the rows. */
async function compareLookups(): Promise<void> {
  for (const user of users) {
    const asked = await scene.owner<{ id: string }[]>`
      select v as id from pemba.visible('t1', 'document', 'view', 'user', ${user}) as v
    `;
    const rows = await scene.owner.unsafe<{ id: string }[]>(visibleQuery, [user]);
    const ids = (list: readonly { readonly id: string }[]): readonly string[] =>
      [...new Set(list.map(({ id }) => id))].toSorted();
    assert.deepEqual(ids(asked), ids(rows), user);
  }
}

test(`tuples follow the rows of ${statements} transactions`, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const tally = new Map<string, number>();
  let left = statements;
  await Promise.all(
    Array.from({ length: applications }, async (_, index) => {
      const die = dice(index);
      while (left-- > 0) await transaction(die, tally);
    }),
  );
  t.diagnostic(JSON.stringify(Object.fromEntries(tally)));
  assert.deepEqual(await scene.stored(), await expected());
  await compareLookups();
  const equal = await scene.pemba("reconcile");
  assert.deepEqual(equal, {
    status: 0,
    stdout:
      "documents: equal\nfolder_owners: equal\nfolders: equal\nlevels: equal\nmembers: equal\n",
    stderr: "",
  });
  const log = await changesOf(scene.owner, scene.tenant);
  assert.deepEqual(replay(log), await storedState(scene.owner, scene.tenant));
});

/** A line of `stored`, as a comparison prints it. */
function printed(line: string): string {
  const [type, id, name, kind = "", subject, relation] = line.split(" ");
  const value = /^(?<type>boolean|string|integer|double)(?<list>\[\])?(?=["[\d-]|true|false)/;
  if (value.test(kind)) {
    const rest = line.slice(`${type} ${id} ${name} `.length);
    const [valueType = ""] = value.exec(rest) ?? [];
    return `t1 ${type}:${id}$${name}|${valueType}:${rest.slice(valueType.length)}`;
  }
  return `t1 ${type}:${id}#${name}@${kind}:${subject}${relation === undefined ? "" : `#${relation}`}`;
}

test("what changed while triggers were disabled is told exactly, and mended", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const names = ["documents", "folders", "members"];
  const toggle = async (word: string): Promise<void> => {
    for (const name of names)
      await scene.owner.unsafe(`alter table app.${name} ${word} trigger user`);
  };
  await toggle("disable");
  const die = dice(1_000);
  const tally = new Map<string, number>();
  for (let left = 40; left > 0; left--) await transaction(die, tally);
  await toggle("enable");
  const [stored, wanted] = [new Set(await scene.stored()), new Set(await expected())];
  const lines = [
    ...[...wanted].filter((line) => !stored.has(line)).map((line) => `missing ${printed(line)}`),
    ...[...stored].filter((line) => !wanted.has(line)).map((line) => `surplus ${printed(line)}`),
  ].toSorted();
  assert.ok(lines.length > 0);
  const told = await scene.pemba("reconcile");
  assert.equal(told.status, 2, told.stderr);
  const found = told.stdout.split("\n").filter((line) => /^(?:missing|surplus) /.test(line));
  assert.deepEqual(found.toSorted(), lines);
  const mended = await scene.pemba("reconcile", "--repair");
  assert.equal(mended.status, 0, mended.stderr);
  assert.deepEqual(await scene.stored(), await expected());
  assert.equal((await scene.pemba("reconcile")).status, 0);
  await compareLookups();
});

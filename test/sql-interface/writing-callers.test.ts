/** Where an application may call from: its own triggers, functions, procedures and prepared transactions. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { TenantId } from "../../src/base/tuple.ts";
import { changesOf, replay, storedState } from "../store/change-log.ts";
import { type Follower, follow, textOf } from "../store/change-streams.ts";
import { tenantWithSchema } from "../store/engines.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;

before(async () => {
  scene = await openInterface({}, { watch: { readAheadMax: 10 } });
});

after(async () => {
  await scene.close();
});

const owner = (id: string): string => `doc:${id}#owner@user:a`;

interface Watched {
  readonly tenant: TenantId;
  /** The changes of each transaction since the last call. */
  readonly told: (transactions: number) => Promise<readonly (readonly string[])[]>;
}

/** A new tenant, and what streams tell of it. */
async function watched(): Promise<Watched & { readonly leave: () => Promise<void> }> {
  const tenant = await tenantWithSchema(scene.store);
  const follower: Follower = await follow(scene.store, tenant);
  return {
    tenant,
    told: async (transactions) => {
      const all: (readonly string[])[] = [];
      while (all.length < transactions) all.push(textOf(await follower.next()));
      const log = await changesOf(scene.owner, tenant);
      assert.deepEqual(replay(log), await storedState(scene.owner, tenant));
      return all;
    },
    leave: async () => await follower.leave(),
  };
}

test("triggers write in the transaction of their statement, each kind at its time", async (t) => {
  const { tenant, told, leave } = await watched();
  t.after(leave);
  await scene.owner.unsafe(`
    create schema triggers;
    create table triggers.docs (id text, number integer);
    create function triggers.note() returns trigger language plpgsql as $$
    begin
      perform pemba.write_tuple('${tenant}', 'doc', tg_argv[0] || new.id, 'owner', 'user', 'a');
      return new;
    end $$;
    create function triggers.note_all() returns trigger language plpgsql as $$
    begin
      perform pemba.write_tuples('${tenant}', array(
        select format('doc:statement%s#owner@user:a', id) from added order by id
      ));
      return null;
    end $$;
    create trigger one before insert on triggers.docs
      for each row execute function triggers.note('before');
    create trigger two after insert on triggers.docs
      for each row execute function triggers.note('after');
    create trigger three after insert on triggers.docs referencing new table as added
      for each statement execute function triggers.note_all();
    create constraint trigger four after insert on triggers.docs deferrable initially deferred
      for each row execute function triggers.note('commit');
    grant usage on schema triggers to ${scene.role};
    grant insert on triggers.docs to ${scene.role};
  `);
  await scene.app`insert into triggers.docs (id) values ('1'), ('2')`;
  const names = ["before1", "before2", "after1", "after2", "statement1", "statement2"];
  const atCommit = ["commit1", "commit2"];
  assert.deepEqual(await told(1), [[...names, ...atCommit].map((id) => `+${owner(id)}`)]);
  // A row that is refused takes with it what its triggers wrote.
  await assert.rejects(scene.app`insert into triggers.docs values ('3', 'x'::text::integer)`);
  await scene.app`insert into triggers.docs (id) values ('4')`;
  const [last = []] = await told(1);
  assert.ok(last.length === 4 && last.every((text) => text.includes("4#")));
});

test("functions within functions write, and what a handler of exceptions undoes is not written", async (t) => {
  const { tenant, told, leave } = await watched();
  t.after(leave);
  await scene.owner.unsafe(`
    create schema nested;
    create function nested.inner_one(id text) returns void language sql as $$
      select pemba.write_tuple('${tenant}', 'doc', id, 'owner', 'user', 'a')
    $$;
    create function nested.middle(id text) returns void language plpgsql
    set work_mem to '8MB' as $$
    begin
      perform nested.inner_one(id || 'kept');
      begin
        perform nested.inner_one(id || 'undone');
        perform 1 / 0;
      exception when division_by_zero then
        perform nested.inner_one(id || 'instead');
      end;
    end $$;
    -- It is not volatile: its own queries keep the snapshot of its caller, but calls still write.
    create function nested.outer_one(id text) returns void language plpgsql stable security definer as $$
    begin
      perform nested.middle(id);
      perform pemba.delete_tuples('${tenant}', array['doc:' || id || 'kept#owner@user:a']);
    end $$;
    grant usage on schema nested to ${scene.role};
  `);
  await scene.app`select nested.outer_one('x')`;
  const expected = [`+${owner("xkept")}`, `+${owner("xinstead")}`, `-${owner("xkept")}`];
  assert.deepEqual(await told(1), [expected]);
});

test("a block writes in loops, and each of its commits ends a transaction", async (t) => {
  const { tenant, told, leave } = await watched();
  t.after(leave);
  await scene.app.unsafe(`
    do $$
    begin
      for number in 1 .. 3 loop
        perform pemba.write_tuple('${tenant}', 'doc', number::text, 'owner', 'user', 'a');
        perform pemba.write_tuple('${tenant}', 'doc', number || 'b', 'owner', 'user', 'a');
        if number = 2 then
          rollback;
        else
          commit;
        end if;
      end loop;
    end $$;
  `);
  const expected = ["1", "3"].map((id) => [`+${owner(id)}`, `+${owner(`${id}b`)}`]);
  assert.deepEqual(await told(2), expected);
});

test("one statement calls for each row, and a query that writes rows takes what is returned", async (t) => {
  const { tenant, told, leave } = await watched();
  t.after(leave);
  await scene.owner.unsafe(`
    create schema rows;
    create table rows.docs (id text, is_new boolean);
    grant usage on schema rows to ${scene.role};
    grant insert, select on rows.docs to ${scene.role};
  `);
  await scene.app`
    with made as (
      insert into rows.docs
      select id, pemba.write_tuple(${tenant}, 'doc', id, 'owner', 'user', 'a')
      from unnest(array['1', '2', '1']) as ids (id)
      returning id
    )
    select pemba.write_tuple(${tenant}, 'doc', id || 'again', 'owner', 'user', 'a') from made
  `;
  const rows = await scene.app`select id, is_new from rows.docs order by id, is_new desc`;
  assert.deepEqual(
    [...rows],
    [
      { id: "1", is_new: true },
      { id: "1", is_new: false },
      { id: "2", is_new: true },
    ],
  );
  const [changes = []] = await told(1);
  const ids = ["1", "2", "1again", "2again"];
  assert.deepEqual(changes.toSorted(), ids.map((id) => `+${owner(id)}`).toSorted());
});

test("a prepared transaction is told when it is committed, and holds its keys until then", async (t) => {
  const [setting] = await scene.app<{ count: string }[]>`
    select current_setting('max_prepared_transactions') as count
  `;
  if (Number(setting?.count) === 0) {
    t.skip("the server takes no prepared transactions");
    return;
  }
  const { tenant, told, leave } = await watched();
  t.after(leave);
  for (const [name, end] of [
    ["one", "rollback"],
    ["two", "commit"],
  ] as const) {
    const gid = `${tenant} ${name}`;
    await scene.app.begin(async (inside) => {
      await inside`select pemba.write_tuple(${tenant}, 'doc', ${name}, 'owner', 'user', 'a')`;
      await inside.unsafe(`prepare transaction '${gid}'`);
    });
    const waiting = scene.app.begin(async (inside) => {
      await inside`set local lock_timeout to '50ms'`;
      await inside`select pemba.write_tuple(${tenant}, 'doc', ${name}, 'owner', 'user', 'a')`;
    });
    await assert.rejects(waiting, { code: "55P03" });
    await scene.app.unsafe(`${end} prepared '${gid}'`);
  }
  await scene.app`select pemba.write_tuple(${tenant}, 'doc', 'three', 'owner', 'user', 'a')`;
  assert.deepEqual(await told(2), [[`+${owner("two")}`], [`+${owner("three")}`]]);
});

test("a transaction that only reads is refused", async () => {
  const { tenant, leave } = await watched();
  const reading = scene.app.begin("read only", async (inside) => {
    await inside`select pemba.write_tuple(${tenant}, 'doc', '1', 'owner', 'user', 'a')`;
  });
  await assert.rejects(reading, { code: "25006" });
  await leave();
});

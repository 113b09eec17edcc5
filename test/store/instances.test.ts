/** Several instances over one database, and a database that is not the one it was. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { emptyContext, type SnapToken } from "../../src/base/tuple.ts";
import {
  allowed,
  attribute,
  fails,
  newTenant,
  openPostgres,
  openStore,
  schemaText,
  tenantId,
  tenantWithSchema,
  write,
} from "./engines.ts";
import { connect, until } from "./open-write.ts";

const view = { id: "1", permission: "view", subject: "a" };

/** A number as a part of a name, which has no digits. */
function lettersOf(number: number): string {
  return String(number).replaceAll(/\d/g, (digit) => String.fromCharCode(97 + Number(digit)));
}

test("an instance validates against the head that another one has just written", async () => {
  const { store: one, url, close } = await openPostgres();
  const other = await openStore(url);
  const tenant = await tenantWithSchema(one);
  await write(other, tenant, { tuples: ["doc:1#owner@user:a"] });

  const renamed = schemaText.replaceAll("owner", "author");
  await one.schemas.write(tenant, { text: renamed });
  await write(other, tenant, { tuples: ["doc:1#author@user:b"] });
  await one.schemas.write(tenant, { text: schemaText });
  await fails(
    write(other, tenant, { tuples: ["doc:1#author@user:b"] }),
    "RELATION_DEFINITION_NOT_FOUND",
  );
  // Fits the head as this instance saw it last, and not as it is.
  await one.schemas.write(tenant, { text: renamed });
  await fails(
    write(other, tenant, { tuples: ["doc:1#owner@user:b"] }),
    "RELATION_DEFINITION_NOT_FOUND",
  );
  await other.close();
  await close();
});

test("an instance sees at once that another one deleted a tenant and made it anew", async () => {
  const { store: one, url, close } = await openPostgres();
  const other = await openStore(url);
  const tenant = await tenantWithSchema(one);
  const pinned = (await one.schemas.read(tenant, undefined)).version;
  await write(other, tenant, { tuples: ["doc:1#owner@user:a"], schemaVersion: pinned });
  await one.tenants.delete(tenant);
  await fails(write(other, tenant, {}), "TENANT_NOT_FOUND");
  await one.tenants.create({ id: tenant, name: "" });
  await one.schemas.write(tenant, { text: schemaText });
  await fails(write(other, tenant, { schemaVersion: pinned }), "SCHEMA_NOT_FOUND");
  assert.equal(await allowed(other, tenant, view), false);
  await other.close();
  await close();
});

test("an instance expands and explains under the head that another one has just written", async () => {
  const { store: one, url, close } = await openPostgres();
  const other = await openStore(url);
  const tenant = await newTenant(one);
  // To read all of it takes a statement of more characters than is sent.
  const groups = Array.from({ length: 2_500 }, (_, nth) => `g_${lettersOf(nth)}`);
  const wide = `entity user {}
    ${groups.map((group) => `entity ${group} { relation member @user }`).join("\n")}
    entity doc {
      ${groups.map((group) => `relation in_${group} @${group}`).join("\n")}
      relation owner @user
      permission view = owner or ${groups.map((group) => `in_${group}.member`).join(" or ")}
    }`;
  await one.schemas.write(tenant, { text: wide });
  const entity = { type: "doc", id: "1" };
  const item = {
    entity,
    permission: "view",
    subject: { type: "user", id: "a", relation: "" },
    arguments: [],
  };
  const asked = {
    context: emptyContext,
    depth: 100,
    schemaVersion: undefined,
    snapToken: undefined,
  };
  const questions = {
    expand: async () => await other.permissions.expand(tenant, { ...asked, ...item }),
    explain: async () => await other.permissions.explain(tenant, { ...asked, item }),
  };
  for (const ask of Object.values(questions)) {
    await one.schemas.write(tenant, { text: wide });
    await fails(ask(), "GATHER_LIMIT_EXCEEDED");
    await one.schemas.write(tenant, { text: schemaText });
    await ask();
  }
  await other.close();
  await close();
});

test("a write is one statement, once the schema is known", async () => {
  const statements: string[] = [];
  const { store, close } = await openPostgres({
    onStatement: (text) => {
      statements.push(text);
    },
  });
  const tenant = await tenantWithSchema(store);
  const data = {
    tuples: ["doc:1#owner@user:a"],
    attributes: [attribute("public", { type: "boolean", data: false })],
  };
  await write(store, tenant, data);
  for (const version of [undefined, (await store.schemas.read(tenant, undefined)).version]) {
    statements.length = 0;
    await write(store, tenant, { ...data, ...(version && { schemaVersion: version }) });
    assert.equal(statements.length, 1, statements.join("\n"));
  }
  await close();
});

test("the rows of a deleted tenant are removed, by the next start if need be", async () => {
  const { store: one, url, close } = await openPostgres();
  const sql = connect(url);
  const kept = await tenantWithSchema(one);
  const left = await tenantWithSchema(one);
  for (const tenant of [kept, left]) {
    await write(one, tenant, {
      tuples: ["doc:1#owner@user:a", "doc:2#owner@user:a"],
      attributes: [attribute("public", { type: "boolean", data: true })],
    });
  }
  const rows = async (): Promise<number | undefined> => {
    const [row] = await sql<{ count: number }[]>`
      select (
        (select count(*) from relationships) + (select count(*) from attributes) +
        (select count(*) from changes) + (select count(*) from schemas) +
        (select count(*) from removed_tenants)
      )::integer as count
    `;
    return row?.count;
  };
  assert.equal(await rows(), 14);
  // As an instance does that is killed right after its answer.
  await sql`select delete_tenant(${left})`;
  const other = await openStore(url);
  await until(async () => ((await rows()) === 7 ? true : undefined));
  assert.equal(await allowed(other, kept, view), true);
  await other.tenants.delete(kept);
  await until(async () => ((await rows()) === 0 ? true : undefined));
  await sql.end({ timeout: 1 });
  await other.close();
  await close();
});

test("tokens are good on every instance of a database, also after a restart", async () => {
  const { store: one, url, close } = await openPostgres();
  const tenant = await tenantWithSchema(one);
  const before = await write(one, tenant, {});
  const token = await write(one, tenant, { tuples: ["doc:1#owner@user:a"] });
  const other = await openStore(url);
  assert.equal(await allowed(other, tenant, { ...view, at: before }), false);
  assert.equal(await allowed(other, tenant, { ...view, at: token }), true);
  await other.close();
  await close();
});

test("a token of another database is refused, and so is anything that is no token", async () => {
  const [one, other] = [await openPostgres(), await openPostgres()];
  const t1 = tenantId("t1");
  for (const { store } of [one, other]) await store.schemas.write(t1, { text: schemaText });
  const foreign = await write(one.store, t1, {});
  await fails(
    allowed(other.store, t1, { ...view, at: foreign }),
    "INVALID_SNAP_TOKEN",
    "metadata.snap_token",
    "another database",
  );
  for (const text of ["x", "noop", "AAAAAAAAAAA=", `${foreign}A`, "ä"]) {
    await fails(
      allowed(one.store, t1, { ...view, at: text as SnapToken }),
      "INVALID_SNAP_TOKEN",
      "malformed",
    );
  }
  await one.close();
  await other.close();
});

test("a copy of a database answers as before, and refuses the tokens of the original", async () => {
  const { store: original, url, close } = await openPostgres();
  const tenant = await tenantWithSchema(original);
  await write(original, tenant, { attributes: [attribute("limit", { type: "integer", data: 1 })] });
  await write(original, tenant, { attributes: [attribute("limit", { type: "integer", data: 2 })] });
  const token = await write(original, tenant, { tuples: ["doc:1#owner@user:a"] });
  await original.close();

  const sql = connect(url, 1);
  const name = `${new URL(url).pathname.slice(1)}_copy`;
  // As rows look that come from a cluster with far higher transaction ids.
  await sql`update relationships set created_xid = '9000000000000'`;
  await sql.end({ timeout: 1 });
  const server = connect(new URL("/postgres", url).href, 1);
  await server.unsafe(`create database "${name}" template "${new URL(url).pathname.slice(1)}"`);
  try {
    const copy = await openStore(new URL(`/${name}`, url).href);
    assert.equal(await allowed(copy, tenant, view), true);
    await fails(allowed(copy, tenant, { ...view, at: token }), "INVALID_SNAP_TOKEN");
    const fresh = await write(copy, tenant, { tuples: ["doc:1#owner@user:b"] });
    assert.equal(await allowed(copy, tenant, { ...view, at: fresh }), true);
    await copy.close();
    const again = await openStore(new URL(`/${name}`, url).href);
    assert.equal(await allowed(again, tenant, { ...view, at: fresh }), true);
    await again.close();
  } finally {
    await server.unsafe(`drop database "${name}" with (force)`);
    await server.end({ timeout: 1 });
  }
  await close();
});

test("instances that start at the same time on a copy of a database all open it", async () => {
  const { store: original, url, close } = await openPostgres();
  await original.close();
  const setup = connect(url, 1);
  // As the row looks in a copy.
  await setup`update installation set system_identifier = '1'`;
  await setup`select pg_advisory_lock(lock_key(0, 0))`;
  const opening = Promise.all([openStore(url), openStore(url)]);
  await until(async () => {
    const waiting = await setup`
      select from pg_locks
      where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())
    `;
    return waiting.length === 2 ? true : undefined;
  });
  await setup`select pg_advisory_unlock(lock_key(0, 0))`;
  for (const store of await opening) await store.close();
  await setup.end({ timeout: 1 });
  await close();
});

test("an empty tenant can be written into by many instances at once", async () => {
  const { store: one, url, close } = await openPostgres();
  const others = await Promise.all([1, 2].map(async () => await openStore(url)));
  const tenant = await newTenant(one);
  await one.schemas.write(tenant, { text: schemaText });
  const stores = [one, ...others];
  const tokens = await Promise.all(
    Array.from({ length: 30 }, (_, index) => {
      const store = stores[index % stores.length] ?? one;
      return write(store, tenant, { tuples: [`doc:1#owner@user:u${index}`] });
    }),
  );
  for (const [index, token] of tokens.entries()) {
    const asked = { ...view, subject: `u${index}`, at: token };
    assert.equal(await allowed(one, tenant, asked), true);
  }
  await Promise.all(others.map(async (store) => await store.close()));
  await close();
});

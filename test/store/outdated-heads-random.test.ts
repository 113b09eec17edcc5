import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { PembaError } from "../../src/base/error.ts";
import {
  type AttributeValue,
  emptyContext,
  type SchemaVersion,
  type SnapToken,
  type TenantId,
} from "../../src/base/tuple.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { tokenKey } from "../support/token-key.ts";
import { attribute, newTenant, openPostgres, openStore, write } from "./engines.ts";

/*
 * One instance changes schemas and data, and deletes tenants and creates them anew. Another one, which hears of none
 * of that, is asked questions of every kind: under the head or a version, at the present state or a token, also under
 * versions and at tokens of a former tenant with the id. It must say what the memory engine says, which was told
 * the same. Types that have nothing to list, or are in some versions only, come often. A failure prints its seed;
 * PEMBA_SEED repeats it.
 */

const runs = caseCount({ short: 30, long: 600 });

const users = ["entity user {}", "entity user { relation self @user permission view = self }"];
const docs = [
  "",
  "entity doc {}",
  "entity doc { attribute public boolean }",
  "entity doc { relation viewer @user }",
  "entity doc { relation viewer @user attribute public boolean permission view = viewer or public }",
  "entity doc { relation viewer @user relation owner @user permission view = viewer not owner }",
  "entity doc { relation owner @user permission view = owner }",
  // Names that are of another kind.
  "entity doc { relation owner @user permission viewer = owner permission view = viewer }",
  "entity doc { attribute viewer boolean relation public @user permission view = viewer or public }",
  `entity doc { relation viewer @user attribute public integer permission view = viewer not high(public) }
  rule high(public integer) { public > 0 }`,
];

type Change =
  | { readonly kind: "schema"; readonly user: number; readonly doc: number }
  | { readonly kind: "write"; readonly what: keyof typeof writes }
  | { readonly kind: "anew" };

const kinds = [
  "check",
  "bulk",
  "permissions",
  "permissions",
  "permissions and relations",
  "entities",
  "subjects",
  "expand",
  "explain",
] as const;

interface Asked {
  readonly kind: (typeof kinds)[number];
  readonly type: "user" | "doc";
  readonly name: "view" | "viewer" | "public";
  /** Which of the tokens that there ever were; undefined: the present state. */
  readonly at: number | undefined;
  /** Which of the versions that there ever were; undefined: the head. */
  readonly under: number | undefined;
}

const anyChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("schema" as const),
      user: fc.nat(users.length - 1),
      doc: fc.nat(docs.length - 1),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      what: fc.constantFrom(
        "viewer",
        "owner",
        "public",
        "seen",
        "publicTuple",
        "publicNumber",
        "nothing",
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "anew" as const }) },
);
const anyAsked: fc.Arbitrary<Asked> = fc.record({
  kind: fc.constantFrom(...kinds),
  type: fc.constantFrom("user", "doc"),
  name: fc.constantFrom("view", "view", "viewer", "public"),
  at: fc.option(fc.nat(20), { nil: undefined }),
  under: fc.option(fc.nat(20), { nil: undefined, freq: 3 }),
});
const anyStory = fc.array(
  fc.record({
    changes: fc.array(anyChange, { maxLength: 3 }),
    asked: fc.array(anyAsked, { minLength: 1, maxLength: 6 }),
  }),
  { minLength: 2, maxLength: 8 },
);

let memory: Store;
let changing: Store;
let asking: Store;
let close: () => Promise<void>;

before(async () => {
  const opened = await openPostgres();
  memory = createMemoryStore({ maxSchemaCacheBytes: 1_000_000, tokenKey });
  changing = opened.store;
  asking = await openStore(opened.url, {
    slots: 1,
    cache: { maxBytes: 100_000, maxEntries: 200 },
  });
  close = async () => {
    await memory.close();
    await asking.close();
    await opened.close();
  };
});

after(() => close());

/** What there ever was in a tenant, in the words of each store. */
interface World {
  readonly tenant: TenantId;
  readonly tokens: Pair<SnapToken>[];
  readonly versions: Pair<SchemaVersion>[];
  /** How many of the tokens are of a former tenant. */
  former: number;
}

interface Pair<T> {
  readonly ofMemory: T;
  readonly ofPostgres: T;
}

test("an instance that hears of no change answers as the head, the token and the tenant have it", async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  await fc.assert(
    fc.asyncProperty(anyStory, async (story) => {
      const tenant = await newTenant(memory);
      await changing.tenants.create({ id: tenant, name: "" });
      const world: World = { tenant, tokens: [], versions: [], former: 0 };
      await change(world, { kind: "schema", user: 0, doc: 0 });
      await change(world, { kind: "write", what: "nothing" });
      for (const { changes, asked } of story) {
        for (const each of changes) await change(world, each);
        for (const one of asked) await compare(world, one);
      }
    }),
    { seed, numRuns: runs, interruptAfterTimeLimit: 180_000 },
  );
});

async function change(world: World, each: Change): Promise<void> {
  const { tenant, tokens, versions } = world;
  switch (each.kind) {
    case "schema": {
      const text = `${users[each.user] ?? ""} ${docs[each.doc] ?? ""}`;
      const version = await ofBoth(
        async (store) => (await store.schemas.write(tenant, { text })) ?? assert.fail("no version"),
      );
      versions.push(version);
      return;
    }
    case "write": {
      const data = writes[each.what];
      try {
        tokens.push(await ofBoth(async (store) => await write(store, tenant, data)));
      } catch (error) {
        // The head has no such relation, or there is no head.
        if (!(error instanceof PembaError)) throw error;
      }
      return;
    }
    case "anew":
      await ofBoth(async (store) => {
        await store.tenants.delete(tenant);
        await store.tenants.create({ id: tenant, name: "" });
      });
      world.former = tokens.length;
  }
}

const isPublic: AttributeValue = { type: "boolean", data: true };
const writes = {
  viewer: { tuples: ["doc:1#viewer@user:1"] },
  owner: { tuples: ["doc:1#owner@user:1"] },
  public: { attributes: [attribute("public", isPublic)] },
  seen: { attributes: [attribute("viewer", isPublic)] },
  publicTuple: { tuples: ["doc:1#public@user:1"] },
  publicNumber: { attributes: [attribute("public", { type: "integer", data: 1 })] },
  nothing: {},
};

async function ofBoth<T>(work: (store: Store) => Promise<T>): Promise<Pair<T>> {
  return { ofMemory: await work(memory), ofPostgres: await work(changing) };
}

async function compare({ tenant, tokens, versions, former }: World, asked: Asked): Promise<void> {
  const token = asked.at === undefined ? undefined : tokens[asked.at % tokens.length];
  const version = asked.under === undefined ? undefined : versions[asked.under % versions.length];
  const pins = { snapToken: token?.ofMemory, schemaVersion: version?.ofMemory };
  const right = [await outcome(memory, tenant, asked, pins)];
  if (token !== undefined && tokens.indexOf(token) < former) {
    assert.ok(isRefusal(right[0]), `${right[0]} at a state of the former tenant`);
    // A question with another fault as well may be refused for either.
    const other = await outcome(memory, tenant, asked, { ...pins, snapToken: undefined });
    right.push("INVALID_SNAP_TOKEN", ...[other].filter(isRefusal));
  }
  const got = await outcome(asking, tenant, asked, {
    snapToken: token?.ofPostgres,
    schemaVersion: version?.ofPostgres,
  });
  assert.ok(right.includes(got), `${got}, not ${right.join(" or ")}: ${JSON.stringify(asked)}`);
}

/** Answers are JSON, and errors are codes. */
function isRefusal(text: string | undefined): boolean {
  return /^[A-Z_]+$/.test(text ?? "");
}

async function outcome(
  { permissions, lookups }: Store,
  tenant: TenantId,
  { kind, type, name }: Asked,
  pins: {
    readonly snapToken: SnapToken | undefined;
    readonly schemaVersion: SchemaVersion | undefined;
  },
): Promise<string> {
  const frame = { ...pins, depth: 100, context: emptyContext };
  const page = { ...frame, after: undefined, limit: 10 };
  const entity = { type, id: "1" };
  const subject = { type: "user", id: "1", relation: "" };
  const item = { entity, permission: name, subject, arguments: [] };
  const path = (_item: number, field: string): string => field;
  const found = async (): Promise<unknown> => {
    switch (kind) {
      case "check":
      case "bulk": {
        const other = { ...item, subject: { ...subject, id: "2" } };
        const items = kind === "check" ? [item] : [item, other];
        const answers = await permissions.check(tenant, { ...frame, items, path });
        return answers.map(({ allowed }) => allowed);
      }
      case "permissions":
      case "permissions and relations": {
        const onlyPermission = kind === "permissions";
        const question = { ...frame, entity, subject, onlyPermission };
        const answers = await permissions.subjectPermissions(tenant, question);
        return [...answers].map(([key, { allowed }]) => [key, allowed]);
      }
      case "entities": {
        const question = { ...page, entityType: type, permission: name, subject, scope: new Map() };
        return (await lookups.entities(tenant, question)).items;
      }
      case "subjects": {
        const sought = { subjectType: "user", subjectRelation: "", arguments: [] };
        const question = { ...page, entity, permission: name, ...sought };
        return (await lookups.subjects(tenant, question)).items;
      }
      case "expand":
        return await permissions.expand(tenant, { ...frame, ...item });
      case "explain":
        return (await permissions.explain(tenant, { ...frame, item })).allowed;
    }
  };
  try {
    return JSON.stringify(await found());
  } catch (error) {
    if (error instanceof PembaError) return error.code;
    throw error;
  }
}

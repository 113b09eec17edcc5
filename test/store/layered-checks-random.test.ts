import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { PembaError } from "../../src/base/error.ts";
import { noTelemetry } from "../../src/base/telemetry.ts";
import {
  type Context,
  emptyContext,
  type SchemaVersion,
  type SnapToken,
  type TenantId,
} from "../../src/base/tuple.ts";
import type { CheckQuestion, Store } from "../../src/store/store.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { newTenant, openPostgres, openStore, tuple, write } from "./engines.ts";

/*
 * Checks that are kept and asked together, while data and schema change under them: each answer must
 * be one that a store without these layers gives for a state and a head between the question and the
 * answer. A failure prints its seed; PEMBA_SEED repeats it.
 */

const runs = caseCount({ short: 20, long: 300 });

const schemaOf = (view: string): string =>
  `entity user {} entity doc { relation owner @user relation viewer @user permission view = ${view} }`;
const views = ["viewer", "viewer or owner", "owner", "viewer and owner", "viewer not owner"];

interface Check {
  readonly doc: number;
  readonly user: number;
  /** Which of the tokens that there are; undefined: the present state. */
  readonly at: number | undefined;
  /** Which of the versions that there are; undefined: the head. */
  readonly under: number | undefined;
  readonly hasContext: boolean;
}

interface Round {
  readonly checks: readonly Check[];
  readonly changes: readonly Change[];
}

type Change =
  | { readonly kind: "write" | "delete"; readonly tuple: string }
  | { readonly kind: "schema"; readonly view: number };

const anyIndex = fc.nat(2);
const anyTuple = fc
  .record({ doc: anyIndex, user: anyIndex, relation: fc.constantFrom("owner", "viewer") })
  .map(({ doc, user, relation }) => `doc:${doc}#${relation}@user:${user}`);
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constantFrom("write" as const, "delete" as const), tuple: anyTuple }),
  fc.record({ kind: fc.constant("schema" as const), view: fc.nat(views.length - 1) }),
);
const anyCheck: fc.Arbitrary<Check> = fc.record({
  doc: anyIndex,
  user: anyIndex,
  at: fc.option(fc.nat(20), { nil: undefined, freq: 8 }),
  under: fc.option(fc.nat(5), { nil: undefined, freq: 3 }),
  hasContext: fc.oneof({ weight: 7, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const anyStory: fc.Arbitrary<readonly Round[]> = fc.array(
  fc.record({
    checks: fc.array(anyCheck, { minLength: 1, maxLength: 60 }),
    changes: fc.array(anyChange, { maxLength: 4 }),
  }),
  { minLength: 2, maxLength: 6 },
);

let plain: Store;
let layered: Store;
let close: () => Promise<void>;
const seen = { cached: 0, asked: 0 };

before(async () => {
  const opened = await openPostgres();
  plain = opened.store;
  layered = await openStore(opened.url, {
    slots: 1,
    cache: { maxBytes: 100_000, maxEntries: 200 },
    telemetry: {
      ...noTelemetry,
      add: (name, amount) => {
        if (name === "pemba.answer.cache.hits") seen.cached += amount;
        if (name === "pemba.answer.cache.misses") seen.asked += amount;
      },
    },
  });
  close = async () => {
    await layered.close();
    await opened.close();
  };
});

after(() => close());

/** What there is at a moment: the last of the tokens and versions are in force. */
interface World {
  readonly tenant: TenantId;
  readonly tokens: SnapToken[];
  readonly versions: SchemaVersion[];
}

test("what is kept and what is asked together is never older than the question", async () => {
  await fc.assert(
    fc.asyncProperty(anyStory, async (story) => await tell(story)),
    { seed, numRuns: runs },
  );
  assert.ok(seen.cached > 0, "nothing was in the cache");
  assert.ok(seen.asked > 0, "everything was in the cache");
});

async function tell(story: readonly Round[]): Promise<void> {
  const tenant = await newTenant(plain);
  const world: World = { tenant, tokens: [], versions: [] };
  await change(world, { kind: "schema", view: 0 });
  await change(world, { kind: "write", tuple: "doc:0#viewer@user:0" });
  for (const { checks, changes } of story) {
    const asking = checks.map(async (check) => await ask(world, check));
    for (const each of changes) await change(world, each);
    for (const asked of await Promise.all(asking)) await compare(world, asked);
  }
  await layered.tenants.delete(tenant);
  const last = { doc: 0, user: 0, at: 0, under: undefined, hasContext: false };
  assert.equal(await outcome(layered, tenant, question(last, world.tokens[0], undefined)), gone);
}

const gone = "TENANT_NOT_FOUND";

async function change({ tenant, tokens, versions }: World, each: Change): Promise<void> {
  switch (each.kind) {
    case "schema": {
      const text = schemaOf(views[each.view] ?? assert.fail("no such view"));
      versions.push((await plain.schemas.write(tenant, { text })) ?? assert.fail("no version"));
      return;
    }
    case "write":
      tokens.push(await write(plain, tenant, { tuples: [each.tuple] }));
      return;
    case "delete": {
      const { entity, relation, subject } = tuple(each.tuple);
      const tuples = {
        entity: { type: entity.type, ids: [entity.id] },
        relation,
        subject: { type: subject.type, ids: [subject.id], relation: "" },
      };
      tokens.push(await plain.data.delete(tenant, { tuples, attributes: undefined }));
    }
  }
}

interface Asked {
  readonly check: Check;
  readonly answer: string;
  /** What could be seen: states and heads from the question on up to what was under way at its end. */
  readonly states: readonly [from: number, to: number];
  readonly heads: readonly [from: number, to: number];
}

async function ask({ tenant, tokens, versions }: World, check: Check): Promise<Asked> {
  const [state, head] = [tokens.length - 1, versions.length - 1];
  const at = pick(tokens, check.at);
  const under = pick(versions, check.under);
  const answer = await outcome(layered, tenant, question(check, at, under));
  const pinned = (position: number): readonly [number, number] => [position, position + 1];
  return {
    check,
    answer,
    states: at === undefined ? [state, tokens.length + 1] : pinned(tokens.indexOf(at)),
    heads: under === undefined ? [head, versions.length + 1] : pinned(versions.indexOf(under)),
  };
}

async function compare(world: World, { check, answer, states, heads }: Asked): Promise<void> {
  const right = new Set<string>();
  for (const at of world.tokens.slice(...states)) {
    for (const under of world.versions.slice(...heads)) {
      right.add(await outcome(plain, world.tenant, question(check, at, under)));
    }
  }
  assert.ok(right.has(answer), `${answer} is none of ${[...right].join(", ")}`);
}

function pick<T>(list: readonly T[], nth: number | undefined): T | undefined {
  return nth === undefined ? undefined : list[nth % list.length];
}

function question(
  { doc, user, hasContext }: Check,
  snapToken: SnapToken | undefined,
  schemaVersion: SchemaVersion | undefined,
): CheckQuestion {
  const context: Context = hasContext
    ? { ...emptyContext, tuples: [tuple(`doc:${doc}#owner@user:${user}`)] }
    : emptyContext;
  return {
    schemaVersion,
    snapToken,
    depth: 100,
    context,
    items: [
      {
        entity: { type: "doc", id: String(doc) },
        permission: "view",
        subject: { type: "user", id: String(user), relation: "" },
        arguments: [],
      },
    ],
    path: (_item, field) => field,
  };
}

async function outcome(store: Store, tenant: TenantId, asked: CheckQuestion): Promise<string> {
  try {
    const [answer] = await store.permissions.check(tenant, asked);
    return String(answer?.allowed);
  } catch (error) {
    if (error instanceof PembaError) return error.code;
    throw error;
  }
}

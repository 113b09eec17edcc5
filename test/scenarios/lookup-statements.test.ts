import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import {
  emptyContext,
  type SchemaVersion,
  type SnapToken,
  type Subject,
} from "../../src/base/tuple.ts";
import { createHealth } from "../../src/service/health.ts";
import { lookupEntityStream } from "../../src/service/lookups.ts";
import type { Service } from "../../src/service/service.ts";
import type { LookupFrame, LookupPage } from "../../src/store/store.ts";
import { type Engines, startEngines } from "../differential/engines.ts";
import { factsOf } from "../differential/facts-text.ts";
import { type Story, tell } from "../differential/story.ts";

/*
 * The promise of the Postgres engine for lookups and trees: a page is one statement, however far the
 * ids are from what is asked, and however many there are. Counted at the driver, once the schema is
 * known.
 */

const statements: string[] = [];
let engines: Engines;
let story: Story;

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  relation owner @group
  attribute level integer
  attribute tags string[]
  permission owned = owner.member
  permission view = (viewer or parent.view) not banned
  permission deep = viewer or (parent.deep and above(level))
  permission calm = viewer or below(level)
  permission odd = viewer not parent.odd
  permission tagged = viewer and found(tags)
}
rule above(level integer) { level >= context.data.needed }
rule below(level integer) { level < 1 }
rule found(tags string[]) { size(tags) == 0 || tags.exists(tag, tag == context.data.tag) }`;

const folders = 1_200;
const permissions = ["view", "deep", "calm", "odd", "tagged", "viewer"];
const ann = { type: "user", id: "ann", relation: "" };

before(async () => {
  engines = await startEngines((text) => statements.push(text));
  const facts = factsOf([
    ...Array.from({ length: folders }, (_, index) => `folder:${1_000 + index}#parent@folder:top`),
    ...Array.from({ length: 20 }, (_, index) => `folder:top#viewer@group:g${index}#member`),
    ...Array.from({ length: 20 }, (_, index) => `group:g${index}#member@group:deep#member`),
    ...Array.from({ length: 40 }, (_, index) => `group:deep#member@user:u${index}`),
    "group:deep#member@user:ann",
    "folder:1000#viewer@user:ann",
    "folder:1000#viewer@user:bob",
    "folder:1001#viewer@user:ann",
    "folder:1002#viewer@user:ann",
    "folder:1002#banned@user:ann",
    "folder:1003#owner@group:g0",
  ]);
  story = await tell(engines.postgres, { schemas: [schema], writes: [{ schema: 0, ...facts }] });
});

after(() => engines.stop());

interface PageAsked {
  readonly after?: string | undefined;
  readonly snapToken?: SnapToken | undefined;
  readonly schemaVersion?: SchemaVersion | undefined;
}

/** A page of two ids. */
async function entities(
  permission: string,
  page: PageAsked,
  subject: Subject = ann,
): Promise<LookupPage> {
  return await story.store.lookups.entities(story.tenant, {
    ...frame(page),
    entityType: "folder",
    permission,
    subject,
    scope: new Map(),
  });
}

async function subjects(permission: string, page: PageAsked): Promise<LookupPage> {
  return await story.store.lookups.subjects(story.tenant, {
    ...frame(page),
    entity: { type: "folder", id: "1000" },
    permission,
    arguments: [],
    subjectType: "user",
    subjectRelation: "",
  });
}

const context = { ...emptyContext, data: { needed: 0, tag: "a" } };

function frame({ after: place, snapToken, schemaVersion }: PageAsked): LookupFrame {
  return { after: place, snapToken, schemaVersion, limit: 2, depth: 100, context };
}

/** What is done for the second time, so that nothing has to be learnt any more. */
async function counted<T>(work: () => Promise<T>): Promise<T> {
  await work();
  statements.length = 0;
  return await work();
}

for (const [name, read] of [
  ["entities", entities],
  ["subjects", subjects],
] as const) {
  for (const permission of permissions) {
    test(`each page of a lookup of ${name} by \`${permission}\` is one statement`, async () => {
      const first = await counted(async () => await read(permission, {}));
      assert.equal(statements.length, 1, statements.join("\n"));
      assert.ok(first.items.length > 0);
      const { snapToken, schemaVersion, next } = first;
      if (next === undefined) return;
      const behind = { after: next, snapToken, schemaVersion };
      const second = await counted(async () => await read(permission, behind));
      assert.equal(statements.length, 1, statements.join("\n"));
      assert.ok(second.items.length > 0);
    });
  }
}

test("a lookup for a userset that is asked by a walk is one statement", async () => {
  const members = { type: "group", id: "g0", relation: "member" };
  const { items } = await counted(async () => await entities("owned", {}, members));
  assert.deepEqual(items, ["1003"]);
  assert.equal(statements.length, 1, statements.join("\n"));
});

test("all permissions of a subject are one statement", async () => {
  const answers = await counted(() =>
    story.store.permissions.subjectPermissions(story.tenant, {
      ...frame({}),
      entity: { type: "folder", id: "1000" },
      subject: ann,
      onlyPermission: false,
    }),
  );
  assert.equal(answers.get("view")?.allowed, true);
  assert.equal(statements.length, 1, statements.join("\n"));
});

test("a tree is one statement, however deep", async () => {
  const tree = await counted(() =>
    story.store.permissions.expand(story.tenant, {
      ...frame({}),
      entity: { type: "folder", id: "1000" },
      permission: "view",
      arguments: [],
    }),
  );
  assert.match(JSON.stringify(tree), /"ann"/);
  assert.equal(statements.length, 1, statements.join("\n"));
});

test("a stream of entities is one statement for each of its batches", async () => {
  const { store, tenant } = story;
  const service: Service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const request = {
    tenantId: tenant,
    metadata: {},
    entityType: "folder",
    permission: "view",
    subject: ann,
  };
  const count = async (): Promise<number> => {
    let found = 0;
    for await (const group of lookupEntityStream(service, request)) found += group.length;
    return found;
  };
  const found = await counted(count);
  // Those below the top and itself, but for the one with the ban: a thousand, and what is left.
  assert.equal(found, folders);
  assert.equal(statements.length, 2, statements.join("\n"));
});

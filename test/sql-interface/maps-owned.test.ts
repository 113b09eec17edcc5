/** What maps derive cannot be written or deleted in another way. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { status } from "@grpc/grpc-js";

import { PembaError } from "../../src/base/error.ts";
import type { Tuple } from "../../src/base/tuple.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { newTenant } from "../store/engines.ts";
import { attributeFilter, tupleFilter } from "../store/filters.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { serveHere } from "../support/serve-here.ts";
import { mappedSchema, type MapScene, openMaps } from "./map-scene.ts";

let scene: MapScene;

const documents = `
- table: app.documents
  tenant: t1
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}", "viewer@group:{team_id}#member"]
  attributes: ["public: {is_public}"]
`;

before(async () => {
  scene = await openMaps();
  const { owner, install } = scene;
  await owner`create schema app`;
  await owner`create table app.documents (id bigint primary key, owner_id text, team_id text, is_public boolean)`;
  await install(documents);
  await owner`insert into app.documents values (1, 'ada', 'x', true)`;
});

after(async () => {
  await scene.close();
});

const derivedState = [
  "document 1 owner user ada",
  "document 1 public booleantrue",
  "document 1 viewer group x member",
];

function tupleOf(relation: string, subject: Tuple["subject"]): Tuple {
  return { entity: { type: "document", id: "1" }, relation, subject };
}

const bob = { type: "user", id: "bob", relation: "" };
const owns = tupleOf("owner", bob);
const views = tupleOf("viewer", bob);
const isPublic = {
  entity: { type: "document", id: "1" },
  attribute: "public",
  value: { type: "boolean", data: false },
} as const;

const ofOwner = "`document#owner@user` is derived from the table app.documents, change its rows";
const ofViewer =
  "`document#viewer@group#member` is derived from the table app.documents, change its rows";
const ofPublic = "`document$public` is derived from the table app.documents, change its rows";

/** The change fails with these details, and does nothing. */
async function refuses(
  change: Promise<unknown>,
  ...details: readonly (readonly [field: string, message: string])[]
): Promise<void> {
  await assert.rejects(change, (error) => {
    assert.ok(error instanceof PembaError, String(error));
    assert.equal(error.code, "RELATION_DERIVED");
    assert.deepEqual(
      error.details,
      details.map(([field, message]) => ({ field, message })),
    );
    const [first] = details;
    assert.ok(error.message.includes(`${first?.[0]}: ${first?.[1]}`), error.message);
    return true;
  });
  assert.deepEqual(await scene.stored(), derivedState);
}

test("a write that names something derived is refused as a whole", async () => {
  const { data } = scene.store;
  const write = { schemaVersion: undefined, tuples: [], attributes: [] };
  // The second one of a tenant and head takes another way.
  for (let count = 0; count < 2; count++) {
    await refuses(data.write(scene.tenant, { ...write, tuples: [owns] }), [
      "tuples[0].relation",
      ofOwner,
    ]);
  }
  await refuses(
    data.write(scene.tenant, { ...write, tuples: [tupleOf("owner", { ...bob, id: "ada" })] }),
    ["tuples[0].relation", ofOwner],
  );
  await refuses(
    data.write(scene.tenant, {
      ...write,
      tuples: [views, tupleOf("viewer", { type: "group", id: "y", relation: "member" }), owns],
      attributes: [isPublic],
    }),
    ["tuples[1].relation", ofViewer],
    ["tuples[2].relation", ofOwner],
    ["attributes[0].attribute", ofPublic],
  );
  await data.write(scene.tenant, { ...write, tuples: [views] });
  await data.delete(scene.tenant, {
    tuples: tupleFilter({ type: "document", relation: "viewer", subjectType: "user" }),
    attributes: undefined,
  });
  assert.deepEqual(await scene.stored(), derivedState);
});

test("a delete that names something derived is refused, and an open one leaves it alone", async () => {
  const { data } = scene.store;
  const remove = async (
    tuples: Parameters<typeof tupleFilter>[0] | undefined,
    attributes?: Parameters<typeof attributeFilter>[0],
  ) =>
    await data.delete(scene.tenant, {
      tuples: tuples && tupleFilter(tuples),
      attributes: attributes && attributeFilter(attributes),
    });
  await refuses(remove({ type: "document", relation: "owner" }), [
    "tuple_filter.relation",
    ofOwner,
  ]);
  await refuses(
    remove({
      type: "document",
      ids: ["1"],
      relation: "owner",
      subjectType: "user",
      subjectIds: ["ada"],
    }),
    ["tuple_filter.relation", ofOwner],
  );
  await refuses(remove({ type: "document", relation: "viewer" }), [
    "tuple_filter.relation",
    ofViewer,
  ]);
  await refuses(remove({ relation: "owner" }), ["tuple_filter.relation", ofOwner]);
  await refuses(remove(undefined, { type: "document", names: ["title", "public"] }), [
    "attribute_filter.attributes[1]",
    ofPublic,
  ]);
  await data.write(scene.tenant, {
    schemaVersion: undefined,
    tuples: [views],
    attributes: [{ ...isPublic, attribute: "title", value: { type: "string", data: "a" } }],
  });
  assert.equal((await scene.stored()).length, 5);
  await remove({ type: "document", ids: ["1"] }, { type: "document" });
  assert.deepEqual(await scene.stored(), derivedState);
  await remove({ subjectType: "user", subjectIds: ["ada"] });
  await remove({ type: "folder", relation: "owner" });
  assert.deepEqual(await scene.stored(), derivedState);
});

test("a change and a bundle that name something derived are refused as a whole", async () => {
  const { data, bundles } = scene.store;
  const change = {
    schemaVersion: undefined,
    preconditions: [],
    tupleFilters: [],
    attributeFilters: [],
    tuples: [],
    attributes: [],
  };
  await refuses(
    data.change(scene.tenant, { ...change, tuples: [views, owns], attributes: [isPublic] }),
    ["write.tuples[1].relation", ofOwner],
    ["write.attributes[0].attribute", ofPublic],
  );
  await refuses(
    data.change(scene.tenant, {
      ...change,
      tupleFilters: [
        tupleFilter({ type: "folder" }),
        tupleFilter({ type: "document", relation: "owner" }),
      ],
      tuples: [views],
    }),
    ["delete.tuple_filters[1].relation", ofOwner],
  );
  await refuses(
    data.change(scene.tenant, {
      ...change,
      attributeFilters: [attributeFilter({ type: "document", names: ["public"] })],
    }),
    ["delete.attribute_filters[0].attributes[0]", ofPublic],
  );
  await data.change(scene.tenant, {
    ...change,
    preconditions: [
      { kind: "tuple", tuple: tupleOf("owner", { ...bob, id: "ada" }), exists: true },
    ],
    tupleFilters: [tupleFilter({ type: "document", ids: ["1"] })],
  });
  await bundles.write(scene.tenant, [{ name: "b", arguments: [], operations: [] }]);
  const none = { tuples: [], attributes: [], deletedTuples: [], deletedAttributes: [] };
  const run = async (operation: Partial<typeof none>) =>
    await bundles.run(scene.tenant, "b", () => [none, { ...none, ...operation }]);
  for (const [operation, field, message] of [
    [{ tuples: [views, owns] }, "relationships_write[1].relation", ofOwner],
    [{ attributes: [isPublic] }, "attributes_write[0].attribute", ofPublic],
    [{ deletedTuples: [owns] }, "relationships_delete[0].relation", ofOwner],
    [{ deletedAttributes: [isPublic] }, "attributes_delete[0].attribute", ofPublic],
  ] as const) {
    await refuses(
      bundles.run(scene.tenant, "b", () => [none, { ...none, ...operation }]),
      [`operations[1].${field}`, message],
    );
  }
  await run({});
});

test("functions of SQL refuse what is derived, and leave it when an entity goes", async () => {
  const { owner } = scene;
  const attributes = JSON.stringify([
    {
      entity: isPublic.entity,
      attribute: "public",
      value: { "@type": "base.v1.BooleanValue", data: true },
    },
  ]);
  for (const [call, field, message] of [
    [
      owner`select pemba.write_tuple('t1', 'document', '1', 'owner', 'user', 'ada')`,
      "tuples[0].relation",
      ofOwner,
    ],
    [
      owner`select pemba.write_tuples('t1', ${["document:1#viewer@user:bob", "document:1#owner@user:bob"]}::text[])`,
      "tuples[1].relation",
      ofOwner,
    ],
    [
      owner`select pemba.delete_tuples('t1', ${["document:1#viewer@group:x#member"]}::text[])`,
      "tuples[0].relation",
      ofViewer,
    ],
    [
      owner`select pemba.write_attributes('t1', ${attributes}::text::jsonb)`,
      "attributes[0].attribute",
      ofPublic,
    ],
    [
      owner`select pemba.delete_attributes('t1', ${["document:1$title", "document:1$public"]}::text[])`,
      "attributes[1].attribute",
      ofPublic,
    ],
  ] as const) {
    await assert.rejects(call, {
      code: "PB006",
      message: `ERROR_CODE_RELATION_DERIVED: ${field}: ${message}`,
      detail: JSON.stringify([{ field, message }])
        .replaceAll('":"', '": "')
        .replaceAll('","', '", "'),
    });
  }
  await owner`select pemba.write_tuple('t1', 'document', '1', 'viewer', 'user', 'bob')`;
  const [gone] = await owner`select pemba.delete_entity('t1', 'document', '1') as count`;
  assert.equal(gone?.["count"], 1);
  assert.deepEqual(await scene.stored(), derivedState);
});

test("REST, gRPC and import refuse what is derived with its code", async (t) => {
  const { url: database, run, file } = scene;
  const env = {
    SERVICE_DATABASE_ENGINE: "postgres",
    SERVICE_DATABASE_URI: database,
    SERVICE_DATABASE_SQL_ENABLED: "true",
  };
  const { url, grpc } = await serveHere(t, [], env);
  const reply = await fetch(`${url}/v1/tenants/t1/data/write`, {
    method: "POST",
    body: JSON.stringify({ metadata: {}, tuples: [views, owns] }),
  });
  assert.equal(reply.status, 400);
  const body: unknown = await reply.json();
  assert.ok(typeof body === "object" && body !== null);
  assert.deepEqual(
    [Reflect.get(body, "code"), Reflect.get(body, "message"), Reflect.get(body, "details")],
    [
      status.FAILED_PRECONDITION,
      `ERROR_CODE_RELATION_DERIVED: tuples[1].relation: ${ofOwner}`,
      [{ field: "tuples[1].relation", message: ofOwner }],
    ],
  );
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const call = client.call(Data.method.write, {
    tenantId: "t1",
    metadata: {},
    tuples: [{ entity: owns.entity, relation: "owner", subject: bob }],
  });
  assert.deepEqual(await failure(call), {
    code: status.FAILED_PRECONDITION,
    details: `ERROR_CODE_RELATION_DERIVED: tuples[0].relation: ${ofOwner}`,
  });
  const facts = file("document:1#owner@user:eve\ndocument:1#viewer@user:eve\n");
  const imported = await run(["import", facts, "--url", url, "--tenant", "t1"]);
  assert.equal(imported.status, 1);
  assert.match(imported.stderr, /1\.yaml:1: .*RELATION_DERIVED|:1: .*is derived from the table/);
  assert.deepEqual(await scene.stored(), [...derivedState, "document 1 viewer user eve"]);
  await scene.owner`select pemba.delete_entity('t1', 'document', '1')`;
});

test("a map of one tenant leaves other tenants as they are, and no other map may derive the same", async () => {
  const { store, install, file, printed, apply, owner } = scene;
  const other = await newTenant(store);
  await store.schemas.write(other, { text: mappedSchema });
  await store.data.write(other, {
    schemaVersion: undefined,
    tuples: [owns],
    attributes: [isPublic],
  });
  await store.data.delete(other, {
    tuples: tupleFilter({ type: "document", relation: "owner" }),
    attributes: attributeFilter({ type: "document", names: ["public"] }),
  });
  await owner`create table app.more (tenant_id text, id text, owner_id text, primary key (tenant_id, id))`;
  const all = `
- table: app.more
  tenant: "{tenant_id}"
  entity: "document:{id}"
  tuples: ["owner@user:{owner_id}"]
`;
  const migration = await printed("map", file(all));
  await assert.rejects(apply(migration), {
    code: "23505",
    message: "the map `documents` derives `document#owner@user` already",
  });
  await owner`create unique index on app.more (id)`;
  const one = all.replace('"{tenant_id}"', other);
  await install(one);
  await assert.rejects(
    store.data.write(other, { schemaVersion: undefined, tuples: [owns], attributes: [] }),
    /is derived from the table app\.more/,
  );
  await scene.drop(one);
  await store.data.write(other, { schemaVersion: undefined, tuples: [owns], attributes: [] });
});

test("the first map binds connections that wrote before it, and the last one frees them", async () => {
  const { store, owner } = scene;
  /** What many writes at once come to: they take all connections. */
  const outcomes = async (): Promise<readonly string[]> => {
    const ids = Array.from({ length: 40 }, (_, index) => `${index}`);
    const ended = await Promise.allSettled(
      ids.map(async (id) => {
        const tuples = [{ ...owns, entity: { type: "document", id } }];
        await store.data.write(scene.tenant, { schemaVersion: undefined, tuples, attributes: [] });
      }),
    );
    return [
      ...new Set(ended.map((each) => (each.status === "rejected" ? String(each.reason) : ""))),
    ];
  };
  await scene.drop(documents);
  assert.equal((await owner`select from derived`).length, 0);
  assert.deepEqual(await outcomes(), [""]);
  await scene.install(documents);
  const [refusal, ...others] = await outcomes();
  assert.match(refusal ?? "", /is derived from the table app\.documents/);
  assert.deepEqual(others, []);
  await scene.drop(documents);
  assert.deepEqual(await outcomes(), [""]);
});

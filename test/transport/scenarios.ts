import assert from "node:assert/strict";

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import { objectOf } from "./client.ts";
import { textOf } from "./rest-form.ts";
import type { Caller, Scenario } from "./transcript.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity folder {
    relation parent @folder
    relation viewer @user @group#member
    permission view = viewer or parent.view
  }
  entity doc {
    relation folder @folder
    relation owner @user
    relation blocked @user @group#member
    attribute public boolean
    attribute level integer
    attribute tags string[]
    attribute score double
    permission view = (owner or folder.view) not blocked
    permission open = public
    permission enter = owner and high(level)
  }
  rule high(level integer) { level > context.data.least }
`;

const type = (name: string): string => `type.googleapis.com/base.v1.${name}Value`;
const doc = (id: string): JsonObject => ({ type: "doc", id });
const user = (id: string): JsonObject => ({ type: "user", id });
const now: JsonObject = { metadata: {} };

/** `doc:1#owner@user:ada` as the API has it. */
function tuple(text: string): JsonObject {
  const [
    ,
    entityType = "",
    entityId = "",
    relation = "",
    subjectType = "",
    subject = "",
    userset = "",
  ] = /^(\w+):(\w+)#(\w+)@(\w+):(\w+)(?:#(\w+))?$/.exec(text) ?? assert.fail(text);
  return {
    entity: { type: entityType, id: entityId },
    relation,
    subject: { type: subjectType, id: subject, relation: userset },
  };
}

function attribute(id: string, name: string, valueType: string, data: JsonObject["x"]): JsonObject {
  return {
    entity: doc(id),
    attribute: name,
    value: { "@type": type(valueType), data: data ?? null },
  };
}

/** Writes the schema and some data; gives the token of the state. */
async function fill({ get }: Caller): Promise<string> {
  await get("schema write", { schema });
  const written = await get("data write", {
    ...now,
    tuples: [
      "group:crew#member@user:ada",
      "group:all#member@group:crew#member",
      "group:all#member@user:bob",
      "folder:top#viewer@group:all#member",
      "folder:sub#parent@folder:top",
      "doc:plan#folder@folder:sub",
      "doc:plan#owner@user:eve",
      "doc:plan#blocked@user:bob",
      "doc:news#owner@user:ada",
    ].map(tuple),
    attributes: [
      attribute("news", "public", "Boolean", true),
      attribute("plan", "level", "Integer", 3),
      attribute("plan", "tags", "StringArray", ["a", 'ä,"b']),
      attribute("plan", "score", "Double", 0.5),
    ],
  });
  return textOf(written["snap_token"]);
}

const check = (id: string, name: string, permission = "view"): JsonObject => ({
  ...now,
  entity: doc(id),
  permission,
  subject: user(name),
});

/** What clients do, operation by operation. Each runs on every transport and engine. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  "tenants are created, listed and deleted once": async ({ get, fails, tenant }) => {
    const extra = `${tenant}x`;
    await get("tenant create", { id: extra, name: "ü" });
    await fails("UNIQUE_CONSTRAINT", "tenant create", { id: extra, name: "other" });
    await fails("VALIDATION", "tenant create", { id: "a_b", name: "" });
    await fails("VALIDATION", "tenant create", { id: "", name: "" });
    await fails("VALIDATION", "tenant create", { id: "a", name: "ü".repeat(33) });
    await fails("INVALID_CONTINUOUS_TOKEN", "tenant list", { continuous_token: "x" });
    await get("tenant list", { page_size: 10_000 });
    await get("tenant list placed", { page_size: 10_000 });
    await get("tenant delete", {}, extra);
    await get("tenant place", { id: extra, name: "ü", cluster: "" });
    await fails("UNIQUE_CONSTRAINT", "tenant place", { id: extra, name: "other" });
    await fails("VALIDATION", "tenant place", { id: `${extra}y`, name: "", cluster: "here" });
    await get("tenant delete", {}, extra);
    await fails("TENANT_NOT_FOUND", "tenant delete", {}, extra);
    await fails("VALIDATION", "tenant delete", {}, "a b");
    await fails("TENANT_NOT_FOUND", "schema list", {}, extra);
    await get("tenant list", { page_size: 10_000 });
  },

  "a schema is written, changed in part, read and listed": async ({ get, fails }) => {
    await fails("SCHEMA_NOT_FOUND", "schema read", now);
    await get("schema list", {});
    const first = await get("schema write", { schema });
    await get("schema partial write", {
      ...now,
      partials: {
        doc: {
          write: ["permission edit = owner", "relation editor @user"],
          update: ["permission open = public or owner"],
          delete: ["enter"],
        },
      },
    });
    await get("schema read", now);
    await get("schema read", { metadata: { schema_version: first["schema_version"] ?? "" } });
    const page = await get("schema list", { page_size: 1 });
    const continuous_token = page["continuous_token"] ?? "";
    assert.notEqual(continuous_token, "");
    await get("schema list", { page_size: 1, continuous_token });
    await fails("INVALID_CONTINUOUS_TOKEN", "tenant list", { continuous_token });
  },

  "an error of a schema names its position": async ({ get, fails }) => {
    await fails("SCHEMA_COMPILE", "schema write", { schema: "" });
    await fails("SCHEMA_PARSE", "schema write", {
      schema: "entity user {}\nentity doc { relation }",
    });
    await fails("SCHEMA_COMPILE", "schema write", {
      schema: "entity user {}\nentity doc { relation owner @usr }",
    });
    await fails("SCHEMA_NOT_FOUND", "schema partial write", {
      ...now,
      partials: { doc: { write: ["permission a = owner"] } },
    });
    await get("schema write", { schema });
    await fails("VALIDATION", "schema partial write", { partials: {} });
    await fails("ENTITY_STATEMENT_NOT_FOUND", "schema partial write", {
      ...now,
      partials: { nothing: { write: ["permission a = owner"] } },
    });
    await fails("REFERENCE_NOT_FOUND", "schema partial write", {
      ...now,
      partials: { doc: { delete: ["nothing"] } },
    });
    await fails("ALREADY_EXIST", "schema partial write", {
      ...now,
      partials: { doc: { write: ["permission view = owner"] } },
    });
    await fails("SCHEMA_NOT_FOUND", "schema read", { metadata: { schema_version: "x" } });
    await fails("VALIDATION", "schema read", {});
  },

  "data is written, read by pages and deleted": async (caller) => {
    const { get } = caller;
    await fill(caller);
    const before = await get("relationships write", {
      ...now,
      tuples: [tuple("doc:1#owner@user:a"), tuple("doc:2#owner@user:a")],
    });
    const filter: JsonObject = { entity: { type: "doc" }, relation: "owner" };
    const page = await get("relationships read", { ...now, filter, page_size: 3 });
    const continuous_token = page["continuous_token"] ?? "";
    assert.notEqual(continuous_token, "");
    await get("relationships read", { ...now, filter, page_size: 3, continuous_token });
    await get("attributes read", { ...now, filter: {} });
    await get("data delete", {
      tuple_filter: { entity: { type: "doc", ids: ["1"] } },
      attribute_filter: { entity: { type: "doc", ids: ["plan"] }, attributes: ["tags", "level"] },
    });
    await get("relationships delete", { filter: { subject: { type: "user", ids: ["a"] } } });
    await get("relationships read", { ...now, filter });
    await get("attributes read", { ...now, filter: { attributes: ["score", "tags"] } });
    const pinned = { metadata: { snap_token: before["snap_token"] ?? "" } };
    await get("relationships read", { ...pinned, filter });
    await get("attributes read", { ...pinned, filter: {} });
  },

  "an error of data names its path": async (caller) => {
    const { get, fails } = caller;
    await fails("SCHEMA_NOT_FOUND", "data write", {
      ...now,
      tuples: [tuple("doc:1#owner@user:a")],
    });
    await fill(caller);
    await fails("VALIDATION", "data write", { tuples: [] });
    await fails("VALIDATION", "data write", { ...now, tuples: [{ relation: "owner" }] });
    await fails("RELATION_DEFINITION_NOT_FOUND", "data write", {
      ...now,
      tuples: [tuple("doc:1#owner@user:a"), tuple("doc:1#writer@user:a")],
    });
    await fails("SUBJECT_TYPE_NOT_FOUND", "data write", {
      ...now,
      tuples: [tuple("doc:1#owner@group:a#member")],
    });
    await fails("ENTITY_TYPE_NOT_FOUND", "relationships write", {
      ...now,
      tuples: [tuple("file:1#owner@user:a")],
    });
    await fails("ENTITY_AND_SUBJECT_CANNOT_BE_EQUAL", "data write", {
      ...now,
      tuples: [tuple("group:a#member@group:a#member")],
    });
    await fails("ATTRIBUTE_DEFINITION_NOT_FOUND", "data write", {
      ...now,
      attributes: [attribute("1", "size", "Integer", 1)],
    });
    await fails("ATTRIBUTE_TYPE_MISMATCH", "data write", {
      ...now,
      attributes: [attribute("1", "level", "String", "high")],
    });
    await fails("MAX_DATA_PER_WRITE_EXCEEDED", "data write", {
      ...now,
      tuples: Array.from({ length: 21 }, (_, index) => tuple(`doc:${index}#owner@user:a`)),
    });
    await fails("VALIDATION", "relationships write", { ...now, tuples: [] });
    await fails("VALIDATION", "data delete", { tuple_filter: {}, attribute_filter: {} });
    await fails("VALIDATION", "data delete", { tuple_filter: {} });
    await fails("VALIDATION", "relationships delete", {});
    await fails("VALIDATION", "relationships read", { ...now });
    await fails("VALIDATION", "attributes read", { filter: {} });
    await fails("INVALID_SNAP_TOKEN", "relationships read", {
      metadata: { snap_token: "x" },
      filter: {},
    });
    await fails("INVALID_CONTINUOUS_TOKEN", "attributes read", {
      ...now,
      filter: {},
      continuous_token: "x",
    });
    await get("relationships read", { ...now, filter: {} });
  },

  "schemas follow the head that is expected": async (caller) => {
    const { get, fails } = caller;
    await fails("PRECONDITION_FAILED", "schema change", { schema, expected_head: "none" });
    const first = await get("schema change", { schema, expected_head: "" });
    await fails("PRECONDITION_FAILED", "schema change", { schema, expected_head: "" });
    await fails("VALIDATION", "schema change", { schema });
    const head = first["schema_version"] ?? "";
    await get("schema change", { schema: "entity user {}", expected_head: head });
    await fails("PRECONDITION_FAILED", "schema activate", {
      schema_version: head,
      expected_head: head,
    });
    await fails("SCHEMA_NOT_FOUND", "schema activate", { schema_version: "none" });
    await fails("VALIDATION", "schema activate", { expected_head: "" });
    await get("schema activate", { schema_version: head });
    await get("schema list", {});
    await get("schema read", now);
    await get("schema read text", { schema_version: head });
    await fails("SCHEMA_NOT_FOUND", "schema read text", { schema_version: "none" });
  },

  "data is changed under preconditions": async (caller) => {
    const { get, fails } = caller;
    await fill(caller);
    const before = await get("data write", { ...now, tuples: [tuple("doc:1#owner@user:a")] });
    const change: JsonObject = {
      ...now,
      preconditions: [
        { tuple: tuple("doc:1#owner@user:a"), exists: true },
        { tuple: tuple("doc:1#owner@user:b"), exists: false },
        { snap_token: before["snap_token"] ?? "", unchanged: true },
      ],
      write: {
        tuples: [tuple("doc:1#owner@user:b")],
        attributes: [attribute("1", "level", "Integer", 5)],
      },
      delete: {
        tuple_filters: [{ entity: { type: "doc", ids: ["1"] }, relation: "owner" }],
        attribute_filters: [{ attributes: ["tags"] }],
        entities: [{ type: "group", id: "eng" }],
      },
    };
    await get("data change", change);
    await get("relationships read", { ...now, filter: {} });
    await get("attributes read", { ...now, filter: {} });
    await fails("PRECONDITION_FAILED", "data change", change);
    await get("data change", { delete: { entities: [doc("1")] } });
    await get("relationships read", { ...now, filter: { entity: doc("1") } });
  },

  "a change that is not as it should be names the path": async (caller) => {
    const { fails } = caller;
    const written: JsonObject = { write: { tuples: [tuple("doc:1#owner@user:a")] } };
    await fails("SCHEMA_NOT_FOUND", "data change", written);
    await fill(caller);
    await fails("VALIDATION", "data change", {});
    await fails("VALIDATION", "data change", { ...now, write: {}, delete: { tuple_filters: [] } });
    await fails("VALIDATION", "data change", { delete: { tuple_filters: [{}] } });
    await fails("VALIDATION", "data change", { delete: { attribute_filters: [{}] } });
    await fails("VALIDATION", "data change", { delete: { entities: [{ type: "doc" }] } });
    await fails("VALIDATION", "data change", {
      delete: { tuple_filters: Array.from({ length: 101 }, () => ({ relation: "owner" })) },
    });
    const stated = tuple("doc:1#owner@user:a");
    for (const precondition of [
      {},
      { tuple: stated },
      { exists: true },
      { tuple: stated, exists: true, unchanged: true },
      { tuple: stated, exists: true, snap_token: "x" },
      { tuple: { relation: "owner" }, exists: true },
      { snap_token: "x" },
      { snap_token: "x", unchanged: false },
      { snap_token: "x", unchanged: true, exists: true },
    ]) {
      await fails("VALIDATION", "data change", { ...written, preconditions: [precondition] });
    }
    const state: JsonObject = { snap_token: "x", unchanged: true };
    await fails("VALIDATION", "data change", { ...written, preconditions: [state, state] });
    await fails("INVALID_SNAP_TOKEN", "data change", { ...written, preconditions: [state] });
    await fails("RELATION_DEFINITION_NOT_FOUND", "data change", {
      ...written,
      preconditions: [{ tuple: tuple("doc:1#writer@user:a"), exists: false }],
    });
    await fails("ATTRIBUTE_TYPE_MISMATCH", "data change", {
      write: { attributes: [attribute("1", "level", "String", "high")] },
    });
    await fails("MAX_DATA_PER_WRITE_EXCEEDED", "data change", {
      write: {
        tuples: Array.from({ length: 21 }, (_, index) => tuple(`doc:${index}#owner@user:a`)),
      },
    });
    await fails("MAX_DATA_PER_WRITE_EXCEEDED", "data change", {
      ...written,
      preconditions: Array.from({ length: 21 }, () => ({ tuple: stated, exists: true })),
    });
    await fails("MAX_DATA_PER_WRITE_EXCEEDED", "data change", {
      delete: { entities: Array.from({ length: 21 }, (_, index) => doc(String(index))) },
    });
  },

  "bundles are written, run, read and deleted": async (caller) => {
    const { get, fails } = caller;
    await fill(caller);
    const bundle: JsonObject = {
      name: "hire",
      arguments: ["who", "where"],
      operations: [
        {
          relationships_write: ["doc:{{.where}}#owner@user:{{.who}}"],
          attributes_write: ["doc:{{.where}}$public|boolean:true"],
        },
        { relationships_delete: ["doc:plan#owner@user:{{.who}}"] },
      ],
    };
    await get("bundle write", { bundles: [bundle, { name: "empty" }] });
    await get("bundle read", { name: "hire" });
    const ran = await get("run bundle", { name: "hire", arguments: { who: "eve", where: "9" } });
    const pinned = { metadata: { snap_token: ran["snap_token"] ?? "" } };
    await get("relationships read", { ...pinned, filter: { relation: "owner" } });
    await fails("MISSING_ARGUMENT", "run bundle", { name: "hire", arguments: { who: "eve" } });
    await fails("VALIDATION", "run bundle", {
      name: "hire",
      arguments: { who: "a b", where: "9" },
    });
    await fails("BUNDLE_NOT_FOUND", "run bundle", { name: "fire", arguments: {} });
    await fails("VALIDATION", "bundle write", { bundles: [] });
    await fails("VALIDATION", "bundle write", {
      bundles: [{ name: "a", operations: [{ relationships_write: ["doc:{{.x}}#owner@user:a"] }] }],
    });
    await get("bundle list", {});
    const first = await get("bundle list", { page_size: 1 });
    const rest = { continuous_token: first["continuous_token"] ?? "" };
    await get("bundle list", { page_size: 1, ...rest });
    await fails("INVALID_CONTINUOUS_TOKEN", "schema list", rest);
    await fails("VALIDATION", "bundle read", { name: "" });
    await get("bundle delete", { name: "hire" });
    await fails("BUNDLE_NOT_FOUND", "bundle read", { name: "hire" });
    await fails("BUNDLE_NOT_FOUND", "bundle delete", { name: "hire" });
  },

  "checks are answered, one by one and together": async (caller) => {
    const { get, fails } = caller;
    const snap_token = await fill(caller);
    for (const name of ["ada", "bob", "eve", "zoe"]) await get("check", check("plan", name));
    await get("check", check("news", "zoe", "open"));
    await get("check", {
      ...check("plan", "eve", "enter"),
      context: { data: { least: 2 } },
    });
    await get("check", {
      ...check("plan", "eve", "enter"),
      context: { attributes: [attribute("plan", "level", "Integer", 9)], data: { least: 8 } },
    });
    await get("check", {
      ...check("plan", "any", "high"),
      arguments: [{ computed_attribute: { name: "level" } }],
      context: { data: { least: 3 } },
    });
    await get("relationships delete", { filter: { relation: "member" } });
    await get("check", { ...check("plan", "ada"), metadata: { snap_token, depth: 20 } });
    await get("check", check("plan", "ada"));
    await get("bulk check", {
      metadata: { snap_token },
      items: ["ada", "bob", "eve", "zoe"].map((name) => ({
        entity: doc("plan"),
        permission: "view",
        subject: user(name),
      })),
      context: { tuples: [tuple("doc:plan#owner@user:zoe")] },
    });
    await get("subject permission", {
      metadata: { snap_token },
      entity: doc("plan"),
      subject: user("eve"),
      context: { data: { least: 0 } },
    });
    await get("subject permission", {
      metadata: { only_permission: true },
      entity: doc("plan"),
      subject: user("eve"),
      context: { data: { least: 0 } },
    });
    await fails("SCHEMA_NOT_FOUND", "check", {
      ...check("plan", "ada"),
      metadata: { schema_version: "00000000000000000000" },
    });
  },

  "a question that has no answer says why": async (caller) => {
    const { fails } = caller;
    await fails("SCHEMA_NOT_FOUND", "check", check("plan", "ada"));
    await fill(caller);
    await fails("VALIDATION", "check", { ...check("plan", "ada"), metadata: null });
    await fails("VALIDATION", "check", check("a b", "ada"));
    await fails("PERMISSION_NOT_FOUND", "check", check("plan", "ada", "nothing"));
    await fails("ENTITY_TYPE_NOT_FOUND", "check", {
      ...check("plan", "ada"),
      entity: { type: "file", id: "1" },
    });
    await fails("DEPTH_NOT_ENOUGH", "check", { ...check("plan", "ada"), metadata: { depth: 1 } });
    await fails("VALIDATION", "check", { ...check("plan", "ada"), metadata: { depth: -1 } });
    await fails("RULE_EVALUATION", "check", check("plan", "eve", "enter"));
    await fails("INVALID_SNAP_TOKEN", "check", {
      ...check("plan", "ada"),
      metadata: { snap_token: "x" },
    });
    await fails("RELATION_DEFINITION_NOT_FOUND", "check", {
      ...check("plan", "ada"),
      context: { tuples: [tuple("doc:plan#writer@user:ada")] },
    });
    await fails("VALIDATION", "bulk check", { ...now, items: [] });
    await fails("PERMISSION_NOT_FOUND", "bulk check", {
      ...now,
      items: [check("plan", "ada"), check("plan", "ada", "nothing")],
    });
    await fails("VALIDATION", "subject permission", { ...now, entity: doc("plan") });
    await fails("TENANT_NOT_FOUND", "check", check("plan", "ada"), "missing");
  },

  "permissions are expanded": async (caller) => {
    const { get, fails } = caller;
    await fill(caller);
    const ask = { ...now, entity: doc("plan") };
    for (const permission of ["view", "open", "enter", "owner", "public"]) {
      await get("expand", { ...ask, permission });
    }
    await get("expand", {
      ...ask,
      permission: "high",
      arguments: [{ computed_attribute: { name: "level" } }],
    });
    await fails("VALIDATION", "expand", ask);
    await fails("PERMISSION_NOT_FOUND", "expand", { ...ask, permission: "nothing" });
  },

  "checks are explained": async (caller) => {
    const { get, fails } = caller;
    const snap_token = await fill(caller);
    for (const user of ["ada", "bob", "nobody"]) {
      for (const permission of ["view", "open", "enter", "owner", "public"]) {
        await get("explain", { ...check("plan", user, permission), metadata: { snap_token } });
      }
    }
    await get("explain", {
      ...check("plan", "ada", "high"),
      context: { data: { least: 3 } },
      arguments: [{ computed_attribute: { name: "level" } }],
    });
    await fails("VALIDATION", "explain", { ...now, entity: doc("plan") });
    await fails("PERMISSION_NOT_FOUND", "explain", check("plan", "ada", "nothing"));
    await fails("TENANT_NOT_FOUND", "explain", check("plan", "ada"), "missing");
  },

  "entities and subjects are looked up": async (caller) => {
    const { get, stream, fails } = caller;
    const snap_token = await fill(caller);
    const entities: JsonObject = {
      ...now,
      entity_type: "doc",
      permission: "view",
      subject: user("ada"),
    };
    await get("lookup entity", entities);
    const page = await get("lookup entity", { ...entities, page_size: 1 });
    const continuous_token = page["continuous_token"] ?? "";
    assert.notEqual(continuous_token, "");
    await get("lookup entity", { ...entities, page_size: 1, continuous_token });
    await get("lookup entity", { ...entities, scope: { doc: { data: ["news"] } } });
    assert.equal((await stream("lookup entity stream", entities)).length, 2);
    await stream("lookup entity stream", { ...entities, page_size: 1 });
    const subjects: JsonObject = {
      ...now,
      entity: doc("plan"),
      permission: "view",
      subject_reference: { type: "user" },
    };
    await get("lookup subject", subjects);
    const first = await get("lookup subject", { ...subjects, page_size: 1 });
    await get("lookup subject", {
      ...subjects,
      page_size: 1,
      continuous_token: first["continuous_token"] ?? "",
    });
    await get("relationships delete", { filter: { relation: "member" } });
    await get("lookup subject", { ...subjects, metadata: { snap_token } });
    await get("lookup subject", {
      ...subjects,
      permission: "folder",
      subject_reference: { type: "folder" },
    });
    await fails("VALIDATION", "lookup entity", { ...entities, entity_type: "" });
    await fails("ENTITY_TYPE_NOT_FOUND", "lookup entity", { ...entities, entity_type: "file" });
    await fails("PERMISSION_NOT_FOUND", "lookup entity", { ...entities, permission: "nothing" });
    await fails("VALIDATION", "lookup entity stream", { ...entities, metadata: null });
    await fails("PERMISSION_NOT_FOUND", "lookup entity stream", {
      ...entities,
      permission: "nothing",
    });
    await fails("VALIDATION", "lookup subject", { ...subjects, subject_reference: null });
    await fails("INVALID_CONTINUOUS_TOKEN", "lookup subject", {
      ...subjects,
      continuous_token,
    });
  },

  "changes are watched from a state on": async (caller) => {
    const { get, stream, fails } = caller;
    await fails("INVALID_SNAP_TOKEN", "watch", { snap_token: "x" });
    await fails("TENANT_NOT_FOUND", "watch", {}, "missing");
    const snap_token = await fill(caller);
    await get("data write", { ...now, tuples: [tuple("doc:1#owner@user:a")] });
    await get("data write", {
      ...now,
      attributes: [attribute("news", "public", "Boolean", false)],
    });
    await get("data write", { ...now, tuples: [tuple("doc:1#owner@user:a")] });
    await get("relationships delete", { filter: { entity: { type: "doc", ids: ["1"] } } });
    const messages = await stream("watch", { snap_token }, 3);
    const resumed = await stream(
      "watch",
      { snap_token: objectOf(messages[0])["snap_token"] ?? "" },
      2,
    );
    // A token also says how its state became known, which differs after a resume.
    const changesOf = (all: readonly JsonValue[]): readonly JsonValue[] =>
      all.map((message) => objectOf(message)["data_changes"] ?? null);
    assert.deepEqual(changesOf(resumed), changesOf(messages.slice(1)));
  },
};

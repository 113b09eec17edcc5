import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Admission, createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { Bundle } from "../../src/gen/base/v1/bundle_pb.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { admitAll } from "../support/admit-all.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { connectPublicClient, type PublicClient, type PublicMethod } from "./public-library.ts";

/*
 * The client library that applications of this API already use, with message types of its own: what
 * it understands was not generated here.
 */

const schema = `
  entity user {}
  entity team { relation member @user }
  entity document {
    relation parent @team
    relation viewer @user @team#member
    attribute public boolean
    attribute level integer
    permission view = (viewer or parent.member) not blocked(level)
    permission open = public
  }
  rule blocked(level integer) { level > 3 }
`;

/** The library leaves the packing to its user: `IntegerValue {data: 3}`. */
const integerValueOf3 = {
  typeUrl: "type.googleapis.com/base.v1.IntegerValue",
  value: Uint8Array.of(0x08, 0x03),
};

const key = "public-client-key";

const admitHolders: Admission = createAdmission({
  rateLimit: createRateLimit(1_000_000),
  intake: usualIntake(),
  authenticator: presharedKeys([key]),
});

/** With a token, the server asks for one. */
const settings = engines.flatMap((engine) => [
  { engine, name: engine.name, token: undefined },
  { engine, name: `${engine.name} with a token`, token: key },
]);

for (const { engine, name, token } of settings) {
  describe(`the public Node client on ${name}`, () => {
    let app: TestApp;
    let server: GrpcApp;
    let client: PublicClient;
    const called = new Set<string>();
    before(async () => {
      app = await engine.start();
      server = await serveGrpc(app.service, token === undefined ? admitAll : admitHolders);
      client = connectPublicClient(`127.0.0.1:${server.port}`, { token });
    });
    after(async () => {
      await server.close();
      await app.close();
    });

    /** The answer of a method as plain data. */
    async function call(
      service: keyof PublicClient,
      method: string,
      request: object,
    ): Promise<Plain> {
      return plain(await methodOf(service, method)(request));
    }

    /** The answers of a stream as plain data, to its end or so many. */
    async function stream(
      service: keyof PublicClient,
      method: string,
      request: object,
      count = Number.POSITIVE_INFINITY,
    ): Promise<readonly Plain[]> {
      const messages = methodOf(service, method)(request);
      assert.ok(Symbol.asyncIterator in messages);
      const found: Plain[] = [];
      for await (const message of messages) {
        found.push(plain(message));
        if (found.length === count) break;
      }
      return found;
    }

    function methodOf(service: keyof PublicClient, method: string): PublicMethod {
      called.add(`${service}.${method}`);
      return client[service][method] ?? assert.fail(`no method ${method}`);
    }

    test("lookups find by pages and as a stream what checks allow", async () => {
      const tenantId = "lookups";
      await call("tenancy", "create", { id: tenantId, name: "" });
      await call("schema", "write", { tenantId, schema });
      const user = (id: string): object => ({ type: "user", id, relation: "" });
      const document = (id: string): object => ({ type: "document", id });
      const tuple = (entity: object, relation: string, subject: object): object => ({
        entity,
        relation,
        subject,
      });
      const { snapToken } = await call("data", "write", {
        tenantId,
        metadata: { schemaVersion: "" },
        tuples: [
          tuple({ type: "team", id: "crew" }, "member", user("ada")),
          tuple(document("memo"), "parent", { type: "team", id: "crew", relation: "" }),
          tuple(document("note"), "viewer", { type: "team", id: "crew", relation: "member" }),
          tuple(document("plan"), "viewer", user("ada")),
          tuple(document("plan"), "viewer", user("bob")),
        ],
        attributes: [],
      });
      const shared = {
        tenantId,
        metadata: { schemaVersion: "", snapToken, depth: 20 },
        permission: "view",
        context: { tuples: [], attributes: [], data: {} },
        continuousToken: "",
        pageSize: 0,
      };

      const lookup = { ...shared, entityType: "document", subject: user("ada"), scope: {} };
      const whole = await call("permission", "lookupEntity", lookup);
      assert.deepEqual(whole, { entityIds: ["memo", "note", "plan"], continuousToken: "" });
      const first = await call("permission", "lookupEntity", { ...lookup, pageSize: 2 });
      assert.deepEqual(first["entityIds"], ["memo", "note"]);
      const { continuousToken } = first;
      const second = await call("permission", "lookupEntity", { ...lookup, continuousToken });
      assert.deepEqual(second, { entityIds: ["plan"], continuousToken: "" });
      const scope = { document: { data: ["memo"] } };
      const scoped = await call("permission", "lookupEntity", { ...lookup, scope });
      assert.deepEqual(scoped["entityIds"], ["memo"]);

      const messages = await stream("permission", "lookupEntityStream", lookup);
      assert.deepEqual(
        messages.map((message) => message["entityId"]),
        ["memo", "note", "plan"],
      );
      const behind = await stream("permission", "lookupEntityStream", {
        ...lookup,
        continuousToken: messages[0]?.["continuousToken"],
      });
      assert.deepEqual(behind, messages.slice(1));

      const subjects = (id: string, subjectReference: object): Promise<Plain> =>
        call("permission", "lookupSubject", {
          ...shared,
          entity: document(id),
          subjectReference,
          arguments: [],
        });
      assert.deepEqual(await subjects("plan", { type: "user", relation: "" }), {
        subjectIds: ["ada", "bob"],
        continuousToken: "",
      });
      const usersets = await subjects("note", { type: "team", relation: "member" });
      assert.deepEqual(usersets["subjectIds"], ["crew"]);
    });

    test("a tenant lives from its creation to its end", async () => {
      const tenantId = "client";
      const created = await call("tenancy", "create", { id: tenantId, name: "Client" });
      assert.match(
        JSON.stringify(created),
        /^{"tenant":{"id":"client","name":"Client","createdAt":"\d{4}-\d\d-\d\dT[\d:.]+Z"}}$/,
      );
      const metadata = { schemaVersion: "" };
      const written = await call("schema", "write", { tenantId, schema });
      const changed = await call("schema", "partialWrite", {
        tenantId,
        metadata,
        partials: { document: { write: ["permission edit = viewer"], update: [], delete: [] } },
      });
      const page = { pageSize: 0, continuousToken: "" };
      const listed = await call("schema", "list", { tenantId, ...page });
      assert.equal(listed["head"], changed["schemaVersion"]);
      assert.match(
        JSON.stringify(listed["schemas"]),
        new RegExp(`"${String(changed["schemaVersion"])}".*"${String(written["schemaVersion"])}"`),
      );

      const entity = { type: "document", id: "plan" };
      await call("data", "writeRelationships", {
        tenantId,
        metadata,
        tuples: [
          {
            entity: { type: "team", id: "crew" },
            relation: "member",
            subject: { type: "user", id: "ada", relation: "" },
          },
        ],
      });
      const { snapToken } = await call("data", "write", {
        tenantId,
        metadata,
        tuples: [
          { entity, relation: "parent", subject: { type: "team", id: "crew", relation: "" } },
        ],
        attributes: [{ entity, attribute: "level", value: integerValueOf3 }],
      });

      const question = (user: string, permission: string): object => ({
        entity,
        permission,
        subject: { type: "user", id: user, relation: "" },
      });
      const shared = {
        tenantId,
        metadata: { schemaVersion: "", snapToken, depth: 20 },
        context: { tuples: [], attributes: [], data: { hour: 9 } },
        arguments: [],
      };
      const check = { ...shared, ...question("ada", "view") };
      assert.equal((await call("permission", "check", check))["can"], 1);
      const bulk = await call("permission", "bulkCheck", {
        ...shared,
        items: [question("bob", "view"), question("ada", "view"), question("ada", "open")],
      });
      assert.deepEqual(String(JSON.stringify(bulk["results"])).match(/"can":\d/g), [
        '"can":2',
        '"can":1',
        '"can":2',
      ]);

      const { results } = await call("permission", "subjectPermission", {
        tenantId,
        metadata: { schemaVersion: "", snapToken: "", onlyPermission: true, depth: 0 },
        entity,
        subject: { type: "user", id: "ada", relation: "" },
        context: { tuples: [], attributes: [], data: undefined },
      });
      assert.deepEqual(results, { view: 1, open: 2, edit: 2 });

      const first = { tenantId, metadata: { snapToken: "" }, ...page };
      const everything = {
        entity: { type: "document", ids: [] },
        relation: "",
        subject: { type: "", ids: [], relation: "" },
      };
      const tuples = await call("data", "readRelationships", { ...first, filter: everything });
      assert.deepEqual(tuples, {
        tuples: [
          { entity, relation: "parent", subject: { type: "team", id: "crew", relation: "" } },
        ],
        continuousToken: "",
      });
      const attributes = await call("data", "readAttributes", {
        ...first,
        filter: { entity: { type: "document", ids: ["plan"] }, attributes: ["level"] },
      });
      assert.deepEqual(
        at(attributes, "attributes", "0", "value", "typeUrl"),
        integerValueOf3.typeUrl,
      );
      await call("data", "delete", {
        tenantId,
        tupleFilter: everything,
        attributeFilter: { entity: { type: "", ids: [] }, attributes: ["level"] },
      });
      await call("data", "deleteRelationships", {
        tenantId,
        filter: { ...everything, entity: { type: "team", ids: [] } },
      });
      const left = await call("data", "readRelationships", { ...first, filter: everything });
      assert.deepEqual(left["tuples"], []);

      const bundle = {
        name: "hire",
        arguments: ["who"],
        operations: [
          {
            relationshipsWrite: ["team:crew#member@user:{{.who}}"],
            relationshipsDelete: [],
            attributesWrite: ["document:plan$public|boolean:true"],
            attributesDelete: [],
          },
        ],
      };
      assert.deepEqual(await call("bundle", "write", { tenantId, bundles: [bundle] }), {
        names: ["hire"],
      });
      assert.deepEqual(await call("bundle", "read", { tenantId, name: "hire" }), { bundle });
      const ran = await call("data", "runBundle", {
        tenantId,
        name: "hire",
        arguments: { who: "eve" },
      });
      assert.notEqual(ran["snapToken"], "");
      const hired = await call("data", "readRelationships", {
        ...first,
        filter: { ...everything, entity: { type: "team", ids: [] } },
      });
      assert.match(JSON.stringify(hired["tuples"]), /"id":"eve"/);
      assert.deepEqual(await call("bundle", "delete", { tenantId, name: "hire" }), {
        name: "hire",
      });

      assert.deepEqual(await call("tenancy", "delete", { id: tenantId }), { tenantId });
      await assert.rejects(call("permission", "check", check), {
        code: 5,
        details: /^ERROR_CODE_TENANT_NOT_FOUND: /,
      });
    });

    test("a schema is read in its compiled form", async () => {
      await call("schema", "write", { tenantId: "t1", schema });
      const metadata = { schemaVersion: "" };
      const answer = await call("schema", "read", { tenantId: "t1", metadata });
      const definitions = answer["schema"];
      assert.deepEqual(at(definitions, "entityDefinitions", "document"), {
        name: "document",
        relations: {
          parent: { name: "parent", relationReferences: [{ type: "team", relation: "" }] },
          viewer: {
            name: "viewer",
            relationReferences: [
              { type: "user", relation: "" },
              { type: "team", relation: "member" },
            ],
          },
        },
        attributes: {
          public: { name: "public", type: 1 },
          level: { name: "level", type: 5 },
        },
        permissions: {
          view: {
            name: "view",
            child: rewrite(3, [
              rewrite(1, [
                leaf("computedUserSet", { relation: "viewer" }),
                leaf("tupleToUserSet", {
                  tupleSet: { relation: "parent" },
                  computed: { relation: "member" },
                }),
              ]),
              leaf("call", {
                ruleName: "blocked",
                arguments: [{ type: one("computedAttribute", { name: "level" }) }],
              }),
            ]),
          },
          open: { name: "open", child: leaf("computedAttribute", { name: "public" }) },
        },
        references: { parent: 1, viewer: 1, public: 3, level: 3, view: 2, open: 2 },
      });
      const names = { user: 1, team: 1, document: 1, blocked: 2 };
      assert.deepEqual(at(definitions, "references"), names);
      assert.deepEqual(at(definitions, "ruleDefinitions", "blocked", "arguments"), { level: 5 });
    });

    test("a tree, the list of tenants and the stream of changes come through", async () => {
      const tenantId = "streams";
      await call("tenancy", "create", { id: tenantId, name: "" });
      const page = { pageSize: 0, continuousToken: "" };
      const { tenants } = await call("tenancy", "list", page);
      assert.match(JSON.stringify(tenants), /"id":"streams"/);
      await call("schema", "write", { tenantId, schema });
      const metadata = { schemaVersion: "" };
      const { snapToken } = await call("data", "write", { tenantId, metadata });
      const entity = { type: "document", id: "plan" };
      const subject = { type: "user", id: "ada", relation: "" };
      const tuples = [{ entity, relation: "viewer", subject }];
      const attributes = [{ entity, attribute: "level", value: integerValueOf3 }];
      await call("data", "write", { tenantId, metadata, tuples });
      await call("data", "write", { tenantId, metadata, attributes });
      const messages = await stream("watch", "watch", { tenantId, snapToken }, 2);
      assert.deepEqual(at(messages[0], "changes", "dataChanges"), [
        { operation: 1, type: one("tuple", { entity, relation: "viewer", subject }) },
      ]);
      const second = at(messages[1], "changes", "dataChanges", "0", "type", "attribute");
      assert.deepEqual(at(second, "value", "typeUrl"), integerValueOf3.typeUrl);
      const { tree } = await call("permission", "expand", {
        tenantId,
        metadata: { schemaVersion: "", snapToken: "" },
        entity,
        permission: "viewer",
        context: { tuples: [], attributes: [], data: undefined },
        arguments: [],
      });
      assert.deepEqual(tree, {
        entity,
        permission: "viewer",
        arguments: [],
        node: one("leaf", { type: one("subjects", { subjects: [subject] }) }),
      });
    });

    if (token !== undefined) {
      test("another token, or none, is refused for every method", async () => {
        for (const other of [undefined, "another-key"]) {
          const stranger = connectPublicClient(`127.0.0.1:${server.port}`, { token: other });
          const list = stranger.tenancy["list"] ?? assert.fail("no method list");
          await assert.rejects(async () => await list({ pageSize: 0, continuousToken: "" }), {
            code: 16,
            details: /^ERROR_CODE_(MISSING_BEARER_TOKEN|INVALID_KEY): /,
          });
          const watch = stranger.watch["watch"] ?? assert.fail("no method watch");
          const changes = watch({ tenantId: "t1", snapToken: "" });
          assert.ok(Symbol.asyncIterator in changes);
          await assert.rejects(changes[Symbol.asyncIterator]().next(), { code: 16 });
        }
      });
    }

    test("no method of the API is left out", () => {
      const services = { permission: Permission, schema: Schema, data: Data, bundle: Bundle };
      const all = Object.entries({ ...services, tenancy: Tenancy, watch: Watch });
      const missing = all.flatMap(([name, { methods }]) =>
        methods.map(({ localName }) => `${name}.${localName}`),
      );
      assert.deepEqual(
        missing.filter((name) => !called.has(name)),
        [],
      );
    });
  });
}

type Plain = Readonly<Record<string, unknown>>;

function leaf(name: string, value: object): object {
  return { type: one("leaf", { type: one(name, value) }) };
}

function rewrite(rewriteOperation: number, children: readonly object[]): object {
  return { type: one("rewrite", { rewriteOperation, children }) };
}

/** How the library holds the member of a oneof. */
function one(name: string, value: object): object {
  return { $case: name, [name]: value };
}

/** Without what is undefined and without prototypes, in which generated messages differ. */
function plain(value: unknown): Plain {
  const copy: Plain = JSON.parse(JSON.stringify(value));
  return copy;
}

function at(value: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce(
    (part, step) => (typeof part === "object" && part !== null ? Reflect.get(part, step) : part),
    value,
  );
}

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { type Any, anyPack, anyUnpack, timestampDate } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { ExpandTreeNode_Operation } from "../../src/gen/base/v1/expand_pb.ts";
import {
  CheckResult,
  Permission,
  type PermissionCheckRequestSchema,
} from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import {
  BooleanArrayValueSchema,
  BooleanValueSchema,
  DoubleArrayValueSchema,
  DoubleValueSchema,
  IntegerArrayValueSchema,
  IntegerValueSchema,
  StringArrayValueSchema,
  StringValueSchema,
} from "../../src/gen/base/v1/value_pb.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

const schema = `
  entity user {}
  entity group { relation member @user @group#member }
  entity document {
    relation viewer @user @group#member
    attribute public boolean
    attribute level integer
    permission view = viewer or public
    permission enter = viewer and high(level)
  }
  rule high(level integer) { level > context.data.least }
`;

for (const engine of engines) {
  describe(`gRPC on ${engine.name}`, () => {
    let app: TestApp;
    let grpc: GrpcApp;
    before(async () => {
      app = await engine.start();
      grpc = await serveGrpc(app.service);
    });
    after(async () => {
      await grpc.close();
      await app.close();
    });

    /** A new tenant with the schema. */
    async function tenant(): Promise<string> {
      const tenantId = `t-${randomUUID()}`;
      await grpc.client.call(Tenancy.method.create, { id: tenantId });
      await grpc.client.call(Schema.method.write, { tenantId, schema });
      return tenantId;
    }

    async function can(
      request: MessageInitShape<typeof PermissionCheckRequestSchema>,
    ): Promise<CheckResult> {
      const answer = await grpc.client.call(Permission.method.check, request);
      assert.ok((answer.metadata?.checkCount ?? 0) >= 1);
      return answer.can;
    }

    const view = (tenantId: string, user: string) => ({
      tenantId,
      metadata: {},
      entity: { type: "document", id: "plan" },
      permission: "view",
      subject: { type: "user", id: user },
    });

    test("a tenant is created with an empty name, listed with its time, and deleted", async () => {
      const id = `t-${randomUUID()}`;
      const { tenant: made } = await grpc.client.call(Tenancy.method.create, { id });
      assert.deepEqual([made?.id, made?.name], [id, ""]);
      const age = Date.now() - timestampDate(made?.createdAt ?? assert.fail("no time")).getTime();
      assert.ok(Math.abs(age) < 60_000, `${age} ms`);
      const { tenants, continuousToken } = await grpc.client.call(Tenancy.method.list, {});
      assert.equal(continuousToken, "");
      assert.deepEqual(
        tenants.find((one) => one.id === id),
        made,
      );
      const gone = await grpc.client.call(Tenancy.method.delete, { id });
      assert.equal(gone.tenantId, id);
      const again = await failure(grpc.client.call(Tenancy.method.delete, { id }));
      assert.equal(again.code, status.NOT_FOUND);
    });

    test("checks are allowed as 1 and denied as 2", async () => {
      const tenantId = await tenant();
      const { snapToken } = await grpc.client.call(Data.method.write, {
        tenantId,
        metadata: {},
        tuples: [
          {
            entity: { type: "document", id: "plan" },
            relation: "viewer",
            subject: { type: "group", id: "crew", relation: "member" },
          },
        ],
      });
      assert.notEqual(snapToken, "");
      const later = await grpc.client.call(Data.method.writeRelationships, {
        tenantId,
        metadata: {},
        tuples: [
          {
            entity: { type: "group", id: "crew" },
            relation: "member",
            subject: { type: "user", id: "ada" },
          },
        ],
      });
      assert.equal(await can(view(tenantId, "ada")), 1);
      assert.equal(await can(view(tenantId, "bob")), 2);
      assert.equal(await can({ ...view(tenantId, "ada"), metadata: { snapToken } }), 2);
      const pinned = { snapToken: later.snapToken };
      assert.equal(await can({ ...view(tenantId, "ada"), metadata: pinned }), 1);
      const { results } = await grpc.client.call(Permission.method.bulkCheck, {
        tenantId,
        metadata: {},
        items: ["bob", "ada"].map((user) => view(tenantId, user)),
      });
      assert.deepEqual(
        results.map((result) => result.can),
        [CheckResult.DENIED, CheckResult.ALLOWED],
      );
    });

    test("context brings tuples, attributes and data of its own", async () => {
      const tenantId = await tenant();
      const enter = { ...view(tenantId, "ada"), permission: "enter" };
      const entity = { type: "document", id: "plan" };
      const context = (
        least: number,
      ): MessageInitShape<typeof PermissionCheckRequestSchema>["context"] => ({
        tuples: [{ entity, relation: "viewer", subject: { type: "user", id: "ada" } }],
        attributes: [{ entity, attribute: "level", value: any(IntegerValueSchema, { data: 5 }) }],
        data: { least, nested: { list: [null, true, "x"] } },
      });
      assert.equal(await can({ ...enter, context: context(4) }), 1);
      assert.equal(await can({ ...enter, context: context(5) }), 2);
      const direct = {
        ...enter,
        permission: "high",
        arguments: [{ type: { case: "computedAttribute" as const, value: { name: "level" } } }],
      };
      assert.equal(await can({ ...direct, context: context(4) }), 1);
    });

    test("attributes of all eight types go in and out as their messages", async () => {
      const tenantId = `t-${randomUUID()}`;
      await grpc.client.call(Tenancy.method.create, { id: tenantId });
      const cases = [
        ["boolean", any(BooleanValueSchema, { data: true }), "v"],
        ["boolean[]", any(BooleanArrayValueSchema, { data: [false, true] }), "v == [false, true]"],
        ["string", any(StringValueSchema, { data: "é" }), 'v == "é"'],
        ["string[]", any(StringArrayValueSchema, { data: ["a", ""] }), 'v == ["a", ""]'],
        ["integer", any(IntegerValueSchema, { data: -(2 ** 31) }), "v == -2147483648"],
        ["integer[]", any(IntegerArrayValueSchema, { data: [1, -1] }), "v == [1, -1]"],
        ["double", any(DoubleValueSchema, { data: 0.5 }), "v == 0.5"],
        ["double[]", any(DoubleArrayValueSchema, { data: [1e300, -0.25] }), "v == [1e300, -0.25]"],
      ] as const;
      const letters = cases.map((_case, index) => String.fromCharCode(97 + index));
      const text = cases.map(([type, , rule], index) => {
        const name = letters[index];
        return `entity e${name} { attribute v ${type} permission p = is_${name}(v) }
          rule is_${name}(v ${type}) { ${rule} }`;
      });
      await grpc.client.call(Schema.method.write, {
        tenantId,
        schema: ["entity user {}", ...text].join("\n"),
      });
      await grpc.client.call(Data.method.write, {
        tenantId,
        metadata: {},
        attributes: cases.map(([, value], index) => ({
          entity: { type: `e${letters[index]}`, id: "x" },
          attribute: "v",
          value,
        })),
      });
      const all: Any[] = [];
      for (const [index] of cases.entries()) {
        const { attributes } = await grpc.client.call(Data.method.readAttributes, {
          tenantId,
          metadata: {},
          filter: { entity: { type: `e${letters[index]}`, ids: ["x"] } },
        });
        all.push(...attributes.flatMap(({ value }) => value ?? []));
      }
      assert.deepEqual(
        all.map(textOf),
        cases.map(([, value]) => textOf(value)),
      );
      for (const [index, [type]] of cases.entries()) {
        const result = await can({
          tenantId,
          metadata: {},
          entity: { type: `e${letters[index]}`, id: "x" },
          permission: "p",
          subject: { type: "user", id: "ada" },
        });
        assert.equal(result, CheckResult.ALLOWED, type);
      }
    });

    test("tuples are read by pages and deleted by filters", async () => {
      const tenantId = await tenant();
      const tuple = (id: string) => ({
        entity: { type: "document", id },
        relation: "viewer",
        subject: { type: "user", id: "ada" },
      });
      const written = ["a", "b", "c"].map(tuple);
      await grpc.client.call(Data.method.write, { tenantId, metadata: {}, tuples: written });
      const read = async (continuousToken: string) =>
        await grpc.client.call(Data.method.readRelationships, {
          tenantId,
          metadata: {},
          filter: { subject: { type: "user" } },
          pageSize: 2,
          continuousToken,
        });
      const idsOf = (page: Awaited<ReturnType<typeof read>>) =>
        page.tuples.map(({ entity }) => entity?.id);
      const first = await read("");
      const second = await read(first.continuousToken);
      assert.deepEqual([...idsOf(first), ...idsOf(second)], ["a", "b", "c"]);
      assert.equal(second.continuousToken, "");
      const deleted = await grpc.client.call(Data.method.delete, {
        tenantId,
        tupleFilter: { entity: { type: "document", ids: ["a"] } },
        attributeFilter: {},
      });
      assert.notEqual(deleted.snapToken, "");
      assert.deepEqual(idsOf(await read("")), ["b", "c"]);
      await grpc.client.call(Data.method.deleteRelationships, {
        tenantId,
        filter: { relation: "viewer" },
      });
      assert.deepEqual(idsOf(await read("")), []);
    });

    test("everything that a subject may do is answered name by name", async () => {
      const tenantId = await tenant();
      const { entity, subject } = view(tenantId, "ada");
      const tuples = [{ entity, relation: "viewer", subject }];
      await grpc.client.call(Data.method.write, { tenantId, metadata: {}, tuples });
      const ask = async (onlyPermission: boolean) => {
        const request = { tenantId, metadata: { onlyPermission }, entity, subject };
        const context = { data: { least: 5 } };
        const method = Permission.method.subjectPermission;
        return (await grpc.client.call(method, { ...request, context })).results;
      };
      assert.deepEqual(await ask(true), { view: 1, enter: 2 });
      assert.deepEqual((await ask(false))["viewer"], 1);
    });

    test("a permission is expanded into the tree of the public API", async () => {
      const tenantId = await tenant();
      const { entity, subject } = view(tenantId, "ada");
      const tuples = [{ entity, relation: "viewer", subject }];
      await grpc.client.call(Data.method.write, { tenantId, metadata: {}, tuples });
      const { tree } = await grpc.client.call(Permission.method.expand, {
        tenantId,
        metadata: {},
        entity,
        permission: "enter",
      });
      assert.equal(tree?.node.case, "expand");
      assert.equal(tree.node.value.operation, ExpandTreeNode_Operation.INTERSECTION);
      const [members, rule] = tree.node.value.children;
      assert.equal(members?.permission, "viewer");
      const found = members.node.case === "leaf" ? members.node.value.type : undefined;
      assert.ok(found?.case === "subjects");
      assert.deepEqual(
        found.value.subjects.map(({ id }) => id),
        ["ada"],
      );
      assert.equal(rule?.permission, "high");
      assert.deepEqual(
        rule.arguments.map(({ type }) => type.value?.name),
        ["level"],
      );
      const values = rule.node.case === "leaf" ? rule.node.value.type : undefined;
      assert.ok(values?.case === "values");
      const level = values.value.values["level"];
      assert.equal(level && anyUnpack(level, IntegerValueSchema)?.data, 0);
    });

    test("versions of a schema are listed newest first and changed in part", async () => {
      const tenantId = await tenant();
      const first = await grpc.client.call(Schema.method.list, { tenantId });
      const changed = await grpc.client.call(Schema.method.partialWrite, {
        tenantId,
        metadata: {},
        partials: { document: { write: ["permission edit = viewer"], delete: ["enter"] } },
      });
      const { head, schemas, continuousToken } = await grpc.client.call(Schema.method.list, {
        tenantId,
        pageSize: 1,
      });
      assert.equal(head, changed.schemaVersion);
      assert.deepEqual(
        schemas.map(({ version }) => version),
        [head],
      );
      assert.match(schemas[0]?.createdAt ?? "", /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const second = await grpc.client.call(Schema.method.list, { tenantId, continuousToken });
      assert.deepEqual(
        second.schemas.map(({ version }) => version),
        [first.head],
      );
      const read = await grpc.client.call(Schema.method.read, { tenantId, metadata: {} });
      const document = read.schema?.entityDefinitions["document"];
      assert.deepEqual(Object.keys(document?.permissions ?? {}).toSorted(), ["edit", "view"]);
      const old = await grpc.client.call(Schema.method.read, {
        tenantId,
        metadata: { schemaVersion: first.head },
      });
      assert.ok(old.schema?.entityDefinitions["document"]?.permissions["enter"]);
    });

    test("the same mistake ends with the same message as over REST", async () => {
      const tenantId = await tenant();
      const path = `/v1/tenants/${tenantId}`;
      const checkBody = {
        metadata: {},
        entity: { type: "document", id: "plan" },
        permission: "view",
        subject: { type: "user", id: "ada" },
      };
      const pairs = [
        ["permissions/check", Permission.method.check, { ...checkBody, metadata: undefined }],
        ["permissions/check", Permission.method.check, { ...checkBody, permission: "no such" }],
        ["permissions/check", Permission.method.check, { ...checkBody, permission: "missing" }],
        ["permissions/check", Permission.method.check, { ...checkBody, metadata: { depth: -1 } }],
        ["permissions/bulk-check", Permission.method.bulkCheck, { metadata: {}, items: [] }],
        ["data/write", Data.method.write, {}],
        [
          "data/write",
          Data.method.write,
          { metadata: {}, tuples: [{ ...checkBody, relation: "owner" }] },
        ],
        ["relationships/write", Data.method.writeRelationships, { metadata: {} }],
        ["schemas/write", Schema.method.write, { schema: "entity {" }],
        ["schemas/list", Schema.method.list, { continuousToken: "x" }],
        ["data/delete", Data.method.delete, { tupleFilter: {} }],
        ["relationships/delete", Data.method.deleteRelationships, { filter: {} }],
        ["data/relationships/read", Data.method.readRelationships, { metadata: {} }],
        ["permissions/subject-permission", Permission.method.subjectPermission, { metadata: {} }],
      ] as const;
      for (const [route, method, request] of pairs) {
        const body = snakeCase(request);
        const rest = await app.post(`${path}/${route}`, body);
        const call = async (): Promise<unknown> =>
          await grpc.client.call<DescMessage, DescMessage>(method, { ...request, tenantId });
        const { code, details } = await failure(call());
        assert.ok(rest.status >= 400 && rest.message !== "", route);
        assert.deepEqual({ code, details }, { code: restCode(rest.body), details: rest.message });
      }
    });

    test("kinds of errors have the codes that clients know", async () => {
      const tenantId = await tenant();
      const codeOf = async (call: Promise<unknown>): Promise<number> => (await failure(call)).code;
      const { client } = grpc;
      assert.equal(
        await codeOf(client.call(Tenancy.method.create, { id: tenantId })),
        status.ALREADY_EXISTS,
      );
      assert.equal(
        await codeOf(client.call(Permission.method.check, view("outsider", "ada"))),
        status.NOT_FOUND,
      );
      const unknown = { ...view(tenantId, "ada"), metadata: { schemaVersion: "x" } };
      assert.equal(await codeOf(client.call(Permission.method.check, unknown)), status.NOT_FOUND);
      assert.equal(
        await codeOf(client.call(Schema.method.write, { tenantId: "not a tenant", schema })),
        status.INVALID_ARGUMENT,
      );
    });

    test("what is not a value of its type is refused by its place", async () => {
      const tenantId = await tenant();
      const write = async (value: Any) =>
        await failure(
          grpc.client.call(Data.method.write, {
            tenantId,
            metadata: {},
            attributes: [{ entity: { type: "document", id: "x" }, attribute: "public", value }],
          }),
        );
      const broken = any(BooleanValueSchema, { data: true });
      const cases = [
        [
          { ...broken, typeUrl: "type.googleapis.com/base.v1.Tuple" },
          /attributes\[0\]\.value\.@type: /,
        ],
        [{ ...broken, typeUrl: "" }, /attributes\[0\]\.value\.@type: is missing/],
        [
          { ...broken, value: Uint8Array.of(0x08) },
          /attributes\[0\]\.value: is no base\.v1\.BooleanValue/,
        ],
        [
          any(IntegerValueSchema, { data: 1 }),
          /^ERROR_CODE_ATTRIBUTE_TYPE_MISMATCH: attributes\[0\]/,
        ],
      ] as const;
      for (const [value, message] of cases) {
        const { code, details } = await write(value);
        assert.equal(code, status.INVALID_ARGUMENT);
        assert.match(details, message);
      }
    });

    test("a number of the context that is none is refused by its place", async () => {
      const tenantId = await tenant();
      const { code, details } = await failure(
        grpc.client.call(Permission.method.check, {
          ...view(tenantId, "ada"),
          context: { data: { a: { b: [Number.NaN] } } },
        }),
      );
      assert.equal(code, status.INVALID_ARGUMENT);
      assert.match(details, /^ERROR_CODE_VALIDATION: context\.data\.a\.b\[0\]: /);
    });
  });
}

describe("gRPC, on each engine", () => {
  let app: TestApp;
  let grpc: GrpcApp;
  before(async () => {
    app = await (engines[0] ?? assert.fail("no engine")).start();
    grpc = await serveGrpc(app.service);
  });
  after(async () => {
    await grpc.close();
    await app.close();
  });

  const checkPath = "/base.v1.Permission/Check";

  test("a request that is no message is INVALID_ARGUMENT and says so", async () => {
    for (const bytes of [
      [0x0a, 0x05, 0x61],
      [0x0a, 0x02, 0xff, 0xfe],
    ]) {
      const { code, details } = await failure(grpc.client.send(checkPath, Uint8Array.from(bytes)));
      assert.equal(code, status.INVALID_ARGUMENT);
      assert.match(
        details,
        /^ERROR_CODE_VALIDATION: request: is no base\.v1\.PermissionCheckRequest: /,
      );
    }
  });

  test("an unknown field is ignored", async () => {
    const bytes = Uint8Array.from([0x0a, 0x02, 0x74, 0x31, 0xf8, 0x07, 0x01]);
    const answer = await grpc.client.send("/base.v1.Schema/List", bytes);
    assert.equal(answer.length, 0);
  });

  test("a request over 4 MiB is RESOURCE_EXHAUSTED, one just below is read", async () => {
    const limit = 4 * 1024 * 1024;
    const sized = (size: number) =>
      grpc.client.call(Schema.method.write, {
        tenantId: "t1",
        schema: "a".repeat(size),
      });
    assert.equal((await failure(sized(limit))).code, status.RESOURCE_EXHAUSTED);
    assert.equal((await failure(sized(limit - 1_000))).code, status.INVALID_ARGUMENT);
  });

  test("context that is nested too deep is INVALID_ARGUMENT", async () => {
    for (const levels of [65, 80, 5_000]) {
      const call = grpc.client.send(checkPath, deepContext(levels));
      const { code } = await failure(call);
      assert.equal(code, status.INVALID_ARGUMENT, String(levels));
    }
  });

  test("an entity may have the name that objects have for their prototype", async () => {
    await grpc.client.call(Schema.method.write, {
      tenantId: "t1",
      schema: "entity __proto__ { relation constructor @__proto__ }",
    });
    const { schema: read } = await grpc.client.call(Schema.method.read, {
      tenantId: "t1",
      metadata: {},
    });
    const definitions = new Map(Object.entries(read?.entityDefinitions ?? {}));
    assert.deepEqual([...definitions.keys()], ["__proto__"]);
    const relations = Object.keys(definitions.get("__proto__")?.relations ?? {});
    assert.deepEqual(relations, ["constructor"]);
  });

  test("a message that is too long for a header is cut", async () => {
    const { code, details } = await failure(
      grpc.client.call(Schema.method.write, {
        tenantId: "t1",
        schema: `entity user { relation ${"é".repeat(50_000)} @user }`,
      }),
    );
    assert.equal(code, status.INVALID_ARGUMENT);
    assert.ok(encodeURIComponent(details).length < 4_096);
  });

  test("a method that does not exist is UNIMPLEMENTED", async () => {
    const { code } = await failure(grpc.client.send("/base.v1.Permission/Guess", new Uint8Array()));
    assert.equal(code, status.UNIMPLEMENTED);
  });
});

function any<D extends DescMessage>(type: D, value: MessageInitShape<D>): Any {
  return anyPack(type, create(type, value));
}

function textOf({ typeUrl, value }: Any): string {
  return `${typeUrl} ${Buffer.from(value).toString("hex")}`;
}

/** As REST spells the fields of a request. */
function snakeCase(request: object): object {
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

function restCode(body: unknown): unknown {
  return typeof body === "object" && body !== null ? Reflect.get(body, "code") : undefined;
}

/** A check whose `context.data` holds lists in lists. */
function deepContext(levels: number): Uint8Array {
  let value: Buffer = Buffer.from([0x20, 0x01]);
  for (let level = 1; level < levels; level++) value = field(0x32, field(0x0a, value));
  const entry = Buffer.concat([field(0x0a, Buffer.from("a")), field(0x12, value)]);
  return Buffer.concat([
    field(0x0a, Buffer.from("t1")),
    field(0x12, Buffer.alloc(0)),
    field(0x32, field(0x1a, field(0x0a, entry))),
  ]);
}

function field(tag: number, content: Buffer): Buffer {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 127; rest >>= 7) length.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([tag, ...length, rest]), content]);
}

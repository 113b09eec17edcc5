import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { pino } from "pino";

import { createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { admitAll } from "../support/admit-all.ts";
import { engines, type TestApp } from "../support/engines.ts";
import { openStream } from "../support/text-stream.ts";
import { usualIntake } from "../support/usual-intake.ts";

const [memory] = engines;
assert.ok(memory !== undefined);

const schema = `
entity user {}
entity doc {
  relation owner @user
  relation viewer @user
  attribute open boolean
  attribute marks double[]
  permission view = viewer or owner
  permission edit = owner
  permission comment = view and allowed(open)
}
rule allowed(open boolean) { open && context.data.day == "monday" }`;

const doc = { type: "doc", id: "1" };
const ada = { type: "user", id: "ada", relation: "" };
const viewer = { entity: doc, relation: "viewer", subject: ada };
const doubles = "type.googleapis.com/base.v1.DoubleArrayValue";
const marks = {
  entity: doc,
  attribute: "marks",
  value: { "@type": doubles, data: [0.5, "NaN", "-Infinity"] },
};
const question = { metadata: {}, entity: doc, permission: "view", subject: ada };

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

describe("REST in the JSON of protobuf", () => {
  let app: TestApp;
  let path: string;
  before(async () => {
    app = await memory.start();
    path = await app.tenant(schema);
    const data = { metadata: {}, tuples: [viewer], attributes: [marks] };
    assert.equal((await app.post(`${path}/data/write`, data)).status, 200);
  });
  after(async () => await app.close());

  async function send(
    url: string,
    body: object,
    headers: Readonly<Record<string, string>> = { "pemba-json": "protobuf" },
    of: HttpApp = app.app,
  ): Promise<Reply> {
    const reply = await of.inject({ method: "POST", url, headers, payload: JSON.stringify(body) });
    const [type = ""] = String(reply.headers["content-type"]).split(";");
    return { status: reply.statusCode, type, body: JSON.parse(reply.body) };
  }

  test("a request chooses the form by its header, and the setting is for those without", async () => {
    const other = buildHttpServer({
      service: app.service,
      admission: admitAll,
      logger: pino({ level: "silent" }),
      json: "protobuf",
    });
    const canOf = async (headers: Readonly<Record<string, string>>, of: HttpApp) => {
      const { status, body } = await send(`${path}/permissions/check`, question, headers, of);
      assert.ok(status === 200 && typeof body === "object" && body !== null && "can" in body);
      return body.can;
    };
    for (const [headers, byDefault, expected] of [
      [{}, app.app, "RESULT_ALLOWED"],
      [{ "pemba-json": "documented" }, app.app, "RESULT_ALLOWED"],
      [{ "Pemba-Json": "protobuf" }, app.app, "CHECK_RESULT_ALLOWED"],
      [{}, other, "CHECK_RESULT_ALLOWED"],
      [{ "pemba-json": "documented" }, other, "RESULT_ALLOWED"],
    ] as const) {
      assert.equal(await canOf(headers, byDefault), expected);
    }
    await other.close();
  });

  test("a header that names no form is refused by its name, after the token", async () => {
    for (const value of ["proto", "", "protobuf, documented", "Protobuf"]) {
      const headers = { "pemba-json": value };
      const { status, body } = await send(`${path}/permissions/check`, question, headers);
      assert.equal(status, 400);
      assert.deepEqual(body, {
        code: 3,
        message: `ERROR_CODE_VALIDATION: pemba-json: \`${value}\` is not a form of JSON, expected \`documented\` or \`protobuf\``,
        details: [
          {
            field: "pemba-json",
            message: `\`${value}\` is not a form of JSON, expected \`documented\` or \`protobuf\``,
          },
        ],
      });
    }
    const closed = buildHttpServer({
      service: app.service,
      admission: createAdmission({
        rateLimit: createRateLimit(1_000_000),
        intake: usualIntake(),
        authenticator: presharedKeys(["key"]),
      }),
      logger: pino({ level: "silent" }),
    });
    const url = `${path}/permissions/check`;
    for (const value of ["proto", "protobuf"]) {
      assert.equal((await send(url, question, { "pemba-json": value }, closed)).status, 401);
    }
    const headers = { "pemba-json": "protobuf", authorization: "Bearer key" };
    assert.equal((await send(url, question, headers, closed)).status, 200);
    await closed.close();
  });

  test("a schema has the JSON names of its messages, null for what is not set, and texts for long numbers", async () => {
    const { body } = await send(`${path}/schemas/read`, { metadata: {} });
    const text = JSON.stringify(body);
    assert.match(text, /^\{"schema":\{"entityDefinitions":\{/);
    for (const part of [
      '"owner":{"name":"owner","relationReferences":[{"type":"user","relation":""}]}',
      '"view":{"name":"view","child":{"rewrite":{"rewriteOperation":"OPERATION_UNION","children":[{"leaf":{"computedUserSet":{"relation":"viewer"}}},',
      '"ruleDefinitions":{"allowed":{"name":"allowed","arguments":{"open":"ATTRIBUTE_TYPE_BOOLEAN"},"expression":{',
      '"references":{"user":"REFERENCE_ENTITY","doc":"REFERENCE_ENTITY","allowed":"REFERENCE_RULE"}',
      '"callExpr":{"target":null,"function":"_&&_","args":[{"id":"',
    ]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
  });

  test("a value has its type and its data, also if they are not numbers of JSON", async () => {
    const request = { metadata: {}, filter: { entity: { type: "doc" } } };
    assert.deepEqual((await send(`${path}/data/attributes/read`, request)).body, {
      attributes: [marks],
      continuous_token: "",
    });
  });

  test("a page size of 0 means that none is given, and unknown fields are ignored", async () => {
    const request = { metadata: {}, filter: {}, page_size: 0, colour: { is: "blue" } };
    const { status, body } = await send(`${path}/data/relationships/read`, request);
    assert.deepEqual([status, body], [200, { tuples: [viewer], continuous_token: "" }]);
  });

  test("the path says which tenant it is, also when the body names another", async () => {
    const request = { ...question, tenant_id: "another" };
    assert.equal((await send(`${path}/permissions/check`, request)).status, 200);
  });

  test("a list of tenants takes its fields from the query of a GET", async () => {
    const headers = { "pemba-json": "protobuf" };
    const list = async (url: string) => await app.app.inject({ method: "GET", url, headers });
    assert.equal((await list("/v1/tenants/list?page_size=1")).json().tenants.length, 1);
    const refused = await list("/v1/tenants/list?page_size=one");
    assert.match(refused.json().message, /page_size: `one` is not an integer of 32 bits/);
  });

  test("an error is a google.rpc.Status, whose details are messages", async () => {
    const wrong = { ...question, permission: "fly" };
    assert.deepEqual((await send(`${path}/permissions/check`, wrong)).body, {
      code: 3,
      message:
        "ERROR_CODE_PERMISSION_NOT_FOUND: permission: `doc` has no permission, relation or attribute `fly`",
      details: [],
    });
    const change = {
      preconditions: [{ tuple: { ...viewer, relation: "owner" }, exists: true }],
      write: { tuples: [{ ...viewer, relation: "owner" }] },
    };
    const { status, body } = await send(`${path}/data/change`, change);
    assert.equal(status, 412);
    assert.ok(typeof body === "object" && body !== null && "details" in body && "code" in body);
    assert.equal(body.code, 9);
    assert.deepEqual(body.details, [
      {
        "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
        violations: [
          {
            type: "PRECONDITION",
            subject: "preconditions[0].tuple",
            description: "`doc:1#owner@user:ada` does not exist",
          },
        ],
      },
    ]);
  });

  test("a field of the wrong kind is named by its path, in lists, in maps and in typed values", async () => {
    const check = `${path}/permissions/check`;
    const lookup = `${path}/permissions/lookup-entity`;
    const search = { metadata: {}, entity_type: "doc", permission: "view", subject: ada };
    const write = `${path}/data/write`;
    const valued = (value: unknown) => ({ metadata: {}, attributes: [{ ...marks, value }] });
    for (const [url, request, message] of [
      [check, [], "body: an array is not an object"],
      [check, { ...question, entity: { type: 7 } }, "entity.type: `7` is not a text"],
      [
        check,
        { ...question, metadata: { depth: 1.5 } },
        "metadata.depth: `1.5` is not an integer of 32 bits",
      ],
      [
        check,
        { ...question, context: { tuples: {} } },
        "context.tuples: an object is not an array",
      ],
      [check, { ...question, context: { data: 1 } }, "context.data: `1` is not an object"],
      [
        lookup,
        { ...search, scope: { doc: { data: ["1", 2] } } },
        "scope.doc.data[1]: `2` is not a text",
      ],
      [lookup, { ...search, scope: [] }, "scope: an array is not an object"],
      [
        write,
        valued({ "@type": doubles, data: [1, true] }),
        'attributes[0].value.data[1]: `true` is not a number, "NaN", "Infinity" or "-Infinity"',
      ],
      [
        write,
        valued({ data: 1 }),
        "attributes[0].value.@type: is missing, expected a type URL such as `type.googleapis.com/base.v1.BooleanValue`",
      ],
      [
        write,
        valued({ "@type": "x/y.Z" }),
        "attributes[0].value.@type: `x/y.Z` is not a known type, expected",
      ],
    ] as const) {
      const { status, body } = await send(url, request);
      assert.equal(status, 400);
      assert.ok(typeof body === "object" && body !== null && "message" in body);
      const { message: found } = body;
      assert.ok(String(found).startsWith(`ERROR_CODE_VALIDATION: ${message}`), String(found));
    }
  });

  test("a stream has an envelope for each answer, and for an error in its place", async () => {
    const search = { metadata: {}, entity_type: "doc", permission: "view", subject: ada };
    const found = await send(`${path}/permissions/lookup-entity-stream`, search);
    assert.deepEqual(found, {
      status: 200,
      type: "application/json",
      body: { result: { entity_id: "1", continuous_token: "" } },
    });
    const wrong = { ...search, permission: "fly" };
    const refused = await send(`${path}/permissions/lookup-entity-stream`, wrong);
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /^\{"error":\{"code":3,"message":"ERROR_CODE_PERM/);
    const refusedWatch = await send(`${path}/watch`, { snap_token: "no token" });
    assert.equal(refusedWatch.status, 400);
    assert.match(
      JSON.stringify(refusedWatch.body),
      /^\{"error":\{"code":3,"message":"ERROR_CODE_INVALID_SNAP_TOKEN/,
    );
  });

  test("a stream of changes has the message of each transaction, for GET and for POST", async () => {
    const address = await app.app.listen({ host: "127.0.0.1", port: 0 });
    const headers = { "pemba-json": "protobuf" };
    const streams = [
      await openStream(`${address}${path}/watch`, { headers }),
      await openStream(`${address}${path}/watch`, { headers, method: "POST", body: {} }),
    ];
    const tuple = { ...viewer, relation: "owner" };
    const written = await app.post(`${path}/relationships/write`, {
      metadata: {},
      tuples: [tuple],
    });
    for (const stream of streams) {
      assert.match(stream.type, /^application\/json(;|$)/);
      assert.deepEqual(await stream.json(), {
        result: {
          changes: {
            snap_token: written.text("snap_token"),
            data_changes: [{ operation: "OPERATION_CREATE", tuple }],
          },
        },
      });
      stream.leave();
    }
  });
});

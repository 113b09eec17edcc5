import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const ok = {
  entity: { type: "doc", id: "1" },
  permission: "view",
  subject: { type: "user", id: "1" },
};
const tuple = {
  entity: { type: "doc", id: "1" },
  relation: "viewer",
  subject: { type: "user", id: "1" },
};
const attribute = (value: unknown): object => ({
  metadata: {},
  attributes: [{ entity: { type: "doc", id: "1" }, attribute: "level", value }],
});

/** A request that must be refused with 400: its method and path, its body, what the message says. */
type Case = readonly [string, unknown, RegExp];

const anyValue = "type.googleapis.com/base.v1";
const long = "a".repeat(129);

/** Paths without the tenant before them begin with a slash. */
const cases: readonly Case[] = [
  ["POST /v1/tenants/create", {}, /VALIDATION: id: is missing/],
  ["POST /v1/tenants/create", { id: "a b", name: "" }, /id: `a b` is not a tenant id/],
  ["POST /v1/tenants/create", { id: "a_b", name: "" }, /id: `a_b` is not a tenant id/],
  [
    "POST /v1/tenants/create",
    { id: "a".repeat(65), name: "" },
    /id: `a+` is not a tenant id of 1 to 64/,
  ],
  ["POST /v1/tenants/create", { id: "a" }, /name: is missing/],
  ["POST /v1/tenants/create", { id: "a", name: null }, /name: is missing/],
  ["POST /v1/tenants/create", { id: "a", name: "ü".repeat(33) }, /name: .*66 bytes/],
  ["POST /v1/tenants/create", { id: "a", name: "\0" }, /name: has a NUL/],
  ["POST /v1/tenants/create", { id: "a", name: "\ud800" }, /name: .*surrogate/],
  ["POST /v1/tenants/create", { id: 7, name: "" }, /id: `7` is not a text/],
  ["POST /v1/tenants/create", [], /body: an array is not an object/],
  ["POST /v1/tenants/create", "7", /body: `7` is not an object/],
  ["POST /v1/tenants/create", '{"id":', /body: is not JSON/],
  ["POST /v1/tenants/create", Buffer.from([0x22, 0xff, 0x22]), /body: is not UTF-8/],
  ["POST /v1/tenants/list", { page_size: 0 }, /page_size: 0 is too small, expected at least 1/],
  ["POST /v1/tenants/list", { page_size: -1 }, /page_size: -1 is too small/],
  ["POST /v1/tenants/list", { page_size: 1.5 }, /page_size: `1.5` is not an integer/],
  [
    "POST /v1/tenants/list",
    { page_size: 2 ** 32 },
    /page_size: `4294967296` is not an integer of 32 bits/,
  ],
  [
    "POST /v1/tenants/list",
    '{"page_size":1e400}',
    /page_size: a number that is too large to read is not an integer/,
  ],
  ["POST /v1/tenants/list", { page_size: "many" }, /page_size: `many` is not an integer/],
  ["POST /v1/tenants/list", { page_size: "" }, /page_size: `` is not an integer/],
  ["POST /v1/tenants/list", { page_size: true }, /page_size: `true` is not an integer/],
  [
    "POST /v1/tenants/list",
    { continuous_token: "x" },
    /INVALID_CONTINUOUS_TOKEN: continuous_token: /,
  ],
  ["POST /v1/tenants/list", { continuous_token: 5 }, /continuous_token: `5` is not a text/],
  ["GET /v1/tenants/list?page_size=0", undefined, /page_size: 0 is too small/],
  [
    "GET /v1/tenants/list?page_size=1&page_size=2",
    undefined,
    /page_size: an array is not an integer/,
  ],
  ["DELETE /v1/tenants/a%20b", undefined, /id: `a b` is not a tenant id/],
  [`POST /v1/tenants/${long}/schemas/list`, {}, /tenant_id: `a{100}\.\.\.` is not a tenant id/],
  ["POST /v1/tenants/a%2Fb/schemas/list", {}, /tenant_id: `a\/b` is not a tenant id/],
  ["POST /v1/tenants/a%00b/data/write", { metadata: {} }, /tenant_id: /],
  ["POST /v1/tenants/%zz/schemas/list", {}, /VALIDATION: path: `\/v1\/tenants\/%zz\/.*` has a `%`/],
  [
    `POST /v1/tenants/${"a".repeat(12_000)}/schemas/list`,
    {},
    /^.{1,40}tenant_id: `a{100}\.\.\.` is not a tenant id of 1 to 128 characters/,
  ],
  [
    "POST /v1/tenants/list",
    { page_size: "9".repeat(9_000) },
    /page_size: `9{100}\.\.\.` is not an integer of 32 bits/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { 1: { write: [2] } } },
    /partials\.1\.write\[0\]: `2` is not a text/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { 1: 2 } },
    /partials\.1: `2` is not an object/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { ["a".repeat(9_000)]: {} } },
    /partials: `a{100}\.\.\.` is not a name/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { ["a".repeat(9_000)]: 2 } },
    /partials\.a{100}\.\.\.: `2` is not an object/,
  ],
  [
    "POST data/run-bundle",
    { name: "b", arguments: { ["a".repeat(9_000)]: "\0" } },
    /arguments\.a{100}\.\.\.: has a NUL/,
  ],
  [
    "POST permissions/check",
    { ...ok, context: { data: { ["a".repeat(9_000)]: "\0" } }, metadata: {} },
    /context\.data\.a{100}\.\.\.: has a NUL/,
  ],
  ["POST schemas/write", {}, /schema: is missing/],
  ["POST schemas/write", { schema: 7 }, /schema: `7` is not a text/],
  ["POST schemas/write", { schema: "entity a\0 {}" }, /schema: has a NUL/],
  ["POST schemas/read", {}, /metadata: is missing, expected an object/],
  ["POST schemas/read", { metadata: null }, /metadata: is missing/],
  ["POST schemas/read", { metadata: [] }, /metadata: an array is not an object/],
  [
    "POST schemas/read",
    { metadata: { schema_version: "\0" } },
    /metadata\.schema_version: has a NUL/,
  ],
  ["POST schemas/list", { page_size: 0 }, /page_size: 0/],
  ["POST schemas/list", { continuous_token: "abc" }, /continuous_token: /],
  ["PATCH schemas/partial-write", {}, /metadata: is missing/],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: [] },
    /partials: an array is not an object/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { doc: "x" } },
    /partials\.doc: `x` is not an object/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { doc: { write: "x" } } },
    /partials\.doc\.write: `x` is not an array/,
  ],
  [
    "PATCH schemas/partial-write",
    { metadata: {}, partials: { doc: { write: [7] } } },
    /partials\.doc\.write\[0\]: `7` is not a text/,
  ],
  ["POST data/write", {}, /metadata: is missing/],
  ["POST data/write", { metadata: {}, tuples: {} }, /tuples: an object is not an array/],
  ["POST data/write", { metadata: {}, tuples: [null] }, /tuples\[0\]: null is not an object/],
  ["POST data/write", { metadata: {}, tuples: [{}] }, /tuples\[0\]\.entity: is missing/],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, entity: "doc:1" }] },
    /tuples\[0\]\.entity: `doc:1` is not an object/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [tuple, { ...tuple, entity: { type: "doc" } }] },
    /tuples\[1\]\.entity\.id: is missing, expected an id [^,]*$/,
  ],
  // Text notation in the place of an object, where the object has such fields.
  [
    "POST permissions/check",
    { ...ok, metadata: {}, entity: "doc:1" },
    /entity: `doc:1` is not an object, expected \{"type":"doc","id":"1"\}$/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, subject: "group:1#member" },
    /subject: .* expected \{"type":"group","id":"1","relation":"member"\}$/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: ["doc:1#viewer@user:1"] },
    /tuples\[0\]: .* expected \{"entity":\{"type":"doc","id":"1"\},"relation":"viewer","subject":\{.*\}\}$/,
  ],
  [
    "POST data/relationships/read",
    { metadata: {}, filter: { entity: "doc:1" } },
    /filter\.entity: `doc:1` is not an object$/,
  ],
  ["POST permissions/check", { ...ok, metadata: "doc:1" }, /metadata: `doc:1` is not an object$/],
  // An unknown field in the place of one that is missing.
  [
    "POST permissions/check",
    { metadata: {}, entity: ok.entity, action: "view", subject: ok.subject },
    /permission: is missing, .*, and `action` is not a field of this request$/,
  ],
  [
    "POST permissions/check",
    { metadata: {}, resource: ok.entity, action: "view", principal: ok.subject },
    /entity: is missing, .*, and `resource`, `action`, `principal` are no fields of this request$/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [tuple, { ...tuple, entity: { type: "doc", ID: "1" } }] },
    /tuples\[1\]\.entity\.id: is missing, .*, and `tuples\[1\]\.entity\.ID` is not a field/,
  ],
  [
    "POST permissions/bulk-check",
    { metadata: {}, items: [{ ...ok, subject: undefined, subjects: [] }] },
    /items\[0\]\.subject: is missing, .*, and `items\[0\]\.subjects` is not a field/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, entity: { type: "doc", id: long } }] },
    /tuples\[0\]\.entity\.id: /,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, entity: { type: "doc", id: "a/b" } }] },
    /tuples\[0\]\.entity\.id: `a\/b` is not an id/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, entity: { type: "d1", id: "1" } }] },
    /tuples\[0\]\.entity\.type: `d1` is not a name/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, relation: "" }] },
    /tuples\[0\]\.relation: is missing/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, relation: "a".repeat(65) }] },
    /tuples\[0\]\.relation: /,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, subject: { type: "user", id: 7 } }] },
    /tuples\[0\]\.subject\.id: `7` is not a text/,
  ],
  [
    "POST data/write",
    { metadata: {}, tuples: [{ ...tuple, subject: { ...tuple.subject, relation: "a-b" } }] },
    /tuples\[0\]\.subject\.relation: `a-b`/,
  ],
  ["POST data/write", attribute(undefined), /attributes\[0\]\.value: is missing/],
  ["POST data/write", attribute(true), /attributes\[0\]\.value: `true` is not an object/],
  ["POST data/write", attribute({ data: 1 }), /attributes\[0\]\.value\.@type: is missing/],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.FloatValue`, data: 1 }),
    /attributes\[0\]\.value\.@type: .*FloatValue/,
  ],
  ["POST data/write", attribute({ "@type": 7, data: 1 }), /attributes\[0\]\.value\.@type: `7`/],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.IntegerValue`, data: 2 ** 31 }),
    /attributes\[0\]\.value\.data: `2147483648` is not an integer of 32 bits/,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.IntegerValue`, data: 1.5 }),
    /attributes\[0\]\.value\.data: /,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.IntegerValue`, data: "0x1" }),
    /attributes\[0\]\.value\.data: /,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.IntegerArrayValue`, data: [1, null] }),
    /attributes\[0\]\.value\.data\[1\]: /,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.BooleanValue`, data: "true" }),
    /attributes\[0\]\.value\.data: `true` is not true or false/,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.StringValue`, data: 7 }),
    /attributes\[0\]\.value\.data: `7` is not a text/,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.StringValue`, data: "a\0" }),
    /attributes\[0\]\.value\.data: has a NUL/,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.StringArrayValue`, data: "a" }),
    /attributes\[0\]\.value\.data: `a` is not an array/,
  ],
  [
    "POST data/write",
    attribute({ "@type": `${anyValue}.DoubleValue`, data: "nan" }),
    /attributes\[0\]\.value\.data: /,
  ],
  ["POST relationships/write", { metadata: {} }, /tuples: is missing, expected at least one tuple/],
  ["POST relationships/write", { tuples: [tuple] }, /metadata: is missing/],
  ["POST data/delete", {}, /tuple_filter: is missing, expected an object/],
  ["POST data/delete", { tuple_filter: { relation: "a" } }, /attribute_filter: is missing/],
  ["POST data/delete", { attribute_filter: {} }, /tuple_filter: is missing/],
  [
    "POST data/delete",
    { tuple_filter: {}, attribute_filter: {} },
    /tuple_filter: is empty like `attribute_filter`/,
  ],
  ["POST data/delete", { tuple_filter: [], attribute_filter: {} }, /tuple_filter: an array is not/],
  [
    "POST data/delete",
    { tuple_filter: { entity: { type: "d1" } }, attribute_filter: {} },
    /tuple_filter\.entity\.type: `d1` is not a name/,
  ],
  [
    "POST data/delete",
    { tuple_filter: { entity: { ids: "1" } }, attribute_filter: {} },
    /tuple_filter\.entity\.ids: `1` is not an array/,
  ],
  [
    "POST data/delete",
    { tuple_filter: { entity: { ids: ["1", "a b"] } }, attribute_filter: {} },
    /tuple_filter\.entity\.ids\[1\]: `a b` is not an id/,
  ],
  [
    "POST data/delete",
    { tuple_filter: { subject: { ids: [null] } }, attribute_filter: {} },
    /tuple_filter\.subject\.ids\[0\]: null is not a text/,
  ],
  [
    "POST data/delete",
    { tuple_filter: { subject: { relation: "\0" } }, attribute_filter: {} },
    /tuple_filter\.subject\.relation: /,
  ],
  [
    "POST data/delete",
    { tuple_filter: {}, attribute_filter: { attributes: ["a", ""] } },
    /attribute_filter\.attributes\[1\]: is missing/,
  ],
  [
    "POST data/delete",
    { tuple_filter: {}, attribute_filter: { entity: "doc" } },
    /attribute_filter\.entity: `doc` is not an object/,
  ],
  ["POST relationships/delete", {}, /filter: is missing/],
  ["POST relationships/delete", { filter: {} }, /filter: .*at least one/],
  [
    "POST relationships/delete",
    { filter: { relation: "a".repeat(65) } },
    /filter\.relation: `a+` is not a name/,
  ],
  ["POST data/relationships/read", {}, /metadata: is missing/],
  ["POST data/relationships/read", { metadata: {} }, /filter: is missing/],
  ["POST data/relationships/read", { filter: {} }, /metadata: is missing/],
  [
    "POST data/relationships/read",
    { metadata: {}, filter: {}, page_size: 0 },
    /page_size: 0 is too small/,
  ],
  [
    "POST data/relationships/read",
    { metadata: {}, filter: {}, page_size: -1 },
    /page_size: -1 is too small/,
  ],
  [
    "POST data/relationships/read",
    { metadata: {}, filter: { entity: { ids: [long] } } },
    /filter\.entity\.ids\[0\]: `a{100}\.\.\.` is not an id/,
  ],
  [
    "POST data/relationships/read",
    { metadata: {}, filter: {}, continuous_token: "MTA=" },
    /INVALID_CONTINUOUS_TOKEN: continuous_token: /,
  ],
  [
    "POST data/relationships/read",
    { metadata: { snap_token: "AAAA" }, filter: {} },
    /INVALID_SNAP_TOKEN: metadata\.snap_token: is malformed/,
  ],
  ["POST data/attributes/read", { metadata: {} }, /filter: is missing/],
  [
    "POST data/attributes/read",
    { metadata: {}, filter: { attributes: "a" } },
    /filter\.attributes: `a` is not an array/,
  ],
  [
    "POST data/attributes/read",
    { metadata: { snap_token: 7 }, filter: {} },
    /metadata\.snap_token: `7` is not a text/,
  ],
  ["POST bundle/write", {}, /bundles: is missing, expected at least one/],
  ["POST bundle/write", { bundles: [] }, /bundles: is missing/],
  ["POST bundle/write", { bundles: [{}] }, /bundles\[0\]\.name: is missing/],
  ["POST bundle/write", { bundles: [{ name: "a\nb" }] }, /bundles\[0\]\.name: /],
  ["POST bundle/write", { bundles: [{ name: long }] }, /bundles\[0\]\.name: /],
  [
    "POST bundle/write",
    { bundles: [{ name: "a", arguments: ["b.c"] }] },
    /bundles\[0\]\.arguments\[0\]: `b\.c` is not a name/,
  ],
  [
    "POST bundle/write",
    { bundles: [{ name: "a", arguments: {} }] },
    /bundles\[0\]\.arguments: an object is not an array/,
  ],
  [
    "POST bundle/write",
    { bundles: [{ name: "a", operations: [{ attributes_write: [7] }] }] },
    /bundles\[0\]\.operations\[0\]\.attributes_write\[0\]: `7` is not a text/,
  ],
  ["POST bundle/read", {}, /name: is missing/],
  ["POST bundle/read", { name: "\ud800" }, /name: /],
  ["POST bundle/delete", { name: "" }, /name: is missing/],
  ["POST data/run-bundle", { arguments: {} }, /name: is missing/],
  ["POST data/run-bundle", { name: "b" }, /arguments: is missing, expected an object/],
  ["POST data/run-bundle", { name: "b", arguments: { a: 7 } }, /arguments\.a: `7` is not a text/],
  ["POST data/run-bundle", { name: "b", arguments: { a: "\0" } }, /arguments\.a: has a NUL/],
  ["POST permissions/check", {}, /metadata: is missing/],
  ["POST permissions/check", { metadata: {} }, /entity: is missing/],
  ["POST permissions/check", { ...ok, metadata: { depth: -1 } }, /metadata\.depth: -1 is negative/],
  [
    "POST permissions/check",
    { ...ok, metadata: { depth: 2 ** 31 } },
    /metadata\.depth: `2147483648`/,
  ],
  ["POST permissions/check", { ...ok, metadata: { depth: "deep" } }, /metadata\.depth: `deep`/],
  [
    "POST permissions/check",
    '{"metadata":{"depth":-1e400}}',
    /metadata\.depth: a number that is too large to read is not an/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: { snap_token: "\0" } },
    /metadata\.snap_token: has a NUL/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, permission: "view1" },
    /permission: `view1` is not a name/,
  ],
  ["POST permissions/check", { ...ok, metadata: {}, permission: null }, /permission: is missing/],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, entity: { type: "doc", id: "" } },
    /entity\.id: is missing/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, subject: { type: "user", id: "ü" } },
    /subject\.id: `ü` is not an id/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, context: { data: 7 } },
    /context\.data: `7` is not an object/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, context: { data: { a: [{ b: "\0" }] } } },
    /context\.data\.a\[0\]\.b: has a NUL/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, context: { data: { "\0": 1 } } },
    /context\.data: has a NUL/,
  ],
  [
    "POST permissions/check",
    { ...ok, metadata: {}, arguments: [{}] },
    /arguments\[0\]\.computed_attribute\.name: is missing/,
  ],
  ["POST permissions/bulk-check", { items: [ok] }, /metadata: is missing/],
  [
    "POST permissions/bulk-check",
    { metadata: {}, items: [ok, { ...ok, entity: {} }] },
    /items\[1\]\.entity\.type: is missing/,
  ],
];

for (const engine of engines) {
  describe(`bad input on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;
    before(async () => {
      app = await engine.start();
      path = await app.tenant(
        "entity user {}\nentity doc { relation viewer @user attribute level integer permission view = viewer }",
      );
    });
    after(async () => await app.close());

    for (const [request, body, expected] of cases) {
      const shown = body instanceof Buffer ? "bytes" : JSON.stringify(body);
      test(`${request} ${shown ?? ""}`.slice(0, 150), async () => {
        const [method = "", target = ""] = request.split(" ");
        const url = target.startsWith("/") ? target : `${path}/${target}`;
        const answer = await app.send(method, url, body);
        assert.equal(answer.status, 400, JSON.stringify(answer.body));
        assert.match(answer.message, /^ERROR_CODE_[A-Z_]+: (?!.*rror_code).*[^.]$/is);
        assert.match(answer.message, expected);
        assert.match(JSON.stringify(answer.body), /^{"code":3,"message":".*","details":\[.*\]}$/s);
      });
    }

    for (const request of [
      "POST schemas/write",
      "POST schemas/read",
      "POST schemas/list",
      "PATCH schemas/partial-write",
      "POST data/write",
      "POST relationships/write",
      "POST data/delete",
      "POST relationships/delete",
      "POST data/relationships/read",
      "POST data/attributes/read",
      "POST bundle/write",
      "POST bundle/read",
      "POST bundle/delete",
      "POST data/run-bundle",
      "POST permissions/check",
      "POST permissions/bulk-check",
    ]) {
      test(`${request} of a tenant that does not exist gives 404`, async () => {
        const [method = "", target = ""] = request.split(" ");
        const { status, message, body } = await app.send(method, `/v1/tenants/missing/${target}`, {
          ...ok,
          metadata: {},
          schema: "entity user {}",
          items: [ok],
          tuples: [tuple],
          tuple_filter: { relation: "viewer" },
          attribute_filter: {},
          filter: { relation: "viewer" },
          bundles: [{ name: "b" }],
          name: "b",
          arguments: target.endsWith("run-bundle") ? {} : [],
        });
        assert.equal(status, 404);
        assert.match(message, /^ERROR_CODE_TENANT_NOT_FOUND: /);
        assert.match(JSON.stringify(body), /^{"code":5,/);
      });
    }
  });
}

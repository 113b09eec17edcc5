import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  relation viewer @user @group#member
  attribute public boolean
  attribute flags boolean[]
  attribute title string
  attribute tags string[]
  attribute level integer
  attribute levels integer[]
  attribute score double
  attribute scores double[]
  permission view = viewer or public
}
`;

const tuple = (doc: string, user: string): object => ({
  entity: { type: "doc", id: doc },
  relation: "viewer",
  subject: { type: "user", id: user },
});

const attribute = (name: string, type: string, data: unknown, doc = "1"): object => ({
  entity: { type: "doc", id: doc },
  attribute: name,
  value: { "@type": `type.googleapis.com/base.v1.${type}`, data },
});

for (const engine of engines) {
  describe(`data on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => (app = await engine.start()));
    after(async () => await app.close());

    async function canView(path: string, doc: string, user: string): Promise<unknown> {
      const { body } = await app.post(`${path}/permissions/check`, {
        metadata: {},
        entity: { type: "doc", id: doc },
        permission: "view",
        subject: { type: "user", id: user },
      });
      return typeof body === "object" && body !== null && "can" in body ? body.can : body;
    }

    test("what was written counts in the next check, and the token names that state", async () => {
      const path = await app.tenant(schema);
      const before = await app.post(`${path}/data/write`, { metadata: {} });
      assert.equal(before.status, 200);
      const written = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [tuple("1", "a")],
      });
      assert.equal(written.status, 200);
      assert.equal(await canView(path, "1", "a"), "RESULT_ALLOWED");
      for (const [token, can] of [
        [before.text("snap_token"), "RESULT_DENIED"],
        [written.text("snap_token"), "RESULT_ALLOWED"],
      ]) {
        const pinned = await app.post(`${path}/permissions/check`, {
          metadata: { snap_token: token },
          entity: { type: "doc", id: "1" },
          permission: "view",
          subject: { type: "user", id: "a" },
        });
        assert.match(JSON.stringify(pinned.body), new RegExp(`"can":"${can}"`));
      }
    });

    test("values of all eight types are taken, numbers and their names alike", async () => {
      const path = await app.tenant(schema);
      const { status, message } = await app.post(`${path}/data/write`, {
        metadata: { schema_version: "" },
        attributes: [
          attribute("public", "BooleanValue", true),
          attribute("flags", "BooleanArrayValue", [true, false]),
          attribute("title", "StringValue", "x"),
          attribute("tags", "StringArrayValue", []),
          attribute("level", "IntegerValue", "-2147483648"),
          attribute("levels", "IntegerArrayValue", [1, "2", 3.0]),
          attribute("score", "DoubleValue", "NaN"),
          attribute("scores", "DoubleArrayValue", [1.5, "Infinity", "-Infinity", "2e3"]),
          { ...attribute("title", "StringValue", null, "2") },
        ],
      });
      assert.equal(status, 200, message);
      assert.equal(await canView(path, "1", "a"), "RESULT_ALLOWED");
    });

    test("relationships/write takes tuples and wants at least one", async () => {
      const path = await app.tenant(schema);
      const written = await app.post(`${path}/relationships/write`, {
        metadata: {},
        tuples: [tuple("1", "a")],
      });
      assert.equal(written.status, 200);
      assert.notEqual(written.text("snap_token"), "");
      assert.equal(await canView(path, "1", "a"), "RESULT_ALLOWED");
      for (const tuples of [undefined, null, []]) {
        const { status, message } = await app.post(`${path}/relationships/write`, {
          metadata: {},
          tuples,
        });
        assert.equal(status, 400);
        assert.match(message, /^ERROR_CODE_VALIDATION: tuples: /);
      }
    });

    test("one bad tuple among a thousand writes nothing and is named", async () => {
      const path = await app.tenant(schema);
      for (const [bad, code] of [
        [{ ...tuple("1", "a"), relation: "editor" }, "RELATION_DEFINITION_NOT_FOUND"],
        [{ ...tuple("1", "a"), subject: { type: "doc", id: "2" } }, "SUBJECT_TYPE_NOT_FOUND"],
        [{ ...tuple("1", "a"), subject: { type: "group", id: "2" } }, "SUBJECT_TYPE_NOT_FOUND"],
        [{ ...tuple("1", "a"), entity: { type: "folder", id: "2" } }, "ENTITY_TYPE_NOT_FOUND"],
        [{ ...tuple("1", "a"), entity: { type: "doc", id: "a b" } }, "VALIDATION"],
        [{ ...tuple("1", "a"), entity: { type: "doc" } }, "VALIDATION"],
      ] as const) {
        const tuples: object[] = Array.from({ length: 1_000 }, (_, index) =>
          tuple(`d${index}`, "a"),
        );
        tuples[437] = bad;
        const { status, message, body } = await app.post(`${path}/data/write`, {
          metadata: {},
          tuples,
        });
        assert.equal(status, 400);
        assert.match(message, new RegExp(`^ERROR_CODE_${code}: tuples\\[437\\]\\.`));
        assert.match(JSON.stringify(body), /"details":\[{"field":"tuples\[437\]\./);
        for (const doc of ["d0", "d436", "d999"]) {
          assert.equal(await canView(path, doc, "a"), "RESULT_DENIED");
        }
      }
    });

    test("every bad element is in the details", async () => {
      const path = await app.tenant(schema);
      const { body } = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [
          tuple("1", "a"),
          { ...tuple("1", "a"), relation: "x" },
          { ...tuple("1", "a"), relation: "y" },
        ],
      });
      assert.match(
        JSON.stringify(body),
        /"field":"tuples\[1\]\.relation".*"field":"tuples\[2\]\.relation"/,
      );
    });

    test("an attribute that does not fit the schema gives 400 and is named", async () => {
      const path = await app.tenant(schema);
      const cases: readonly (readonly [object, RegExp])[] = [
        [
          attribute("publik", "BooleanValue", true),
          /ATTRIBUTE_DEFINITION_NOT_FOUND: attributes\[0\]\.attribute: /,
        ],
        [
          attribute("public", "StringValue", "true"),
          /ATTRIBUTE_TYPE_MISMATCH: attributes\[0\]\.value: /,
        ],
        [attribute("level", "DoubleValue", 1), /ATTRIBUTE_TYPE_MISMATCH: attributes\[0\]\.value: /],
      ];
      for (const [bad, expected] of cases) {
        const { status, message } = await app.post(`${path}/data/write`, {
          metadata: {},
          attributes: [bad],
        });
        assert.equal(status, 400);
        assert.match(message, expected);
      }
    });

    test("a subject that is its own entity gives 400", async () => {
      const path = await app.tenant(schema);
      const { status, message } = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [
          {
            entity: { type: "group", id: "g" },
            relation: "member",
            subject: { type: "group", id: "g", relation: "member" },
          },
        ],
      });
      assert.equal(status, 400);
      assert.match(
        message,
        /^ERROR_CODE_ENTITY_AND_SUBJECT_CANNOT_BE_EQUAL: tuples\[0\]\.subject: /,
      );
    });

    test("the same tuple twice is fine, an attribute with two values is not", async () => {
      const path = await app.tenant(schema);
      const twice = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [tuple("1", "a"), tuple("1", "a")],
        attributes: [attribute("level", "IntegerValue", 1), attribute("level", "IntegerValue", 1)],
      });
      assert.equal(twice.status, 200, twice.message);
      const { status, message } = await app.post(`${path}/data/write`, {
        metadata: {},
        attributes: [
          attribute("level", "IntegerValue", 1),
          attribute("title", "StringValue", "x"),
          attribute("level", "IntegerValue", 2),
        ],
      });
      assert.equal(status, 400);
      assert.match(message, /attributes\[2\].*attributes\[0\]/);
    });

    test("more tuples and attributes than the limit give 400, counted together", async () => {
      const path = await app.tenant(schema);
      const tuples = Array.from({ length: 999 }, (_, index) => tuple(`d${index}`, "a"));
      const attributes = [
        attribute("level", "IntegerValue", 1),
        attribute("title", "StringValue", ""),
      ];
      const { status, message } = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples,
        attributes,
      });
      assert.equal(status, 400);
      assert.match(message, /^ERROR_CODE_MAX_DATA_PER_WRITE_EXCEEDED: .*1001 .*1000/);
      const fits = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples,
        attributes: attributes.slice(1),
      });
      assert.equal(fits.status, 200, fits.message);
      const repeated = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [...tuples, ...tuples],
        attributes: [...attributes.slice(1), ...attributes.slice(1)],
      });
      assert.equal(repeated.status, 200, repeated.message);
    });

    test("a pinned schema version is what a write is held against", async () => {
      const path = await app.tenant();
      const old = (await app.post(`${path}/schemas/write`, { schema })).text("schema_version");
      await app.post(`${path}/schemas/write`, { schema: "entity user {}" });
      const write = { tuples: [tuple("1", "a")] };
      assert.equal((await app.post(`${path}/data/write`, { metadata: {}, ...write })).status, 400);
      const pinned = { metadata: { schema_version: old }, ...write };
      assert.equal((await app.post(`${path}/data/write`, pinned)).status, 200);
    });

    test("writing without a schema, or with an unknown version, gives 404", async () => {
      const empty = await app.tenant();
      const path = await app.tenant(schema);
      for (const [at, metadata] of [
        [empty, {}],
        [path, { schema_version: "00000000000000000000" }],
      ] as const) {
        const { status, message } = await app.post(`${at}/data/write`, {
          metadata,
          tuples: [tuple("1", "a")],
        });
        assert.equal(status, 404);
        assert.match(message, /^ERROR_CODE_SCHEMA_NOT_FOUND: /);
      }
    });
  });
}

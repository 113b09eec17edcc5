import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity org { relation admin @user }
entity doc {
  relation parent @org
  relation viewer @user @org#admin
  attribute public boolean
  attribute levels integer[]
  action view = (viewer or parent.admin) not public
  permission open = at_least(level) and public
  attribute level integer
}
rule at_least(level integer) {
  level >= context.data.level
}
`;

for (const engine of engines) {
  describe(`schemas on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => (app = await engine.start()));
    after(async () => await app.close());

    test("a schema is read back as definitions, empty parts left out", async () => {
      const path = await app.tenant(schema);
      const { status, body } = await app.post(`${path}/schemas/read`, { metadata: {} });
      assert.equal(status, 200);
      assert.deepEqual(body, {
        schema: {
          entity_definitions: {
            user: {},
            org: { relations: { admin: { references: [{ type: "user" }] } } },
            doc: {
              relations: {
                parent: { references: [{ type: "org" }] },
                viewer: { references: [{ type: "user" }, { type: "org", relation: "admin" }] },
              },
              attributes: {
                public: { type: "boolean" },
                levels: { type: "integer[]" },
                level: { type: "integer" },
              },
              actions: {
                view: "(viewer or parent.admin) not public",
                open: "at_least(level) and public",
              },
            },
          },
          rule_definitions: {
            at_least: {
              arguments: { level: "integer" },
              expression: "level >= context.data.level",
            },
          },
        },
      });
    });

    test("names that every object has are names like any other", async () => {
      const path = await app.tenant(
        "entity __proto__ {}\nentity constructor { relation toString @__proto__ }",
      );
      const { body } = await app.post(`${path}/schemas/read`, { metadata: {} });
      assert.equal(
        JSON.stringify(body),
        '{"schema":{"entity_definitions":{"__proto__":{},"constructor":{"relations":{"toString":{"references":[{"type":"__proto__"}]}}}},"rule_definitions":{}}}',
      );
    });

    test("every write is a new version, the last is head, and older ones stay readable", async () => {
      const path = await app.tenant();
      const first = (await app.post(`${path}/schemas/write`, { schema: "entity a {}" })).text(
        "schema_version",
      );
      const second = (await app.post(`${path}/schemas/write`, { schema: "entity b {}" })).text(
        "schema_version",
      );
      assert.match(first, /^[0-9a-v]{20}$/);
      assert.ok(first < second);
      const { body } = await app.post(`${path}/schemas/list`, {});
      assert.deepEqual(versionsOf(body), [second, first]);
      assert.match(JSON.stringify(body), new RegExp(`^{"head":"${second}",`));
      assert.match(JSON.stringify(body), /"created_at":"\d{4}-\d\d-\d\dT[\d:.]+Z"/);
      const old = await app.post(`${path}/schemas/read`, { metadata: { schema_version: first } });
      assert.deepEqual(old.body, {
        schema: { entity_definitions: { a: {} }, rule_definitions: {} },
      });
    });

    test("the list of versions comes in pages, newest first", async () => {
      const path = await app.tenant("entity a {}");
      for (const name of ["b", "c"])
        await app.post(`${path}/schemas/write`, { schema: `entity ${name} {}` });
      const all = versionsOf((await app.post(`${path}/schemas/list`, {})).body);
      const first = await app.post(`${path}/schemas/list`, { page_size: 2 });
      const token = first.text("continuous_token");
      const second = await app.post(`${path}/schemas/list`, {
        page_size: 2,
        continuous_token: token,
      });
      assert.deepEqual([...versionsOf(first.body), ...versionsOf(second.body)], all);
      assert.equal(second.text("continuous_token"), "");
      const foreign = await app.post(`${await app.tenant()}/schemas/list`, {
        continuous_token: token,
      });
      assert.equal(foreign.status, 400);
      assert.match(foreign.message, /^ERROR_CODE_INVALID_CONTINUOUS_TOKEN: /);
    });

    test("without a schema the list is empty and reading gives 404", async () => {
      const path = await app.tenant();
      assert.deepEqual((await app.post(`${path}/schemas/list`, {})).body, {
        head: "",
        schemas: [],
        continuous_token: "",
      });
      const { status, message } = await app.post(`${path}/schemas/read`, { metadata: {} });
      assert.equal(status, 404);
      assert.match(message, /^ERROR_CODE_SCHEMA_NOT_FOUND: /);
    });

    test("a version that does not exist gives 404, in any form", async () => {
      const path = await app.tenant("entity user {}");
      for (const version of ["00000000000000000000", "x", "v".repeat(5_000)]) {
        const metadata = { schema_version: version };
        const { status, message } = await app.post(`${path}/schemas/read`, { metadata });
        assert.equal(status, 404);
        assert.match(message, /^ERROR_CODE_SCHEMA_NOT_FOUND: /);
        assert.ok(message.length < 300, message);
      }
    });

    test("faults of a schema give 400 with their line and column", async () => {
      const path = await app.tenant();
      const cases = [
        ["entity user {}\nentity doc {\n  relation owner @usr\n}", "SCHEMA_COMPILE", 3, 19],
        ["entity user {}\nentity doc {\n  permission view = owner\n}", "SCHEMA_COMPILE", 3, 21],
        ["entity user {", "SCHEMA_PARSE", 1, 14],
        ["nonsense", "SCHEMA_PARSE", 1, 1],
      ] as const;
      for (const [text, code, line, column] of cases) {
        const { status, message, body } = await app.post(`${path}/schemas/write`, { schema: text });
        assert.equal(status, 400, text);
        assert.match(message, new RegExp(`^ERROR_CODE_${code}: `), text);
        assert.match(JSON.stringify(body), new RegExp(`"line":${line},"column":${column}`), text);
        assert.match(message, new RegExp(`${line}:${column}`), text);
      }
      assert.equal((await app.post(`${path}/schemas/write`, { schema: "" })).status, 400);
    });

    test("a partial write adds, replaces and removes, and makes a new head", async () => {
      const path = await app.tenant(
        "entity user {}\nentity doc {\n relation owner @user\n relation old @user\n permission view = owner\n}",
      );
      const { status, message } = await app.send("PATCH", `${path}/schemas/partial-write`, {
        metadata: {},
        partials: {
          doc: {
            write: ["relation viewer @user", "attribute public boolean"],
            write_permissions: ["view = owner or viewer", "action edit = owner"],
            update: null,
            delete: ["old"],
          },
        },
      });
      assert.equal(status, 200, message);
      const { body } = await app.post(`${path}/schemas/read`, { metadata: {} });
      assert.deepEqual(body, {
        schema: {
          entity_definitions: {
            user: {},
            doc: {
              relations: {
                owner: { references: [{ type: "user" }] },
                viewer: { references: [{ type: "user" }] },
              },
              attributes: { public: { type: "boolean" } },
              actions: { view: "owner or viewer", edit: "owner" },
            },
          },
          rule_definitions: {},
        },
      });
    });

    test("a partial write that does not fit gives 400 and names the statement", async () => {
      const path = await app.tenant("entity user {}\nentity doc { relation owner @user }");
      const cases: readonly (readonly [object, RegExp])[] = [
        [{ folder: { write: ["relation a @user"] } }, /ENTITY_STATEMENT_NOT_FOUND: .*`folder`/],
        [{ doc: { write: ["relation owner @user"] } }, /ALREADY_EXIST: partials\.doc\.write\[0\]/],
        [
          { doc: { update: ["relation viewer @user"] } },
          /REFERENCE_NOT_FOUND: partials\.doc\.update\[0\]/,
        ],
        [{ doc: { delete: ["viewer"] } }, /REFERENCE_NOT_FOUND: partials\.doc\.delete\[0\]/],
        [
          { doc: { write_permissions: ["view = outsider"] } },
          /SCHEMA_COMPILE: .*partials\.doc\.write_permissions\[0\]/,
        ],
        [{ doc: { write: ["relation"] } }, /SCHEMA_PARSE: .*partials\.doc\.write\[0\]/],
      ];
      for (const [partials, expected] of cases) {
        const { status, message } = await app.send("PATCH", `${path}/schemas/partial-write`, {
          metadata: {},
          partials,
        });
        assert.equal(status, 400, message);
        assert.match(message, expected);
      }
    });

    test("partial writes at the same time lose nothing of one another", async () => {
      const path = await app.tenant("entity user {}\nentity doc {}");
      const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
      const answers = await Promise.all(
        names.map(
          async (name) =>
            await app.send("PATCH", `${path}/schemas/partial-write`, {
              metadata: {},
              partials: { doc: { write: [`relation ${name} @user`] } },
            }),
        ),
      );
      assert.deepEqual(
        answers.map(({ status }) => status),
        names.map(() => 200),
      );
      const { body } = await app.post(`${path}/schemas/read`, { metadata: {} });
      for (const name of names)
        assert.match(JSON.stringify(body), new RegExp(`"${name}":{"references"`));
    });

    test("a partial write of a pinned version builds on that version", async () => {
      const path = await app.tenant();
      const base = (
        await app.post(`${path}/schemas/write`, { schema: "entity user {}\nentity doc {}" })
      ).text("schema_version");
      await app.post(`${path}/schemas/write`, { schema: "entity user {}\nentity other {}" });
      const { status } = await app.send("PATCH", `${path}/schemas/partial-write`, {
        metadata: { schema_version: base },
        partials: { doc: { write: ["relation a @user"] } },
      });
      assert.equal(status, 200);
      const { body } = await app.post(`${path}/schemas/read`, { metadata: {} });
      assert.match(JSON.stringify(body), /"doc":{"relations":{"a"/);
      assert.doesNotMatch(JSON.stringify(body), /"other"/);
    });
  });
}

function versionsOf(body: unknown): readonly string[] {
  assert.ok(typeof body === "object" && body !== null && "schemas" in body);
  assert.ok(Array.isArray(body.schemas));
  return body.schemas.map((schema: { readonly version: string }) => schema.version);
}

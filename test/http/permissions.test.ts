import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity folder {
  relation parent @folder
  relation viewer @user
  permission view = viewer or parent.view
}
entity doc {
  relation parent @folder
  relation owner @user
  relation banned @user
  attribute public boolean
  attribute level integer
  permission view = (owner or parent.view or public) not banned
  permission high = at_least(level)
}
rule at_least(level integer) {
  level >= context.data.wanted
}
`;

const tuple = (entity: string, relation: string, subject: string): object => {
  const [type, id] = entity.split(":");
  const [subjectType, subjectId] = subject.split(":");
  return { entity: { type, id }, relation, subject: { type: subjectType, id: subjectId } };
};

const level = (data: number): object => ({
  entity: { type: "doc", id: "1" },
  attribute: "level",
  value: { "@type": "type.googleapis.com/base.v1.IntegerValue", data },
});

const question = (user: string, permission = "view", doc = "1"): object => ({
  entity: { type: "doc", id: doc },
  permission,
  subject: { type: "user", id: user },
});

for (const engine of engines) {
  describe(`permissions on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;
    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      const written = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [
          tuple("doc:1", "owner", "user:ann"),
          tuple("doc:1", "parent", "folder:a"),
          tuple("folder:a", "parent", "folder:b"),
          tuple("folder:b", "parent", "folder:c"),
          tuple("folder:c", "viewer", "user:bob"),
          tuple("folder:c", "viewer", "user:eve"),
          tuple("doc:1", "banned", "user:eve"),
        ],
        attributes: [level(5)],
      });
      assert.equal(written.status, 200, written.message);
    });
    after(async () => await app.close());

    async function check(body: object): Promise<{ status: number; can: unknown; message: string }> {
      const answer = await app.post(`${path}/permissions/check`, { metadata: {}, ...body });
      const can = JSON.stringify(answer.body).match(/"can":"RESULT_(\w+)"/)?.[1];
      return { status: answer.status, can, message: answer.message };
    }

    test("a check answers with its result and at least one node that was visited", async () => {
      const { status, body } = await app.post(`${path}/permissions/check`, {
        metadata: {},
        ...question("ann"),
      });
      assert.equal(status, 200);
      assert.match(
        JSON.stringify(body),
        /^{"can":"RESULT_ALLOWED","metadata":{"check_count":[1-9]\d*}}$/,
      );
      const denied = await app.post(`${path}/permissions/check`, {
        metadata: {},
        ...question("zoe"),
      });
      assert.match(
        JSON.stringify(denied.body),
        /^{"can":"RESULT_DENIED","metadata":{"check_count":[1-9]\d*}}$/,
      );
    });

    test("permissions, relations, attributes and rules can be asked", async () => {
      assert.equal((await check(question("bob"))).can, "ALLOWED");
      assert.equal((await check(question("eve"))).can, "DENIED");
      assert.equal((await check(question("ann", "owner"))).can, "ALLOWED");
      assert.equal((await check(question("ann", "public"))).can, "DENIED");
      for (const spelling of ["computed_attribute", "computedAttribute"]) {
        const rule = {
          ...question("ann", "at_least"),
          arguments: [{ [spelling]: { name: "level" } }],
          context: { data: { wanted: 5 } },
        };
        const { can, message } = await check(rule);
        assert.equal(can, "ALLOWED", message);
      }
    });

    test("context adds tuples, overrides attributes and gives data to rules", async () => {
      const added = { context: { tuples: [tuple("doc:1", "owner", "user:zoe")] } };
      assert.equal((await check({ ...question("zoe"), ...added })).can, "ALLOWED");
      assert.equal((await check(question("zoe"))).can, "DENIED");
      const data = { wanted: 7 };
      assert.equal((await check({ ...question("ann", "high"), context: { data } })).can, "DENIED");
      const raised = { ...question("ann", "high"), context: { data, attributes: [level(9)] } };
      assert.equal((await check(raised)).can, "ALLOWED");
    });

    test("context that does not fit the schema gives 400 and is named", async () => {
      const cases: readonly (readonly [object, RegExp])[] = [
        [{ tuples: [tuple("doc:1", "editor", "user:a")] }, /context\.tuples\[0\]\.relation/],
        [
          { attributes: [{ ...level(1), attribute: "nope" }] },
          /context\.attributes\[0\]\.attribute/,
        ],
        [{ tuples: [tuple("doc:1", "owner", "user:a"), {}] }, /context\.tuples\[1\]\.entity/],
        [{ attributes: [level(2 ** 31)] }, /context\.attributes\[0\]\.value\.data/],
      ];
      for (const [context, expected] of cases) {
        const { status, message } = await check({ ...question("ann"), context });
        assert.equal(status, 400, message);
        assert.match(message, expected);
      }
    });

    test("a key of context data that decides and is missing gives 400 and names the rule", async () => {
      const { status, message } = await check(question("ann", "high"));
      assert.equal(status, 400);
      assert.match(message, /at_least/);
    });

    test("unknown names give 400 and are named", async () => {
      const cases: readonly (readonly [object, RegExp])[] = [
        [question("ann", "edit"), /permission: .*`edit`/],
        [{ ...question("ann"), entity: { type: "file", id: "1" } }, /entity\.type: .*`file`/],
        [{ ...question("ann"), subject: { type: "robot", id: "1" } }, /subject\.type: .*`robot`/],
        [
          { ...question("ann", "at_least"), arguments: [{ computed_attribute: { name: "nope" } }] },
          /arguments: .*`level`/,
        ],
      ];
      for (const [body, expected] of cases) {
        const { status, message } = await check(body);
        assert.equal(status, 400, message);
        assert.match(message, expected);
      }
    });

    test("a path longer than the depth gives 400, never a wrong denial", async () => {
      const short = await check({ ...question("bob"), metadata: { depth: 2 } });
      assert.equal(short.status, 400);
      assert.match(short.message, /^ERROR_CODE_DEPTH_NOT_ENOUGH: /);
      assert.equal((await check({ ...question("bob"), metadata: { depth: "3" } })).can, "ALLOWED");
      assert.equal((await check({ ...question("bob"), metadata: { depth: 0 } })).can, "ALLOWED");
    });

    test("a bulk check answers every item in order", async () => {
      const { status, body } = await app.post(`${path}/permissions/bulk-check`, {
        metadata: {},
        items: [question("ann"), question("zoe"), question("ann", "owner"), question("eve")],
      });
      assert.equal(status, 200);
      assert.deepEqual(
        [...JSON.stringify(body).matchAll(/"can":"RESULT_(\w+)"/g)].map(([, can]) => can),
        ["ALLOWED", "DENIED", "ALLOWED", "DENIED"],
      );
      assert.match(
        JSON.stringify(body),
        /^{"results":\[{"can":"RESULT_\w+","metadata":{"check_count":\d+}},/,
      );
    });

    test("a bad item fails the whole bulk check and is named", async () => {
      const cases: readonly (readonly [object, RegExp])[] = [
        [question("ann", "edit"), /items\[2\]\.permission: /],
        [{ ...question("ann"), entity: { type: "file", id: "1" } }, /items\[2\]\.entity\.type: /],
        [{ ...question("ann"), subject: null }, /items\[2\]\.subject: /],
        [question("ann", "view!"), /items\[2\]\.permission: /],
      ];
      for (const [bad, expected] of cases) {
        const { status, message } = await app.post(`${path}/permissions/bulk-check`, {
          metadata: {},
          items: [question("ann"), question("zoe"), bad],
        });
        assert.equal(status, 400);
        assert.match(message, expected);
      }
    });

    test("a bulk check takes 1 to 100 items", async () => {
      const items = (count: number): object[] =>
        Array.from({ length: count }, () => question("ann"));
      for (const [body, status] of [
        [{ items: items(0) }, 400],
        [{}, 400],
        [{ items: items(101) }, 400],
        [{ items: items(100) }, 200],
      ] as const) {
        const answer = await app.post(`${path}/permissions/bulk-check`, { metadata: {}, ...body });
        assert.equal(answer.status, status);
        if (status === 400) assert.match(answer.message, /items: has \d+ items, expected 1 to 100/);
      }
    });

    test("a subject relation of three dots is the subject itself", async () => {
      const subject = { type: "user", id: "ann", relation: "..." };
      assert.equal((await check({ ...question("ann"), subject })).can, "ALLOWED");
    });

    test("a snap token that is none gives 400", async () => {
      for (const token of ["x", "%%%", "AAAAAAAAAAA="]) {
        const { status, message } = await check({
          ...question("ann"),
          metadata: { snap_token: token },
        });
        assert.equal(status, 400);
        assert.match(message, /^ERROR_CODE_INVALID_SNAP_TOKEN: /);
      }
    });

    test("no tenant sees what another one holds", async () => {
      const other = await app.tenant(schema);
      const { body } = await app.post(`${other}/permissions/check`, {
        metadata: {},
        ...question("ann"),
      });
      assert.match(JSON.stringify(body), /"can":"RESULT_DENIED"/);
    });
  });
}

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity empty {}
entity group { relation member @user @group#member }
entity doc {
  relation owner @user
  relation viewer @user @group#member
  relation banned @user
  attribute level integer
  permission view = (owner or viewer) not banned
  permission edit = owner
  permission high = at_least(level)
}
rule at_least(level integer) { level >= context.data.wanted }
`;

const subject = (id: string): object => ({ type: "user", id });

for (const engine of engines) {
  describe(`subject permissions on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;

    const ask = (body: object): ReturnType<TestApp["post"]> =>
      app.post(`${path}/permissions/subject-permission`, body);

    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      const written = await app.post(`${path}/relationships/write`, {
        metadata: {},
        tuples: [
          {
            entity: { type: "group", id: "g" },
            relation: "member",
            subject: { type: "user", id: "ann" },
          },
          {
            entity: { type: "doc", id: "1" },
            relation: "viewer",
            subject: { type: "group", id: "g", relation: "member" },
          },
        ],
      });
      assert.equal(written.status, 200, written.message);
    });
    after(() => app.close());

    test("list every permission and relation of the type, attributes and rules not", async () => {
      const answer = await ask({
        metadata: {},
        entity: { type: "doc", id: "1" },
        subject: subject("ann"),
        context: { data: { wanted: 0 } },
      });
      assert.deepEqual(answer.body, {
        results: {
          view: "RESULT_ALLOWED",
          edit: "RESULT_DENIED",
          high: "RESULT_ALLOWED",
          owner: "RESULT_DENIED",
          viewer: "RESULT_ALLOWED",
          banned: "RESULT_DENIED",
        },
      });
    });

    test("leave relations out when only permissions are asked, and honour the context", async () => {
      const answer = await ask({
        metadata: { only_permission: true },
        entity: { type: "doc", id: "1" },
        subject: subject("ann"),
        context: {
          data: { wanted: 1 },
          tuples: [
            { entity: { type: "doc", id: "1" }, relation: "banned", subject: subject("ann") },
          ],
        },
      });
      assert.deepEqual(answer.body, {
        results: { view: "RESULT_DENIED", edit: "RESULT_DENIED", high: "RESULT_DENIED" },
      });
    });

    test("are an empty map for a type that defines nothing", async () => {
      const answer = await ask({
        metadata: {},
        entity: { type: "empty", id: "1" },
        subject: subject("ann"),
      });
      assert.deepEqual(answer.body, { results: {} });
    });

    test("fail as a whole, naming the permission that can't be decided", async () => {
      const answer = await ask({
        metadata: {},
        entity: { type: "doc", id: "1" },
        subject: subject("ann"),
      });
      assert.equal(answer.status, 400);
      assert.match(answer.message, /^ERROR_CODE_RULE_EVALUATION: `high`: .*`at_least`/);
    });

    test("name the field that is missing or unknown", async () => {
      const cases: readonly [object, RegExp][] = [
        [{ entity: { type: "doc", id: "1" }, subject: subject("a") }, /metadata/],
        [{ metadata: {}, subject: subject("a") }, /entity/],
        [{ metadata: {}, entity: { type: "doc", id: "1" } }, /subject/],
        [
          { metadata: {}, entity: { type: "dock", id: "1" }, subject: subject("a") },
          /entity\.type/,
        ],
        [
          { metadata: {}, entity: { type: "doc", id: "1" }, subject: { type: "usr", id: "a" } },
          /subject\.type/,
        ],
        [
          {
            metadata: { only_permission: "yes" },
            entity: { type: "doc", id: "1" },
            subject: subject("a"),
          },
          /only_permission/,
        ],
      ];
      for (const [body, field] of cases) {
        const answer = await ask(body);
        assert.equal(answer.status, 400, JSON.stringify(body));
        assert.match(answer.message, field);
      }
      const unknown = await app.post("/v1/tenants/missing/permissions/subject-permission", {
        metadata: {},
        entity: { type: "empty", id: "1" },
        subject: subject("a"),
      });
      assert.equal(unknown.status, 404);
    });
  });
}

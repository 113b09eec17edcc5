import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity org { relation admin @user }
entity group { relation member @user @group#member }
entity doc {
  relation parent @org
  relation viewer @user @org#admin @group#member
  relation blocked @user
  attribute public boolean
  attribute limit integer
  permission view = (viewer or parent.admin) not blocked
  permission same = view
  permission open = public and small(limit)
}
rule small(limit integer) { limit < 3 }
`;

const tuple = (entity: string, relation: string, subject: string): object => {
  const [type, id] = entity.split(":");
  const [subjectType, rest = ""] = subject.split(":");
  const [subjectId, subjectRelation = ""] = rest.split("#");
  return {
    entity: { type, id },
    relation,
    subject: { type: subjectType, id: subjectId, relation: subjectRelation },
  };
};

const target = (entity: string, relation: string): object => {
  const [type, id] = entity.split(":");
  return { entity: { type, id }, relation };
};

const leaf = (entity: string, relation: string, subjects: readonly string[]): object => ({
  target: target(entity, relation),
  node: {
    leaf: {
      subjects: subjects.map((subject) => {
        const [type, rest = ""] = subject.split(":");
        const [id, subjectRelation = ""] = rest.split("#");
        return { type, id, relation: subjectRelation };
      }),
    },
  },
});

const node = (
  entity: string,
  relation: string,
  operation: string,
  children: readonly object[],
): object => ({
  target: target(entity, relation),
  node: { expand: { operation: `OPERATION_${operation}`, children } },
});

const typeUrl = "type.googleapis.com/base.v1";

for (const engine of engines) {
  describe(`expand on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;

    const expand = (body: object): ReturnType<TestApp["post"]> =>
      app.post(`${path}/permissions/expand`, { metadata: {}, ...body });
    const doc = (id: string): object => ({ type: "doc", id });

    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      const written = await app.post(`${path}/data/write`, {
        metadata: {},
        tuples: [
          tuple("doc:1", "parent", "org:5"),
          tuple("org:5", "admin", "user:9"),
          tuple("doc:1", "viewer", "org:5#admin"),
          tuple("doc:1", "viewer", "user:1"),
          tuple("doc:2", "viewer", "group:a#member"),
          tuple("group:a", "member", "group:b#member"),
          tuple("group:b", "member", "group:a#member"),
          tuple("group:b", "member", "user:2"),
        ],
        attributes: [
          {
            entity: doc("1"),
            attribute: "public",
            value: { "@type": `${typeUrl}.BooleanValue`, data: true },
          },
        ],
      });
      assert.equal(written.status, 200, written.message);
    });
    after(() => app.close());

    const admins = leaf("org:5", "admin", ["user:9"]);
    const view = node("doc:1", "view", "EXCLUSION", [
      node("doc:1", "view", "UNION", [
        node("doc:1", "viewer", "UNION", [
          admins,
          leaf("doc:1", "viewer", ["user:1", "org:5#admin"]),
        ]),
        node("doc:1", "parent", "UNION", [admins]),
      ]),
      leaf("doc:1", "blocked", []),
    ]);

    test("is a node for each operator, userset and walk, down to the subjects", async () => {
      const answer = await expand({ entity: doc("1"), permission: "view" });
      assert.deepEqual(answer.body, { tree: view });
    });

    test("of a permission that is another name is the tree of that one", async () => {
      const answer = await expand({ entity: doc("1"), permission: "same" });
      assert.deepEqual(answer.body, { tree: view });
    });

    test("has the values of attributes and rules, defaults included, and evaluates nothing", async () => {
      const answer = await expand({ entity: doc("1"), permission: "open" });
      assert.deepEqual(answer.body, {
        tree: node("doc:1", "open", "INTERSECTION", [
          {
            target: target("doc:1", "public"),
            node: { leaf: { value: { "@type": `${typeUrl}.BooleanValue`, data: true } } },
          },
          {
            target: target("doc:1", "small"),
            node: { leaf: { values: { limit: { "@type": `${typeUrl}.IntegerValue`, data: 0 } } } },
          },
        ]),
      });
    });

    test("cuts a cycle where a node meets itself, and marks it as a leaf", async () => {
      const answer = await expand({ entity: doc("2"), permission: "viewer" });
      assert.deepEqual(answer.body, {
        tree: node("doc:2", "viewer", "UNION", [
          node("group:a", "member", "UNION", [
            node("group:b", "member", "UNION", [
              leaf("group:a", "member", ["group:a#member"]),
              leaf("group:b", "member", ["user:2", "group:a#member"]),
            ]),
            leaf("group:a", "member", ["group:b#member"]),
          ]),
          leaf("doc:2", "viewer", ["group:a#member"]),
        ]),
      });
    });

    test("honours contextual tuples and a state of the past", async () => {
      const blocked = tuple("doc:1", "blocked", "user:7");
      const answer = await expand({
        entity: doc("1"),
        permission: "blocked",
        context: { tuples: [blocked] },
      });
      assert.deepEqual(answer.body, { tree: leaf("doc:1", "blocked", ["user:7"]) });

      const before_ = await app.post(`${path}/data/write`, { metadata: {} });
      await app.post(`${path}/relationships/write`, { metadata: {}, tuples: [blocked] });
      const past = await expand({
        metadata: { snap_token: before_.text("snap_token") },
        entity: doc("1"),
        permission: "blocked",
      });
      assert.deepEqual(past.body, { tree: leaf("doc:1", "blocked", []) });
      const now = await expand({ entity: doc("1"), permission: "blocked" });
      assert.deepEqual(now.body, { tree: leaf("doc:1", "blocked", ["user:7"]) });
      await app.post(`${path}/data/delete`, {
        tuple_filter: { entity: { type: "doc", ids: ["1"] }, relation: "blocked" },
        attribute_filter: {},
      });
    });

    test("names the field that is missing or unknown", async () => {
      const cases: readonly [object, RegExp][] = [
        [{ metadata: null, entity: doc("1"), permission: "view" }, /metadata/],
        [{ permission: "view" }, /entity/],
        [{ entity: doc("1") }, /permission/],
        [{ entity: doc("1"), permission: "" }, /permission/],
        [{ entity: doc("1"), permission: "nothing" }, /permission: .*`nothing`/],
        [{ entity: { type: "dock", id: "1" }, permission: "view" }, /entity\.type: .*`dock`/],
      ];
      for (const [body, field] of cases) {
        const answer = await expand(body);
        assert.equal(answer.status, 400, JSON.stringify(body));
        assert.match(answer.message, field);
      }
    });
  });
}

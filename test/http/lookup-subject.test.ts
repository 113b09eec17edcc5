import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Answer, engines, type TestApp } from "../support/engines.ts";
import { restFacts } from "../support/rest-facts.ts";

const schema = `
entity user { relation boss @user }
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  permission view = viewer or parent.view
}
entity doc {
  relation folder @folder
  relation owner @user
  relation viewer @user @group#member
  relation banned @user @group#member
  attribute public boolean
  attribute level integer
  permission view = viewer or folder.view
  permission seen = view not banned
  permission both = viewer and folder.view
  permission open = public or owner
  permission shut = public not owner
  permission fits = owner or above(level)
}
rule above(level integer) { level > context.data.least }
`;

const facts = [
  "group:crew#member@user:ada",
  "group:crew#member@group:team#member",
  "group:team#member@user:bob",
  "group:team#member@group:crew#member",
  "group:ban#member@user:Zed",
  "folder:root#viewer@group:crew#member",
  "folder:sub#parent@folder:root",
  "doc:plan#folder@folder:sub",
  "doc:plan#viewer@user:Zed",
  "doc:plan#viewer@user:ada",
  "doc:plan#owner@user:eve",
  "doc:plan#banned@user:bob",
  "doc:plan#banned@group:ban#member",
  "doc:memo#owner@user:eve",
  "doc:memo$public|boolean:true",
  "doc:memo$level|integer:7",
  "user:root#boss@user:root.boss",
];

const everybody = ["Zed", "ada", "bob", "eve", "root", "root.boss"];

for (const engine of engines) {
  describe(`lookup-subject on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;
    let snapToken: string;

    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      snapToken = (await write(facts)).text("snap_token");
    });
    after(() => app.close());

    async function write(lines: readonly string[], at = path): Promise<Answer> {
      const answer = await app.post(`${at}/data/write`, { metadata: {}, ...restFacts(lines) });
      assert.equal(answer.status, 200, answer.message);
      return answer;
    }

    /** The request for `<entity> <permission> <subject type>#<relation>`. */
    function request(asked: string, more: object = {}): object {
      const [, entityType, id, permission, type, relation] =
        /^(\w+):(\S+) (\w+) (\w+)#?(\w*)$/.exec(asked) ?? assert.fail(asked);
      return {
        metadata: { snap_token: snapToken },
        entity: { type: entityType, id },
        permission,
        subject_reference: { type, relation },
        ...more,
      };
    }

    async function ask(body: object, at = path): Promise<Answer> {
      return await app.post(`${at}/permissions/lookup-subject`, body);
    }

    async function ids(asked: string, more: object = {}): Promise<readonly string[]> {
      const answer = await ask(request(asked, more));
      assert.equal(answer.status, 200, answer.message);
      assert.equal(answer.text("continuous_token"), "");
      return idsOf(answer);
    }

    async function refusal(asked: string, more: object = {}): Promise<string> {
      const answer = await ask(request(asked, more));
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      return answer.message;
    }

    for (const [asked, found] of [
      ["doc:plan view user", ["Zed", "ada", "bob"]],
      ["doc:plan seen user", ["ada"]],
      ["doc:plan both user", ["ada"]],
      ["doc:plan viewer user", ["Zed", "ada"]],
      ["doc:plan view group#member", ["crew", "team"]],
      ["doc:plan view group", []],
      ["doc:plan open user", ["eve"]],
      ["doc:plan public user", []],
      ["doc:memo public user", everybody],
      ["doc:memo open user", everybody],
      ["doc:memo shut user", everybody.filter((id) => id !== "eve")],
      ["doc:memo public group#member", ["ban", "crew", "team"]],
      ["doc:none view user", []],
      ["group:crew member user", ["ada", "bob"]],
    ] as const) {
      test(`${asked} finds ${found.join(", ") || "nothing"}`, async () => {
        assert.deepEqual(await ids(asked), found);
      });
    }

    test("a userset finds itself, and the question makes it known", async () => {
      assert.deepEqual(await ids("group:crew member group#member"), ["crew", "team"]);
      assert.deepEqual(await ids("group:outsider member group#member"), ["outsider"]);
    });

    test("a relation `...` is none", async () => {
      const reference = { subject_reference: { type: "user", relation: "..." } };
      assert.deepEqual(await ids("doc:plan viewer user", reference), ["Zed", "ada"]);
    });

    test("contextual tuples and attributes make subjects known, and attributes override", async () => {
      const context = restFacts([
        "doc:memo$public|boolean:false",
        "doc:memo#viewer@group:new#member",
        "group:new#member@user:kim",
        "group:crew#member@user:lee",
      ]);
      assert.deepEqual(await ids("doc:memo public user", { context }), []);
      assert.deepEqual(await ids("doc:memo view user", { context }), ["kim"]);
      assert.deepEqual(await ids("doc:memo view group#member", { context }), ["new"]);
      const named = {
        context: restFacts(["doc:none$public|boolean:true", "user:al#boss@user:jo"]),
      };
      assert.deepEqual(await ids("doc:none public user", named), [
        "Zed",
        "ada",
        "al",
        "bob",
        "eve",
        "jo",
        "root",
        "root.boss",
      ]);
    });

    test("a rule that holds finds all subjects, one that does not finds none", async () => {
      const asked = { arguments: [{ computed_attribute: { name: "level" } }] };
      const least = (value: number): object => ({ ...asked, context: { data: { least: value } } });
      assert.deepEqual(await ids("doc:memo above user", least(6)), everybody);
      assert.deepEqual(await ids("doc:memo above user", least(7)), []);
      assert.deepEqual(await ids("doc:memo fits user", { context: { data: { least: 7 } } }), [
        "eve",
      ]);
    });

    test("a rule that fails fails the page of those whose answer depends on it", async () => {
      assert.match(
        await refusal("doc:memo fits user"),
        /^ERROR_CODE_RULE_EVALUATION: permission: `doc:memo#fits` depends on .*rule `above`/,
      );
      const other = await app.tenant(schema);
      await write(["doc:1#owner@user:a", "doc:1#owner@user:b", "user:c#boss@user:a"], other);
      const body = { ...request("doc:1 fits user", { page_size: 2 }), metadata: {} };
      const first = await ask(body, other);
      assert.deepEqual(idsOf(first), ["a", "b"]);
      const token = { continuous_token: first.text("continuous_token") };
      const next = await ask({ ...body, ...token }, other);
      assert.match(next.message, /^ERROR_CODE_RULE_EVALUATION: /);
    });

    test("a path that is too long for the depth is an error", async () => {
      const metadata = { snap_token: snapToken, depth: 2 };
      assert.match(
        await refusal("doc:plan view user", { metadata }),
        /^ERROR_CODE_DEPTH_NOT_ENOUGH: metadata.depth: `doc:plan#view` \(permission\) .*2 hops/,
      );
      assert.deepEqual(await ids("folder:root view user", { metadata }), ["ada", "bob"]);
    });

    test("pages of every size hold the same, in the state of the first", async () => {
      const many = await app.tenant(schema);
      const users = ["a", "B", "c.1", "_", "10", "9", "gone"];
      for (const pageSize of [1, 2, 3, 7, 8]) {
        await write(
          ["doc:1#viewer@group:z#member", ...users.map((id) => `group:z#member@user:${id}`)],
          many,
        );
        const body = { ...request("doc:1 view user"), metadata: {}, page_size: pageSize };
        const found: string[] = [];
        let token = "";
        do {
          const page = await ask({ ...body, continuous_token: token }, many);
          assert.equal(page.status, 200, page.message);
          found.push(...idsOf(page));
          token = page.text("continuous_token");
          const all = { tuple_filter: { entity: { type: "group" } }, attribute_filter: {} };
          await app.post(`${many}/data/delete`, all);
          await write(["doc:1#viewer@user:new"], many);
        } while (token !== "");
        const before = pageSize === 1 ? [] : ["new"];
        assert.deepEqual(found, [...users, ...before].toSorted());
      }
    });

    test("a token of another query, tenant or endpoint gives 400", async () => {
      const other = await app.tenant(schema);
      const body = request("doc:plan view user", { page_size: 1 });
      const token = { continuous_token: (await ask(body)).text("continuous_token") };
      const endpoint = `${path}/permissions/lookup-subject`;
      for (const [url, changed] of [
        [endpoint, { permission: "seen" }],
        [endpoint, { entity: { type: "doc", id: "memo" } }],
        [endpoint, { subject_reference: { type: "group", relation: "member" } }],
        [endpoint, { context: restFacts(["doc:plan#viewer@user:new"]) }],
        [endpoint, { metadata: {} }],
        [`${other}/permissions/lookup-subject`, {}],
        [
          `${path}/permissions/lookup-entity`,
          { entity_type: "doc", subject: { type: "user", id: "ada" } },
        ],
      ] as const) {
        const { status, message } = await app.post(url, { ...body, ...changed, ...token });
        assert.equal(status, 400);
        assert.match(message, /^ERROR_CODE_INVALID_CONTINUOUS_TOKEN: continuous_token: /);
      }
      assert.deepEqual(idsOf(await ask({ ...body, ...token, page_size: 2 })), ["ada", "bob"]);
    });

    for (const [what, changed, message] of [
      ["no entity", { entity: null }, /^ERROR_CODE_VALIDATION: entity: is missing/],
      ["no permission", { permission: "" }, /^ERROR_CODE_VALIDATION: permission: is missing/],
      [
        "no reference",
        { subject_reference: null },
        /^ERROR_CODE_VALIDATION: subject_reference: is missing/,
      ],
      [
        "no subject type",
        { subject_reference: {} },
        /^ERROR_CODE_VALIDATION: subject_reference.type: is missing/,
      ],
      [
        "a bad relation",
        { subject_reference: { type: "user", relation: "a b" } },
        /^ERROR_CODE_VALIDATION: subject_reference.relation: /,
      ],
      ["an empty page", { page_size: 0 }, /^ERROR_CODE_VALIDATION: page_size: 0 is too small/],
      [
        "an unknown entity type",
        { entity: { type: "page", id: "1" } },
        /^ERROR_CODE_ENTITY_TYPE_NOT_FOUND: entity.type: `page` /,
      ],
      [
        "an unknown permission",
        { permission: "fly" },
        /^ERROR_CODE_PERMISSION_NOT_FOUND: permission: .*`fly`/,
      ],
      [
        "an unknown subject type",
        { subject_reference: { type: "bot" } },
        /^ERROR_CODE_SUBJECT_TYPE_NOT_FOUND: subject_reference.type: `bot` /,
      ],
      [
        "an unknown subject relation",
        { subject_reference: { type: "group", relation: "chief" } },
        /^ERROR_CODE_RELATION_DEFINITION_NOT_FOUND: subject_reference.relation: /,
      ],
      [
        "a rule without its arguments",
        { permission: "above" },
        /^ERROR_CODE_MISSING_ARGUMENT: arguments: /,
      ],
    ] as const) {
      test(`${what} gives 400`, async () => {
        assert.match(await refusal("doc:plan view user", changed), message);
      });
    }
  });
}

function idsOf(answer: Answer): readonly string[] {
  const found: unknown = Reflect.get(Object(answer.body), "subject_ids");
  return Array.isArray(found) ? found.map(String) : assert.fail(JSON.stringify(answer.body));
}

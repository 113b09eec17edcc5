import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Answer, engines, type TestApp } from "../support/engines.ts";
import { restFacts } from "../support/rest-facts.ts";

const schema = `
entity user {}
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
  relation banned @user
  attribute public boolean
  attribute level integer
  permission view = (viewer or folder.view) not banned
  permission both = viewer and folder.view
  permission open = public
  permission calm = low(level)
  permission bold = high(level)
  permission fits = owner or above(level)
}
rule low(level integer) { level < 3 }
rule high(level integer) { level > 5 }
rule above(level integer) { level > context.data.least }
rule now() { context.data.now }
`;

const facts = [
  "group:crew#member@user:ada",
  "group:crew#member@group:team#member",
  "group:team#member@user:bob",
  "group:team#member@group:crew#member",
  "folder:root#viewer@group:crew#member",
  "folder:sub#parent@folder:root",
  "folder:loop#parent@folder:sub",
  "folder:sub#parent@folder:loop",
  "doc:plan#folder@folder:loop",
  "doc:plan#viewer@user:ada",
  "doc:memo#folder@folder:sub",
  "doc:memo#banned@user:ada",
  "doc:note#viewer@group:crew#member",
  "doc:Zoo#owner@user:bob",
  "doc:-#owner@user:bob",
  "doc:news$public|boolean:true",
  "doc:memo$public|boolean:false",
  "doc:plan$level|integer:7",
  "doc:memo$level|integer:3",
];

/** `type:id` or `type:id#relation`. */
function subjectOf(text: string): object {
  const [, type, id, relation] = /^(\w+):([^#]+)#?(\w*)$/.exec(text) ?? assert.fail(text);
  return { type, id, relation };
}

for (const engine of engines) {
  describe(`lookup-entity on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;
    let snapToken: string;

    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      const written = await write(facts);
      snapToken = written.text("snap_token");
    });
    after(() => app.close());

    async function write(lines: readonly string[], at = path): Promise<Answer> {
      const answer = await app.post(`${at}/data/write`, { metadata: {}, ...restFacts(lines) });
      assert.equal(answer.status, 200, answer.message);
      return answer;
    }

    /** The request for `<permission> <entity type> <subject>`. */
    function request(asked: string, more: object = {}): object {
      const [permission, entityType, subject = ""] = asked.split(" ");
      return {
        metadata: { snap_token: snapToken },
        entity_type: entityType,
        permission,
        subject: subjectOf(subject),
        ...more,
      };
    }

    async function ask(body: object, at = path): Promise<Answer> {
      return await app.post(`${at}/permissions/lookup-entity`, body);
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

    /** All pages, each of them put down. */
    async function pages(body: object, pageSize: number): Promise<readonly (readonly string[])[]> {
      const found: (readonly string[])[] = [];
      let token = "";
      do {
        const page = await ask({ ...body, page_size: pageSize, continuous_token: token });
        assert.equal(page.status, 200, page.message);
        found.push(idsOf(page));
        token = page.text("continuous_token");
      } while (token !== "");
      return found;
    }

    for (const [asked, found] of [
      ["view doc user:ada", ["note", "plan"]],
      ["view doc user:bob", ["memo", "note", "plan"]],
      ["view doc user:eve", []],
      ["view folder user:bob", ["loop", "root", "sub"]],
      ["both doc user:ada", ["plan"]],
      ["both doc user:bob", []],
      ["owner doc user:bob", ["-", "Zoo"]],
      ["member group user:bob", ["crew", "team"]],
      ["view doc group:team#member", ["memo", "note", "plan"]],
      ["view doc group:other#member", []],
      ["open doc user:eve", ["news"]],
      ["public doc user:eve", ["news"]],
      ["bold doc user:eve", ["plan"]],
    ] as const) {
      test(`${asked} finds ${found.join(", ") || "nothing"}`, async () => {
        assert.deepEqual(await ids(asked), found);
      });
    }

    test("a rule is asked of the defaults of an entity that has no attribute", async () => {
      assert.deepEqual(await ids("calm doc user:eve"), ["-", "Zoo", "news", "note"]);
      const first = {
        context: restFacts(["doc:first#owner@user:ada", "doc:news$level|integer:9"]),
      };
      assert.deepEqual(await ids("calm doc user:eve", first), ["-", "Zoo", "first", "note"]);
    });

    test("a userset finds itself, and the question makes it known", async () => {
      assert.deepEqual(await ids("member group group:outsider#member"), ["outsider"]);
      assert.deepEqual(await ids("member group group:team#member"), ["crew", "team"]);
    });

    test("a rule without parameters is asked of everything that is known", async () => {
      const context = { data: { now: true } };
      assert.deepEqual(await ids("now folder user:eve", { context }), ["loop", "root", "sub"]);
      assert.deepEqual(await ids("now user user:eve", { context }), ["ada", "bob", "eve"]);
      assert.deepEqual(await ids("now user user:eve", { context: { data: { now: false } } }), []);
    });

    test("contextual tuples and attributes make entities known, and attributes override", async () => {
      const context = restFacts([
        "doc:draft#viewer@group:crew#member",
        "doc:news$public|boolean:false",
        "doc:sketch$public|boolean:true",
        "group:team#member@user:eve",
      ]);
      assert.deepEqual(await ids("view doc user:eve", { context }), [
        "draft",
        "memo",
        "note",
        "plan",
      ]);
      assert.deepEqual(await ids("open doc user:eve", { context }), ["sketch"]);
    });

    test("a scope limits the ids of a type wherever it leads through", async () => {
      const within = (scope: object): Promise<readonly string[]> =>
        ids("view doc user:bob", { scope });
      assert.deepEqual(await within({ doc: { data: ["plan", "memo", "unknown"] } }), [
        "memo",
        "plan",
      ]);
      assert.deepEqual(await within({ folder: { data: ["root", "sub"] } }), ["memo", "note"]);
      assert.deepEqual(await within({ group: { data: ["team"] } }), []);
      const open = { group: { data: [] }, folder: {}, user: { data: ["outsider"] } };
      assert.deepEqual(await within(open), ["memo", "note", "plan"]);
      assert.deepEqual(
        await ids("calm doc user:eve", { scope: { doc: { data: ["news", "plan", "new"] } } }),
        ["news"],
      );
    });

    test("a path that is too long for the depth fails the page that it would add to", async () => {
      const metadata = { snap_token: snapToken, depth: 2 };
      assert.match(
        await refusal("view folder user:ada", { metadata }),
        /^ERROR_CODE_DEPTH_NOT_ENOUGH: metadata.depth: `folder:loop#view` \(permission\) .*2 hops/,
      );
      const inScope = { metadata, scope: { folder: { data: ["root"] } } };
      assert.deepEqual(await ids("view folder user:ada", inScope), ["root"]);
      // One hop to the crew; nothing else leads to her.
      const direct = { metadata: { snap_token: snapToken, depth: 1 } };
      assert.deepEqual(await ids("viewer doc user:ada", direct), ["note", "plan"]);
    });

    test("a rule that fails fails the page that it is on, when the answer depends on it", async () => {
      assert.match(
        await refusal("fits doc user:bob"),
        /^ERROR_CODE_RULE_EVALUATION: permission: `doc:memo#fits` depends on .*rule `above` at `doc:memo`/,
      );
      const owned = request("fits doc user:bob", { page_size: 2 });
      const first = await ask(owned);
      assert.deepEqual(idsOf(first), ["-", "Zoo"]);
      const next = await ask({ ...owned, continuous_token: first.text("continuous_token") });
      assert.equal(next.status, 400);
      assert.match(next.message, /^ERROR_CODE_RULE_EVALUATION: /);
      const context = { data: { least: 4 } };
      assert.deepEqual(await ids("fits doc user:bob", { context }), ["-", "Zoo", "plan"]);
    });

    test("an id that a cycle through a negation leaves undefined is an error", async () => {
      const odd = await app.tenant(`
        entity user {}
        entity folder {
          relation parent @folder
          relation viewer @user
          permission view = viewer not parent.view
        }
      `);
      await write(
        ["folder:a#viewer@user:ada", "folder:b#parent@folder:a", "folder:b#viewer@user:ada"],
        odd,
      );
      const all = { ...request("view folder user:ada"), metadata: {} };
      assert.deepEqual(idsOf(await ask(all, odd)), ["a"]);
      await write(["folder:c#viewer@user:ada", "folder:c#parent@folder:c"], odd);
      const { status, message } = await ask(all, odd);
      assert.equal(status, 400);
      assert.match(message, /^ERROR_CODE_UNDEFINED_RESULT: permission: `folder:c#view` /);
    });

    test("pages of every size hold the same, in the state and schema of the first", async () => {
      const many = await app.tenant(schema);
      const first = ["a", "B", "c.1", "_", "10", "9"].map((id) => `doc:${id}#viewer@user:ada`);
      await write([...first, "doc:gone#viewer@user:ada"], many);
      for (const pageSize of [1, 2, 3, 6, 7, 100]) {
        const body = { ...request("view doc user:ada"), metadata: {}, page_size: pageSize };
        const found: string[] = [];
        let token = "";
        do {
          const page = await ask({ ...body, continuous_token: token }, many);
          assert.equal(page.status, 200, page.message);
          found.push(...idsOf(page));
          token = page.text("continuous_token");
          const away = { tuple_filter: { entity: { type: "doc", ids: ["gone", "new"] } } };
          await app.post(`${many}/data/delete`, { ...away, attribute_filter: {} });
          await write(["doc:d#viewer@user:eve", `doc:new#viewer@user:ada`], many);
          const narrow = schema.replace("(viewer or folder.view)", "folder.view");
          assert.equal((await app.post(`${many}/schemas/write`, { schema: narrow })).status, 200);
        } while (token !== "");
        assert.deepEqual(found, ["10", "9", "B", "_", "a", "c.1", "gone"]);
        await app.post(`${many}/schemas/write`, { schema });
        await write(["doc:gone#viewer@user:ada"], many);
        const newer = { tuple_filter: { entity: { type: "doc", ids: ["new"] } } };
        await app.post(`${many}/data/delete`, { ...newer, attribute_filter: {} });
      }
    });

    test("a page that is full of all there is has no token", async () => {
      const body = request("view doc user:bob");
      assert.deepEqual(await pages(body, 3), [["memo", "note", "plan"]]);
      assert.deepEqual(await pages(body, 2), [["memo", "note"], ["plan"]]);
      assert.deepEqual(await pages(request("view doc user:eve"), 1), [[]]);
    });

    test("a token of another query, tenant or endpoint gives 400", async () => {
      const other = await app.tenant(schema);
      const body = request("view doc user:bob", { page_size: 1 });
      const token = { continuous_token: (await ask(body)).text("continuous_token") };
      const permissions = `${path}/permissions`;
      for (const [endpoint, changed] of [
        [`${permissions}/lookup-entity`, { permission: "viewer" }],
        [`${permissions}/lookup-entity`, { entity_type: "folder" }],
        [`${permissions}/lookup-entity`, { subject: subjectOf("user:ada") }],
        [`${permissions}/lookup-entity`, { scope: { doc: { data: ["plan"] } } }],
        [`${permissions}/lookup-entity`, { context: { data: { least: 1 } } }],
        [`${permissions}/lookup-entity`, { metadata: {} }],
        [`${permissions}/lookup-entity`, { metadata: { snap_token: snapToken, depth: 7 } }],
        [`${other}/permissions/lookup-entity`, {}],
        [`${permissions}/lookup-entity-stream`, {}],
        [
          `${permissions}/lookup-subject`,
          { entity: { type: "doc", id: "plan" }, subject_reference: { type: "user" } },
        ],
      ] as const) {
        const answer = await app.post(endpoint, { ...body, ...changed, ...token });
        assert.equal(answer.status, 400);
        const text = JSON.stringify(answer.body);
        assert.match(text, /"ERROR_CODE_INVALID_CONTINUOUS_TOKEN: continuous_token: /);
      }
      const larger = await ask({ ...body, ...token, page_size: 2 });
      assert.deepEqual(idsOf(larger), ["note", "plan"]);
    });

    for (const [what, changed, message] of [
      ["no metadata", { metadata: null }, /^ERROR_CODE_VALIDATION: metadata: /],
      ["no entity type", { entity_type: "" }, /^ERROR_CODE_VALIDATION: entity_type: is missing/],
      ["a bad entity type", { entity_type: "doc-1" }, /^ERROR_CODE_VALIDATION: entity_type: /],
      ["no permission", { permission: null }, /^ERROR_CODE_VALIDATION: permission: is missing/],
      ["no subject", { subject: null }, /^ERROR_CODE_VALIDATION: subject: is missing/],
      [
        "a bad subject id",
        { subject: { type: "user", id: "a b" } },
        /^ERROR_CODE_VALIDATION: subject.id: /,
      ],
      ["a negative depth", { metadata: { depth: -1 } }, /^ERROR_CODE_VALIDATION: metadata.depth: /],
      ["an empty page", { page_size: 0 }, /^ERROR_CODE_VALIDATION: page_size: 0 is too small/],
      ["a token of nothing", { continuous_token: "x" }, /^ERROR_CODE_INVALID_CONTINUOUS_TOKEN: /],
      ["a scope that is no list", { scope: { doc: ["1"] } }, /^ERROR_CODE_VALIDATION: scope.doc: /],
      [
        "a bad id in a scope",
        { scope: { doc: { data: ["a", "b c"] } } },
        /^ERROR_CODE_VALIDATION: scope.doc.data\[1\]: /,
      ],
      ["a bad type in a scope", { scope: { "d-1": {} } }, /^ERROR_CODE_VALIDATION: scope: `d-1` /],
      [
        "an unknown entity type",
        { entity_type: "page" },
        /^ERROR_CODE_ENTITY_TYPE_NOT_FOUND: entity_type: `page` /,
      ],
      [
        "an unknown permission",
        { permission: "fly" },
        /^ERROR_CODE_PERMISSION_NOT_FOUND: permission: .*`fly`/,
      ],
      [
        "an unknown subject type",
        { subject: { type: "bot", id: "1" } },
        /^ERROR_CODE_SUBJECT_TYPE_NOT_FOUND: subject.type: `bot` /,
      ],
      [
        "an unknown subject relation",
        { subject: { type: "group", id: "1", relation: "boss" } },
        /^ERROR_CODE_RELATION_DEFINITION_NOT_FOUND: subject.relation: /,
      ],
      [
        "an unknown type in a scope",
        { scope: { page: { data: ["1"] } } },
        /^ERROR_CODE_ENTITY_TYPE_NOT_FOUND: scope: `page` /,
      ],
      [
        "an attribute that is no boolean",
        { permission: "level" },
        /^ERROR_CODE_PERMISSION_NOT_FOUND: permission: /,
      ],
      [
        "a rule with parameters",
        { permission: "low" },
        /^ERROR_CODE_MISSING_ARGUMENT: permission: /,
      ],
      [
        "context that the schema lacks",
        { context: restFacts(["doc:1#editor@user:ada"]) },
        /^ERROR_CODE_RELATION_DEFINITION_NOT_FOUND: context.tuples\[0\].relation: /,
      ],
      [
        "a snap token of nothing",
        { metadata: { snap_token: "x" } },
        /^ERROR_CODE_INVALID_SNAP_TOKEN: metadata.snap_token: /,
      ],
    ] as const) {
      test(`${what} gives 400`, async () => {
        assert.match(await refusal("view doc user:ada", changed), message);
      });
    }

    test("an unknown tenant, schema version or no schema give 404", async () => {
      const body = { ...request("view doc user:ada"), metadata: {} };
      const bare = await app.tenant();
      for (const [at, changed, message] of [
        ["/v1/tenants/missing", {}, /^ERROR_CODE_TENANT_NOT_FOUND: /],
        [bare, {}, /^ERROR_CODE_SCHEMA_NOT_FOUND: /],
        [path, { metadata: { schema_version: "0".repeat(20) } }, /^ERROR_CODE_SCHEMA_NOT_FOUND: /],
      ] as const) {
        const answer = await ask({ ...body, ...changed }, at);
        assert.equal(answer.status, 404);
        assert.match(answer.message, message);
      }
    });
  });
}

function idsOf(answer: Answer): readonly string[] {
  const found: unknown = Reflect.get(Object(answer.body), "entity_ids");
  return Array.isArray(found) ? found.map(String) : assert.fail(JSON.stringify(answer.body));
}

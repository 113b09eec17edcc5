import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Answer, engines, type TestApp } from "../support/engines.ts";
import { type ProofBody, proofLines } from "../support/proof-lines.ts";
import { restFacts } from "../support/rest-facts.ts";

const schema = `entity user {}
entity group {
  relation member @user @group#member
}
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  permission view = viewer or parent.view
}
entity document {
  relation parent @folder
  relation writer @user
  relation owner @user @group#member
  relation banned @user
  attribute open boolean
  attribute level integer
  permission edit = owner or writer
  permission view = (edit or parent.view or (open and high(level))) not banned
  permission twice = writer or owner
  permission odd = owner and broken(level)
  permission deep = writer and parent.view
}
entity place {
  relation near @place
  relation next @place
  relation far @place
  relation last @place
  relation other @place
  relation viewer @user
  relation blocked @user
  permission left = viewer or next.left
  permission both = left and blocked
  permission view = viewer or near.both or far.view or last.left or other.view
  permission hidden = blocked or far.hidden
  permission seen = (viewer not far.hidden) or other.seen
}
rule high(level integer) { level > 3 }
rule broken(level integer) { 1 / level > 3 }
rule late(level integer) {

  // Sent with the question.
  level < context.data.limit
}
`;

/** Ada may view `r` by way of `h`, `t` and `u`, and by one place less by way of `l`. */
const places = [
  "r#near@place:t",
  "t#next@place:u",
  "u#viewer@user:ada",
  "r#far@place:f",
  "f#far@place:g",
  "g#far@place:h",
  "h#last@place:t",
  "r#other@place:i",
  "i#other@place:j",
  "j#other@place:k",
  "k#other@place:l",
  "l#viewer@user:ada",
  // Many names on one level, so that what is known is looked at there.
  ...Array.from({ length: 100 }, (_, index) => `g#far@place:g${index}`),
  "x#viewer@user:ada",
  "x#far@place:y",
  "y#far@place:z",
  "z#blocked@user:ada",
  "x#other@place:w",
  "w#viewer@user:ada",
].map((rest) => `place:${rest}`);

const facts = [
  "document:plan#parent@folder:b",
  "folder:b#parent@folder:a",
  "folder:a#viewer@group:staff#member",
  "group:staff#member@group:core#member",
  "group:core#member@user:ada",
  "group:core#member@user:eve",
  "document:plan#banned@user:eve",
  "document:plan#owner@group:x#member",
  "document:plan#owner@group:w#member",
  "group:x#member@user:bob",
  "group:w#member@user:bob",
  "document:plan#owner@user:cid",
  "document:plan#writer@user:cid",
  ...places,
  "document:plan$level|integer:2",
  "document:plan$open|boolean:true",
];

const { attributes: noLevel } = restFacts(["document:plan$level|integer:0"]);

interface Body {
  readonly can: string;
  readonly state: { readonly snap_token: string };
  readonly proof: ProofBody;
  readonly truncated: boolean;
}

for (const engine of engines) {
  describe(`explain on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;

    before(async () => {
      app = await engine.start();
      path = await app.tenant(schema);
      const written = await app.post(`${path}/data/write`, { metadata: {}, ...restFacts(facts) });
      assert.equal(written.status, 200, written.message);
    });
    after(() => app.close());

    const send = async (route: string, user: string, more: object): Promise<Answer> =>
      await app.post(`${path}/permissions/${route}`, {
        metadata: {},
        entity: { type: "document", id: "plan" },
        permission: "view",
        subject: { type: "user", id: user },
        ...more,
      });

    async function explain(user: string, more: object = {}): Promise<Body> {
      const answer = await send("explain", user, more);
      assert.equal(answer.status, 200, answer.message);
      const check = await send("check", user, more);
      const body = answer.body as Body;
      assert.equal(body.can, (check.body as Body).can);
      return body;
    }

    const linesOf = async (user: string, more: object = {}): Promise<readonly string[]> =>
      proofLines((await explain(user, more)).proof);

    test("an allowed check comes with the tuples of a shortest path, and with what denies the exclusion", async () => {
      assert.deepEqual(await linesOf("ada"), [
        "document:plan#view allowed EXCLUSION (edit or parent.view or (open and high(level))) not banned (18:21)",
        "  document:plan#view allowed UNION edit or parent.view or (open and high(level)) (18:22)",
        "    document:plan#view allowed WALK parent.view (18:30): document:plan#parent@folder:b",
        "      folder:b#view allowed UNION viewer or parent.view (8:21)",
        "        folder:b#view allowed WALK parent.view (8:31): folder:b#parent@folder:a",
        "          folder:a#view allowed UNION viewer or parent.view (8:21)",
        "            folder:a#viewer allowed USERSET viewer (8:21): folder:a#viewer@group:staff#member",
        "              group:staff#member allowed USERSET member (3:12): group:staff#member@group:core#member",
        "                group:core#member allowed TUPLE member (3:12): group:core#member@user:ada",
        "  document:plan#banned denied NO_TUPLE banned (18:73)",
      ]);
    });

    test("a denied check has each operand with the end of its branch", async () => {
      assert.deepEqual(await linesOf("dan"), [
        "document:plan#view denied EXCLUSION (edit or parent.view or (open and high(level))) not banned (18:21)",
        "  document:plan#view denied UNION edit or parent.view or (open and high(level)) (18:22)",
        "    document:plan#edit denied UNION owner or writer (17:21)",
        "      document:plan#owner denied USERSET owner (17:21)",
        "        document:plan#owner denied USERSET owner (17:21): document:plan#owner@group:w#member",
        "          group:w#member denied NO_TUPLE member (3:12)",
        "        document:plan#owner denied USERSET owner (17:21): document:plan#owner@group:x#member",
        "          group:x#member denied NO_TUPLE member (3:12)",
        "      document:plan#writer denied NO_TUPLE writer (17:30)",
        "    document:plan#view denied WALK parent.view (18:30): document:plan#parent@folder:b",
        "      folder:b#view denied UNION viewer or parent.view (8:21)",
        "        folder:b#viewer denied NO_TUPLE viewer (8:21)",
        "        folder:b#view denied WALK parent.view (8:31): folder:b#parent@folder:a",
        "          folder:a#view denied UNION viewer or parent.view (8:21)",
        "            folder:a#viewer denied USERSET viewer (8:21): folder:a#viewer@group:staff#member",
        "              group:staff#member denied USERSET member (3:12): group:staff#member@group:core#member",
        "                group:core#member denied NO_TUPLE member (3:12)",
        "            folder:a#view denied NO_TUPLE parent.view (8:31)",
        "    document:plan#view denied INTERSECTION open and high(level) (18:46)",
        "      document:plan#open allowed ATTRIBUTE open (18:46): open = true",
        "      document:plan#view denied RULE high(level) (18:55): high(level = 2)",
        "  document:plan#banned denied NO_TUPLE banned (18:73)",
      ]);
    });

    test("what is excluded has the proof that excludes it", async () => {
      const lines = await linesOf("eve");
      assert.equal(lines[0]?.startsWith("document:plan#view denied EXCLUSION"), true);
      assert.equal(lines[1]?.startsWith("  document:plan#view allowed UNION"), true);
      assert.equal(
        lines.at(-1),
        "  document:plan#banned allowed TUPLE banned (18:73): document:plan#banned@user:eve",
      );
    });

    test("of equally short proofs the one with the least tuple is taken, wherever it is written", async () => {
      const [, , , member] = await linesOf("bob");
      assert.equal(
        member,
        "      document:plan#owner allowed USERSET owner (17:21): document:plan#owner@group:w#member",
      );
      assert.deepEqual(await linesOf("cid", { permission: "twice" }), [
        "document:plan#twice allowed UNION writer or owner (19:22)",
        "  document:plan#owner allowed TUPLE owner (19:32): document:plan#owner@user:cid",
      ]);
    });

    test("of equally short proofs over usersets of one entity the one with the least relation is taken", async () => {
      const tenant = await app.tenant(`entity user {}
        entity group { relation member @user relation admin @user permission join = member }
        entity document {
          relation viewer @group#member @group#admin
          permission view = viewer
          permission either = viewer or viewer.join
        }`);
      const given = [
        "document:plan#viewer@group:x#member",
        "document:plan#viewer@group:x#admin",
      ].concat(["group:x#member@user:ada", "group:x#admin@user:ada"]);
      const written = { metadata: {}, ...restFacts(given) };
      assert.equal((await app.post(`${tenant}/data/write`, written)).status, 200);
      for (const permission of ["view", "either"]) {
        const answer = await app.post(`${tenant}/permissions/explain`, {
          metadata: {},
          entity: { type: "document", id: "plan" },
          permission,
          subject: { type: "user", id: "ada" },
        });
        assert.equal(answer.status, 200, answer.message);
        const [, second] = proofLines((answer.body as Body).proof);
        assert.match(second ?? "", /viewer@group:x#admin$/);
      }
    });

    test("a proof that is found first is not taken if a shorter one lies further", async () => {
      const lines = await linesOf("ada", { entity: { type: "place", id: "r" } });
      assert.deepEqual(
        lines.flatMap((line) => / WALK .*: (?<tuple>.*)/.exec(line)?.groups?.["tuple"] ?? []),
        ["place:r#other@place:i", "place:i#other@place:j", "place:j#other@place:k"].concat(
          "place:k#other@place:l",
        ),
      );
    });

    test("what is excluded further away is no proof", async () => {
      const asked = { entity: { type: "place", id: "x" }, permission: "seen" };
      const [, second] = await linesOf("ada", asked);
      assert.match(second ?? "", /place:x#seen allowed WALK other\.seen .*place:x#other@place:w/);
    });

    test("what is too deep, and what fails without effect on the answer, says so", async () => {
      assert.deepEqual(await linesOf("ada", { permission: "deep", metadata: { depth: 2 } }), [
        "document:plan#deep denied INTERSECTION writer and parent.view (21:21)",
        "  document:plan#writer denied NO_TUPLE writer (21:21)",
        "  document:plan#deep allowed DEPTH parent.view (21:32)",
      ]);
      const context = { attributes: noLevel };
      const lines = await linesOf("dan", { permission: "odd", context });
      assert.equal(
        lines.at(-1),
        "  document:plan#odd unspecified RULE broken(level) (20:30): broken(level = 0)",
      );
    });

    test("a tuple of the context is part of a proof like a stored one", async () => {
      const { tuples } = restFacts(["document:plan#writer@user:dan"]);
      const lines = await linesOf("dan", { permission: "edit", context: { tuples } });
      assert.deepEqual(lines, [
        "document:plan#edit allowed UNION owner or writer (17:21)",
        "  document:plan#writer allowed TUPLE writer (17:30): document:plan#writer@user:dan",
      ]);
    });

    test("a userset may be asked about, and a relation, an attribute and a rule by their names", async () => {
      const userset = { type: "group", id: "core", relation: "member" };
      const [, direct] = await linesOf("", { permission: "edit", subject: userset });
      assert.equal(direct, "  document:plan#owner denied USERSET owner (17:21)");
      const nested = { type: "folder", id: "a" };
      assert.deepEqual(
        await linesOf("", { entity: nested, permission: "viewer", subject: userset }),
        [
          "folder:a#viewer allowed USERSET viewer (7:12): folder:a#viewer@group:staff#member",
          "  group:staff#member allowed TUPLE member (3:12): group:staff#member@group:core#member",
        ],
      );
      const itself = { entity: { type: "group", id: "core" }, permission: "member" };
      assert.deepEqual(await linesOf("", { ...itself, subject: userset }), [
        "group:core#member allowed USERSET member (3:12)",
      ]);
      assert.deepEqual(await linesOf("dan", { permission: "open" }), [
        "document:plan#open allowed ATTRIBUTE open (15:13): open = true",
      ]);
      const asked = { permission: "high", arguments: [{ computed_attribute: { name: "level" } }] };
      assert.deepEqual(await linesOf("dan", asked), [
        "document:plan#high denied RULE high (37:6): high(level = 2)",
      ]);
    });

    test("a rule comes with its body and where that begins, without the blanks around it", async () => {
      const asked = { arguments: [{ computed_attribute: { name: "level" } }] };
      const high = await explain("dan", { ...asked, permission: "high" });
      const place = { expression: "level > 3", line: 37, column: 28 };
      const { values, ...shown } = high.proof.rule ?? assert.fail();
      assert.deepEqual(shown, { name: "high", ...place });
      assert.equal(values["level"]?.data, 2);
      const context = { data: { limit: 1 } };
      const late = await explain("dan", { ...asked, context, permission: "late" });
      const { expression, line, column } = late.proof.rule ?? assert.fail();
      assert.equal(expression, "// Sent with the question.\n  level < context.data.limit");
      assert.deepEqual([line, column], [41, 3]);
    });

    test("the state of the answer is the one that was read, and can be asked again", async () => {
      const before = await explain("fay", { permission: "edit" });
      assert.equal(before.can, "RESULT_DENIED");
      const granted = restFacts(["document:plan#writer@user:fay"]);
      await app.post(`${path}/data/write`, { metadata: {}, ...granted });
      assert.equal((await explain("fay", { permission: "edit" })).can, "RESULT_ALLOWED");
      const metadata = { snap_token: before.state.snap_token };
      assert.deepEqual(await explain("fay", { permission: "edit", metadata }), before);
    });

    test("a denial shows a tuple that grants nothing, as no such subject can have the other operand", async () => {
      const sealed = await app.tenant(`entity user {} entity seal {}
        entity group { relation member @user @group#member }
        entity document {
          relation owner @user @group#member
          relation editor @user
          relation sealed @seal
          permission view = owner or (editor and sealed)
        }`);
      const given = ["document:plan#editor@user:ada", "document:plan#owner@group:x#member"];
      const written = { metadata: {}, ...restFacts(given) };
      assert.equal((await app.post(`${sealed}/data/write`, written)).status, 200);
      const answer = await app.post(`${sealed}/permissions/explain`, {
        metadata: {},
        entity: { type: "document", id: "plan" },
        permission: "view",
        subject: { type: "user", id: "ada" },
      });
      assert.equal(answer.status, 200, answer.message);
      assert.deepEqual(proofLines((answer.body as Body).proof).slice(-3), [
        "  document:plan#view denied INTERSECTION editor and sealed (7:39)",
        "    document:plan#editor allowed TUPLE editor (7:39): document:plan#editor@user:ada",
        "    document:plan#sealed denied NO_TUPLE sealed (7:50)",
      ]);
    });

    test("it fails as a check does", async () => {
      const requests: readonly object[] = [
        { permission: "missing" },
        { subject: { type: "nobody", id: "ada" } },
        { metadata: { depth: 2 } },
        { metadata: { snap_token: "x" } },
        { metadata: { schema_version: "00000000000000000000" } },
        { entity: { type: "document" } },
        { permission: "high" },
        {
          permission: "odd",
          subject: { type: "user", id: "cid" },
          context: { attributes: noLevel },
        },
      ];
      for (const request of requests) {
        const [explained, checked] = [
          await send("explain", "ada", request),
          await send("check", "ada", request),
        ];
        assert.ok(checked.status >= 400, JSON.stringify(request));
        assert.equal(explained.status, checked.status, explained.message);
        assert.equal(explained.message, checked.message);
      }
    });
  });
}

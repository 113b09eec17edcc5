import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { widthOf } from "../../src/base/text-width.ts";
import { proofLayout } from "../../src/model-test/run/proof-layout.ts";
import type { ProofNode } from "../../src/store/explanation.ts";
import { type ClientScene, openClientScene } from "./client-scene.ts";

const schema = `entity user {}
entity group {
  relation member @user @group#member
}
entity folder {
  relation viewer @user
}
entity doc {
  relation owner @user
  relation parent @folder
  relation viewer @user @group#member
  relation banned @user
  attribute public boolean
  attribute label string
  permission edit = owner
  permission view = (edit or viewer or parent.viewer or public or is(label)) not banned
}
rule is(label string) { label == "open" }
`;

let scene: ClientScene;

before(async () => {
  scene = await openClientScene();
  const written = await scene.pemba(["schema", "write", "-"], schema);
  assert.equal(written.status, 0, written.stderr);
  const facts = [
    "doc:plan#viewer@group:staff#member",
    "group:staff#member@user:ada",
    "doc:plan#parent@folder:a",
    "doc:plan#owner@user:bad",
    "doc:plan#banned@user:bad",
  ];
  assert.equal((await scene.pemba(["tuple", "write", ...facts])).status, 0);
  const label = "doc:plan$label|string:\u001b[31mred";
  assert.equal((await scene.pemba(["attribute", "write", label])).status, 0);
});

after(async () => {
  await scene.close();
});

const view = "doc:plan#view = (edit or viewer or parent.viewer or public or is(label)) not banned";

test("explain prints a shortest proof of what is allowed, and ends with 0", async () => {
  const { status, stdout, stderr } = await scene.pemba(["explain", "doc:plan", "view", "user:ada"]);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.equal(
    stdout,
    `allowed

16:21  ✓ ${view}
16:22  ├─ ✓ edit or viewer or parent.viewer or public or is(label)
16:30  │  └─ ✓ doc:plan#viewer: doc:plan#viewer@group:staff#member
 3:12  │     └─ ✓ group:staff#member: group:staff#member@user:ada
16:82  └─ ✗ doc:plan#banned: no tuple
`,
  );
});

test("explain prints all that was tried of what is denied, and ends with 2", async () => {
  const { status, stdout } = await scene.pemba(["explain", "doc:plan", "view", "user:bob"]);
  assert.equal(status, 2);
  assert.equal(
    stdout,
    `denied

16:21  ✗ ${view}: the left side is denied
16:22  ├─ ✗ edit or viewer or parent.viewer or public or is(label)
15:21  │  ├─ ✗ doc:plan#edit = owner
15:21  │  │  └─ ✗ doc:plan#owner: no tuple
16:30  │  ├─ ✗ doc:plan#viewer: doc:plan#viewer@group:staff#member
 3:12  │  │  └─ ✗ group:staff#member: no tuple
16:40  │  ├─ ✗ parent.viewer: doc:plan#parent@folder:a
 6:12  │  │  └─ ✗ folder:a#viewer: no tuple
16:57  │  ├─ ✗ doc:plan#public: no value
16:67  │  └─ ✗ is(label): label = "\\u001b[31mred"
18:25  │       rule is: label == "open"
16:82  └─ ✗ doc:plan#banned: no tuple
`,
  );
  const excluded = await scene.pemba(["explain", "doc:plan", "view", "user:bad"]);
  assert.match(excluded.stdout, /: the right side is allowed, which excludes\n/);
  assert.match(excluded.stdout, /└─ ✓ doc:plan#banned: doc:plan#banned@user:bad\n/);
});

test("explain --json prints the answer of the server in a line", async () => {
  const words = ["explain", "doc:plan", "view", "user:bob", "--json"];
  const { status, stdout } = await scene.pemba(words);
  assert.equal(status, 2);
  assert.equal(stdout.trimEnd().split("\n").length, 1);
  const answer = JSON.parse(stdout) as { can: string; truncated: boolean; state: object };
  assert.deepEqual([answer.can, answer.truncated], ["RESULT_DENIED", false]);
  assert.ok("snap_token" in answer.state);
});

test("explain asks with a context and at a state, and ends with 1 after an error", async () => {
  const words = ["explain", "doc:plan", "view", "user:zoe"];
  const context = '{"tuples":["doc:plan#owner@user:zoe"]}';
  const allowed = await scene.pemba([...words, "--context", "-"], context);
  assert.equal(allowed.status, 0);
  assert.match(allowed.stdout, /doc:plan#owner: doc:plan#owner@user:zoe/);
  for (const mistake of [
    ["doc:plan", "nothing", "user:zoe"],
    ["doc:plan", "view"],
    ["doc:plan", "view", "user:zoe", "--snap-token", "x"],
  ]) {
    const { status, stdout, stderr } = await scene.pemba(["explain", ...mistake]);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /^pemba: [^\n]+\n$/);
  }
});

test("explain shows of a rule what it reads of the context, and its body once", async () => {
  const tenant = ["--tenant", "rules"];
  assert.equal((await scene.pemba(["tenant", "create", "rules"])).status, 0);
  const text = `entity user {}
entity record {
  attribute level integer
  permission read = cleared(level) or (listed(level) and cleared(level))
}
rule cleared(level integer) {
    level <= context.data.clearance.level &&
    // "context.data.unread"
      context.data["at"] != "context.data.other" &&
    context.data.words.exists(word, word == "x")
}
rule listed(level integer) { !has(context.data.nothing) }
`;
  assert.equal((await scene.pemba(["schema", "write", "-", ...tenant], text)).status, 0);
  const words = ["explain", "record:1", "read", "user:ada", "--context", "-", ...tenant];
  const data = { clearance: { level: -3 }, at: "noon", words: ["w".repeat(200)] };
  const { stdout } = await scene.pemba(words, JSON.stringify({ data }));
  const read = `level = 0, context.data.clearance.level = -3, context.data.at = "noon", context.data.words = ["${"w".repeat(78)}…`;
  assert.equal(
    stdout,
    `denied

 4:21  ✗ record:1#read = cleared(level) or (listed(level) and cleared(level))
 4:21  ├─ ✗ cleared(level): ${read}
  7:5  │    rule cleared: level <= context.data.clearance.level &&
       │      // "context.data.unread"
       │        context.data["at"] != "context.data.other" &&
       │      context.data.words.exists(word, word == "x")
 4:40  └─ ✗ listed(level) and cleared(level)
 4:40     ├─ ✓ listed(level): level = 0, context.data.nothing is missing
12:30     │    rule listed: !has(context.data.nothing)
 4:58     └─ ✗ cleared(level): ${read}
`,
  );
});

test("what a denial has shown already is not shown again, and the tree says so", async () => {
  const groups = ["group:a#member@group:b#member", "group:b#member@group:a#member"];
  const facts = ["doc:loop#viewer@group:a#member", "doc:loop#parent@folder:x", ...groups];
  assert.equal((await scene.pemba(["tuple", "write", ...facts])).status, 0);
  const { stdout } = await scene.pemba(["explain", "doc:loop", "view", "user:bob"]);
  assert.match(stdout, /group:b#member: group:b#member@group:a#member\n/);
  assert.ok(stdout.split("\n").length < 25, stdout);
});

test("an operator whose operands stand at another place of the tree says so", () => {
  const again: ProofNode = { ...chain(1), reason: "union", children: [] };
  const lastLine = (isTruncated: boolean): string | undefined =>
    [
      ...proofLayout(again, {
        width: 200,
        data: undefined,
        isTruncated,
        paint: (_verdict, mark) => mark,
      }),
    ].at(-1);
  assert.match(lastLine(false) ?? "", /: shown elsewhere$/);
  assert.match(lastLine(true) ?? "", /: shown elsewhere or left out$/);
});

/** A proof with a node in each of so many levels, whose ids have wide characters. */
function chain(levels: number): ProofNode {
  let node: ProofNode | undefined;
  for (let level = levels; level > 0; level--) {
    node = {
      entity: { type: "folder", id: `${level}-${"界".repeat(20)}` },
      name: "view",
      verdict: 0,
      reason: "walk",
      place: { text: "parent.view", position: { line: level, column: 1, field: undefined } },
      tuple: {
        entity: { type: "folder", id: String(level) },
        relation: "parent",
        subject: { type: "folder", id: "x".repeat(100), relation: "" },
      },
      children: node === undefined ? [] : [node],
    };
  }
  return node ?? assert.fail();
}

test("no line of a proof is wider than the terminal, however deep the tree is", () => {
  for (const width of [20, 60, 80, 200]) {
    const lines = [
      ...proofLayout(chain(200), {
        width,
        data: undefined,
        isTruncated: false,
        paint: (_verdict, mark) => mark,
      }),
    ];
    assert.ok(lines.filter((line) => / ✗ /.test(line)).length === 200);
    if (width > 20)
      assert.deepEqual(
        lines.filter((line) => widthOf(line) > width),
        [],
      );
    assert.ok(lines.join("").replaceAll(/[\s│]/g, "").includes("x".repeat(100)));
  }
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";

import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";
import { runCommand } from "../support/commands-process.ts";
import { runPemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";
import { type ClientScene, openClientScene } from "./client-scene.ts";

const schema = `entity user {}
entity group { relation member @user }
entity doc {
  relation viewer @user @group#member
  relation blocked @user
  attribute public boolean
  attribute level integer
  permission view = (viewer or public) not blocked
  permission low = is_low(level)
}
rule is_low(level integer) { level < int(context.data.limit) }
`;

let scene: ClientScene;

before(async () => {
  scene = await openClientScene();
  const written = await scene.pemba(["schema", "write", "-"], schema);
  assert.equal(written.status, 0, written.stderr);
  const facts = [
    "doc:plan#viewer@user:ada",
    "doc:plan#viewer@group:all#member",
    "doc:plan#blocked@user:bob",
    "doc:memo#viewer@user:ada",
    "group:all#member@user:bob",
    "group:all#member@user:eve",
  ];
  const { status, stderr } = await scene.pemba(["tuple", "write", ...facts]);
  assert.equal(status, 0, stderr);
});

after(async () => {
  await scene.close();
});

function contextFile(t: TestContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-context-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "context.json");
  writeFileSync(path, content);
  return path;
}

test("who says how usersets are asked if their type alone stands in no relation", async () => {
  const alone = await scene.pemba(["who", "doc:plan", "view", "group"]);
  assert.deepEqual(alone, {
    status: 0,
    stdout: "",
    stderr: "pemba: the schema has no relation to `group` alone, expected `group#member`\n",
  });
  const usersets = await scene.pemba(["who", "doc:plan", "view", "group#member"]);
  assert.deepEqual([usersets.stdout, usersets.stderr], ["all\n", ""]);
  const none = await scene.pemba(["who", "doc:other", "view", "user"]);
  assert.deepEqual([none.stdout, none.stderr], ["", ""]);
});

test("check ends with 0 if it is allowed and with 2 if it is denied", async () => {
  const allowed = await scene.pemba(["check", "doc:plan", "view", "user:ada"]);
  assert.deepEqual(allowed, { status: 0, stdout: "allowed\n", stderr: "" });
  const denied = await scene.pemba(["check", "doc:plan", "view", "user:bob"]);
  assert.deepEqual(denied, { status: 2, stdout: "denied\n", stderr: "" });
  const userset = await scene.pemba(["check", "doc:plan", "viewer", "group:all#member"]);
  assert.equal(userset.status, 0);
});

test("every question whose rule lacks a key says which flag takes it", async () => {
  for (const words of [
    ["check", "doc:plan", "low", "user:ada"],
    ["explain", "doc:plan", "low", "user:ada"],
    ["lookup", "doc", "low", "user:ada"],
  ]) {
    const { status, stderr } = await scene.pemba(words);
    assert.equal(status, 1, words.join(" "));
    assert.match(
      stderr,
      /`context\.data\.limit`, send it in `context\.data`, which the file of `--context FILE` has as `data`\n$/,
    );
  }
});

test("check --quiet prints nothing, and --json prints the answer of the server", async () => {
  const quiet = await scene.pemba(["check", "--quiet", "doc:plan", "view", "user:bob"]);
  assert.deepEqual(quiet, { status: 2, stdout: "", stderr: "" });
  const json = await scene.pemba(["check", "doc:plan", "view", "user:ada", "--json"]);
  const answer = JSON.parse(json.stdout) as { can: unknown; metadata: object };
  assert.equal(answer.can, "RESULT_ALLOWED");
  assert.ok("check_count" in answer.metadata);
});

test("check ends with 1 after an error, which is one line", async () => {
  const mistakes = [
    [["doc:plan", "view"], /expected ENTITY PERMISSION SUBJECT$/],
    [["doc", "view", "user:ada"], /`doc` is not an entity such as `document:1`$/],
    [["doc:plan", "view", "user:ada#"], /`user:ada#` is not a subject such as /],
    [["doc:plan", "view", "user:ada", "now"], /check: `now` is not understood$/],
    [["doc:plan", "edit", "user:ada"], /`doc` has no permission, relation or attribute `edit`$/],
    [["doc:plan", "viw", "user:ada"], /attribute `viw` \(did you mean `view`\?\)$/],
    [["doc:\u001b[31m\u009b", "view", "user:ada"], /id: `\\u001b\[31m\\u009b` is not an id /],
    [["doc:plan", "view", "user:ada", "--tenant", "t9"], /`t9`/],
    [["doc:plan", "view", "user:ada", "--snap-token", "x"], /snap_token/],
    [["doc:plan", "view", "user:ada", "--url", "localhost"], /^pemba: --url: `localhost` is not a/],
    [["doc:plan", "low", "user:ada"], /is_low/],
  ] as const;
  for (const [words, expected] of mistakes) {
    const { status, stdout, stderr } = await scene.pemba(["check", ...words]);
    assert.deepEqual([status, stdout], [1, ""], stderr);
    assert.match(stderr, /^pemba: [^\n]+\n$/);
    assert.match(stderr.trimEnd(), expected);
  }
});

test("a context counts for its question alone, with facts as text or as JSON", async (t) => {
  const context = contextFile(
    t,
    JSON.stringify({
      tuples: [
        "doc:plan#viewer@user:zoe",
        {
          entity: { type: "doc", id: "plan" },
          relation: "blocked",
          subject: { type: "user", id: "ada" },
        },
      ],
      attributes: ["doc:plan$level|integer:3"],
      data: { limit: 5 },
    }),
  );
  const answer = async (words: readonly string[]): Promise<string> =>
    (await scene.pemba(["check", ...words, "--context", context])).stdout.trim();
  assert.equal(await answer(["doc:plan", "view", "user:zoe"]), "allowed");
  assert.equal(await answer(["doc:plan", "view", "user:ada"]), "denied");
  assert.equal(await answer(["doc:plan", "low", "user:ada"]), "allowed");
  assert.equal((await scene.pemba(["check", "doc:plan", "view", "user:zoe"])).status, 2);
});

test("a context that cannot be read names its file and place", async (t) => {
  for (const [content, expected] of [
    ["{", /is not JSON/],
    ["[]", /is not a JSON object/],
    ['{"tuple":[]}', /`tuple` is none of/],
    ['{"tuples":["doc:1"]}', /tuples\[0\]: `doc:1` cannot be read/],
    ['{"attributes":["doc:1#viewer@user:a"]}', /attributes\[0\]: `[^`]*` belongs to the other/],
  ] as const) {
    const words = ["check", "doc:plan", "view", "user:a", "--context", contextFile(t, content)];
    const { status, stderr } = await scene.pemba(words);
    assert.equal(status, 1);
    assert.match(stderr, /^pemba: --context: `[^`]*context\.json` [^\n]*\n$/);
    assert.match(stderr, expected);
  }
});

test("a snap token asks at its state", async () => {
  const { stdout: token } = await scene.pemba(["tuple", "write", "doc:old#viewer@user:ada"]);
  await scene.pemba(["tuple", "delete", "doc:old#viewer@user:ada"]);
  const words = ["check", "doc:old", "view", "user:ada"];
  assert.equal((await scene.pemba(words)).stdout, "denied\n");
  assert.equal((await scene.pemba([...words, "--snap-token", token.trim()])).stdout, "allowed\n");
});

test("lookup lists the entities, and who the subjects, one in each line", async () => {
  assert.equal((await scene.pemba(["lookup", "doc", "view", "user:ada"])).stdout, "memo\nplan\n");
  assert.equal((await scene.pemba(["lookup", "doc", "view", "user:zoe"])).stdout, "");
  assert.equal((await scene.pemba(["who", "doc:plan", "view", "user"])).stdout, "ada\neve\n");
  assert.equal((await scene.pemba(["who", "doc:plan", "viewer", "group#member"])).stdout, "all\n");
  const json = await scene.pemba(["who", "doc:plan", "view", "user", "--json"]);
  assert.deepEqual(JSON.parse(json.stdout), {
    subject_ids: ["ada", "eve"],
    continuous_token: "",
  });
  const wrong = await scene.pemba(["who", "doc:plan", "view", "user:ada"]);
  assert.match(wrong.stderr, /^pemba: `user:ada` is not a type of subjects such as /);
});

test("lookup goes through all pages", async () => {
  const ids = Array.from({ length: 1_500 }, (_, index) => `p${String(index).padStart(4, "0")}`);
  const input = ids.map((id) => `doc:${id}#viewer@user:many`).join("\n");
  assert.equal((await scene.pemba(["import", "-"], input)).status, 0);
  const { stdout } = await scene.pemba(["lookup", "doc", "view", "user:many"]);
  assert.deepEqual(stdout.trimEnd().split("\n"), ids);
});

test("can lists each name of the entity with its answer", async () => {
  const { stdout } = await scene.pemba(
    ["can", "doc:memo", "user:ada", "--context", "-"],
    '{"data":{"limit":0}}',
  );
  assert.equal(stdout, "blocked  denied\nlow      denied\nview     allowed\nviewer   allowed\n");
});

test("can says which names cannot be answered beside those that can", async () => {
  const { status, stdout, stderr } = await scene.pemba(["can", "doc:memo", "user:ada"]);
  assert.deepEqual([status, stderr], [1, ""]);
  const rows = stdout.trimEnd().split("\n");
  assert.deepEqual(
    [rows[0], ...rows.slice(2)],
    ["blocked  denied", "view     allowed", "viewer   allowed"],
  );
  assert.match(
    rows[1] ?? "",
    /^low {6}error: .*`context\.data\.limit`.*the file of `--context FILE` has as `data`$/,
  );
  const json = await scene.pemba(["can", "doc:memo", "user:ada", "--json"]);
  const { results, errors } = JSON.parse(json.stdout) as { results: object; errors: object };
  assert.deepEqual([json.status, Object.keys(errors)], [1, ["low"]]);
  assert.deepEqual(results, {
    blocked: "RESULT_DENIED",
    view: "RESULT_ALLOWED",
    viewer: "RESULT_ALLOWED",
  });
  const wrong = await scene.pemba(["can", "other:memo", "user:ada"]);
  assert.deepEqual([wrong.status, wrong.stdout], [1, ""]);
});

test("can answers the other names if an attribute is stored with a type that the schema had before", async () => {
  const tenant = ["--tenant", "retyped"];
  const done = async (words: readonly string[], input?: string): Promise<void> => {
    const { status, stderr } = await scene.pemba([...words, ...tenant], input);
    assert.equal(status, 0, stderr);
  };
  assert.equal((await scene.pemba(["tenant", "create", "retyped"])).status, 0);
  await done(
    ["schema", "write", "-"],
    schema.replace(/level integer/g, "level string").replace(/level < .*limit\)/, "level < 'a'"),
  );
  await done(["attribute", "write", "doc:memo$level|string:high"]);
  await done(["schema", "write", "-"], schema);
  const asked = ["can", "doc:memo", "user:ada", ...tenant, "--context", "-"];
  const { status, stdout } = await scene.pemba(asked, '{"data":{"limit":0}}');
  assert.equal(status, 1);
  assert.match(
    stdout,
    /^blocked  denied\nlow {6}error: .*stored as `string`.*\nview {5}denied\nviewer {3}denied\n$/,
  );
});

test("can reports a mistake of the request once", async () => {
  const asked = ["can", "doc:memo", "user:ada", "--context", "-"];
  const { status, stdout, stderr } = await scene.pemba(
    asked,
    '{"attributes":["doc:memo$level|string:high"]}',
  );
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^pemba: [^\n]*context\.attributes\[0\][^\n]*\n$/);
});

test("expand prints the tree with its operators, subjects and values", async () => {
  const { stdout, stderr } = await scene.pemba(["expand", "doc:plan", "view"]);
  assert.equal(stderr, "");
  assert.equal(
    stdout,
    `doc:plan#view: exclusion, the first without the second
  union, any of
    doc:plan#viewer: relation with usersets
      group:all#member
        user:bob
        user:eve
      subjects of its own
        user:ada
        group:all#member
    doc:plan$public|boolean:false
  doc:plan#blocked
    user:bob
`,
  );
});

test("expand names what a walk asks, joins runs of an operator, and shows a permission of one operand", async () => {
  const tenant = ["--tenant", "expanded"];
  assert.equal((await scene.pemba(["tenant", "create", "expanded"])).status, 0);
  const schema = `entity user {}
entity ward { relation nurse @user }
entity record {
  relation ward @ward
  relation owner @user
  relation reader @user
  attribute level integer
  permission read = owner or reader or ward.nurse or low(level)
  permission edit = owner
}
rule low(level integer) { level < 2 }
`;
  assert.equal((await scene.pemba(["schema", "write", "-", ...tenant], schema)).status, 0);
  const facts = "record:1#ward@ward:w\nward:w#nurse@user:ann\nrecord:1#owner@user:bob\n";
  assert.equal((await scene.pemba(["import", "-", ...tenant], facts)).status, 0);
  const read = await scene.pemba(["expand", "record:1", "read", ...tenant]);
  assert.equal(
    read.stdout,
    `record:1#read: union, any of
  record:1#owner
    user:bob
  record:1#reader: no subjects
  record:1#ward: walk that asks nurse
    ward:w#nurse
      user:ann
  record:1#low: rule
    record:1$level|integer:0
`,
  );
  const edit = await scene.pemba(["expand", "record:1", "edit", ...tenant]);
  assert.equal(edit.stdout, "record:1#edit\n  record:1#owner\n    user:bob\n");
});

test("an answer that is neither allowed nor denied is an error", async (t) => {
  const other = createServer((_request, response) => {
    response.end('{"can":"CHECK_RESULT_ALLOWED","metadata":{"check_count":1}}');
  }).listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const address = other.address();
  assert.ok(typeof address === "object" && address !== null);
  const odd = `http://127.0.0.1:${address.port}`;
  const words = ["check", "doc:plan", "view", "user:ada", "--url", odd];
  const { status, stdout, stderr } = await scene.pemba(words);
  assert.deepEqual([status, stdout], [1, ""]);
  assert.match(stderr, /^pemba: http[^\n]*: the answer is not one of Pemba\n$/);
});

test("a server with a token and a certificate of its own is asked with --token and --ca", async (t) => {
  const made = await makeCertificate();
  const { cert, key } = certificateFolder(t, made);
  const words = ["--http-tls-enabled", "--http-tls-cert-path", cert, "--http-tls-key-path", key];
  const env = {
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "preshared",
    SERVICE_AUTHN_PRESHARED_KEYS: "secret-key",
  };
  const { url: secure } = await serveHere(t, words, env);
  const list = ["tenant", "list", "--url", secure];
  const trusted = await runPemba([...list, "--ca", cert, "--token", "secret-key"]);
  assert.deepEqual([trusted.status, trusted.stderr], [0, ""]);
  assert.match(trusted.stdout, /^t1 {2}\S+ {2}/);
  const variable = await runPemba([...list, "--ca", cert], { env: { PEMBA_TOKEN: "secret-key" } });
  assert.equal(variable.status, 0);
  const untrusted = await runCommand([...list, "--token", "secret-key"]);
  assert.deepEqual([untrusted.status, /certificate/.test(untrusted.stderr)], [1, true]);
  const refused = await runPemba([...list, "--ca", cert, "--token", "other"]);
  assert.equal(refused.status, 1);
  const missing = await runCommand([...list, "--ca", `${cert}.no`]);
  assert.match(missing.stderr, /^pemba: --ca: `[^`]*` cannot be used: /);
});

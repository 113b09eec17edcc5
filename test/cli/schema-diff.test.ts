import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";

import { startPemba, type StartedPemba } from "../../src/testing/start-pemba.ts";
import { runCommand } from "../support/commands-process.ts";
import { runPemba } from "../support/pemba.ts";

const old = `entity user {}
entity doc {
  relation owner @user
  relation viewer @user
  permission view = owner or viewer
}
`;

const changed = `entity user {}
entity doc {
  permission view = owner
  relation owner @user
  attribute public boolean
}
`;

let server: StartedPemba;
let url: string;

before(async () => {
  server = await startPemba();
  url = server.getRestUrl();
});

after(async () => await server.stop());

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-diff-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test("schema diff lists what vanishes, changes and is new, and ends with 2", async (t) => {
  const cwd = folderWith(t, { "old.perm": old, "new.perm": changed });
  const words = ["schema", "diff", "old.perm", "new.perm"];
  const { status, stdout, stderr } = await runPemba(words, { cwd });
  assert.deepEqual([status, stderr], [2, ""]);
  assert.equal(
    stdout,
    `- relation doc#viewer
~ permission doc#view
    was: owner or viewer
    is:  owner
+ attribute doc#public: boolean
`,
  );
  const json = await runCommand([...words, "--json"], { cwd });
  assert.equal(json.status, 2);
  assert.deepEqual(JSON.parse(json.stdout), {
    differences: [
      { kind: "removed", of: "relation", name: "doc#viewer", before: "@user" },
      {
        kind: "changed",
        of: "permission",
        name: "doc#view",
        before: "owner or viewer",
        after: "owner",
      },
      { kind: "added", of: "attribute", name: "doc#public", after: "boolean" },
    ],
  });
});

test("schema diff of schemas with one meaning ends with 0", async (t) => {
  const cwd = folderWith(t, { "old.perm": old });
  const words = ["schema", "diff", "old.perm", "-"];
  const input = old.replace("owner or viewer", "viewer or owner");
  const { status, stdout } = await runPemba(words, { cwd, input });
  assert.deepEqual([status, stdout], [0, "no difference\n"]);
});

test("schema diff shows a rule in one line, with its strings as they are and without its comments", async (t) => {
  const rule = (body: string): string => `entity user {}\nrule named(name string) {\n${body}\n}\n`;
  const cwd = folderWith(t, {
    "old.perm": rule(`  name == "a b" // Or\n    || name == "/"`),
    "new.perm": rule(`name == "a  b"/**/|| name == "/"`),
  });
  const { status, stdout } = await runCommand(["schema", "diff", "old.perm", "new.perm"], { cwd });
  assert.equal(status, 2);
  assert.equal(
    stdout,
    `~ rule named
    was: (name string) { name == "a b" || name == "/" }
    is:  (name string) { name == "a  b" || name == "/" }
`,
  );
});

test("schema diff ends with 1 for a file that does not compile", async (t) => {
  const cwd = folderWith(t, { "old.perm": old, "new.perm": changed.replace("@user", "@usr") });
  const { status, stderr } = await runCommand(["schema", "diff", "old.perm", "new.perm"], { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: new\.perm:4:19: [^\n]*`usr`[^\n]*\n$/);
  // Without a second file it asks a server, and no server runs there.
  const env = { PEMBA_URL: "http://127.0.0.1:1" };
  const alone = await runCommand(["schema", "diff", "old.perm"], { cwd, env });
  assert.deepEqual([alone.status, alone.stdout], [1, ""]);
});

test("schema graph prints the form that is asked", async (t) => {
  const cwd = folderWith(t, { "old.perm": old });
  const mermaid = await runPemba(["schema", "graph", "old.perm"], { cwd });
  assert.deepEqual([mermaid.status, mermaid.stdout.split("\n")[0]], [0, "flowchart LR"]);
  const dot = await runCommand(["schema", "graph", "old.perm", "--format", "dot"], { cwd });
  assert.deepEqual([dot.status, dot.stdout.split("\n")[0]], [0, "digraph schema {"]);
  const wrong = await runCommand(["schema", "graph", "old.perm", "--format", "svg"], { cwd });
  assert.equal(wrong.status, 1);
  assert.equal(wrong.stderr, "pemba: --format: expected mermaid or dot, not `svg`\n");
});

/** Makes a tenant with these facts, and returns the flags by which it is found. */
async function tenantWith(
  t: TestContext,
  { schema, facts }: { readonly schema: string; readonly facts: readonly string[] },
): Promise<readonly string[]> {
  const id = randomUUID();
  await post("create", { id, name: "" });
  await post(`${id}/schemas/write`, { schema });
  const flags = ["--url", url, "--tenant", id];
  const cwd = folderWith(t, { "facts.txt": facts.join("\n") });
  const { status, stderr } = await runCommand(["import", "facts.txt", ...flags], { cwd });
  assert.equal(status, 0, stderr);
  return flags;
}

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${url}/v1/tenants/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.text());
}

test("schema diff against a server begins with its head, and counts what uses a name that vanishes", async (t) => {
  const flags = await tenantWith(t, {
    schema: `${old}entity robot {\n relation maker @user\n}\n`,
    facts: [
      "doc:a#viewer@user:u",
      "doc:b#viewer@user:u",
      "doc:a#owner@user:u",
      "robot:r#maker@user:u",
    ],
  });
  const cwd = folderWith(t, { "old.perm": old, "new.perm": changed });
  const head = await runCommand(["schema", "diff", "new.perm", ...flags], { cwd });
  assert.deepEqual([head.status, head.stderr], [2, ""]);
  assert.equal(
    head.stdout,
    `- entity robot (used by 1 tuple)
- relation doc#viewer (used by 2 tuples)
~ permission doc#view
    was: owner or viewer
    is:  owner
+ attribute doc#public: boolean
`,
  );
  const words = ["schema", "diff", "old.perm", "new.perm", ...flags, "--json"];
  const files = await runCommand(words, { cwd });
  const [removed] = (JSON.parse(files.stdout) as { differences: unknown[] }).differences;
  assert.deepEqual(removed, {
    kind: "removed",
    of: "relation",
    name: "doc#viewer",
    before: "@user",
    uses: { tuples: 2, attributes: 0, limited: false },
  });
});

test("schema diff counts the tuples of a type that a relation no longer takes, and attributes", async (t) => {
  const text = (types: string, type: string): string =>
    `entity user {} entity team { relation member @user } entity doc { relation a ${types} attribute n ${type} }`;
  const flags = await tenantWith(t, {
    schema: text("@user @team @team#member", "integer"),
    facts: ["doc:x#a@team:t", "doc:x#a@team:t#member", "doc:x#a@user:u", "doc:x$n|integer:3"],
  });
  const cwd = folderWith(t, { "new.perm": text("@user @team#member", "string") });
  const { status, stdout } = await runCommand(["schema", "diff", "new.perm", ...flags], { cwd });
  assert.equal(status, 2);
  assert.equal(
    stdout,
    `~ relation doc#a (used by 1 tuple)
    was: @user @team @team#member
    is:  @user @team#member
~ attribute doc#n (used by 1 attribute)
    was: integer
    is:  string
`,
  );
});

test("schema diff says why a server does not answer", async (t) => {
  const cwd = folderWith(t, { "new.perm": changed });
  const words = ["schema", "diff", "new.perm", "--url", url];
  const empty = await runCommand(words, { cwd });
  assert.equal(empty.status, 1);
  assert.match(empty.stderr, /^pemba: [^\n]*schema[^\n]*\n$/);
  const tenant = await runCommand([...words, "--tenant", "missing"], { cwd });
  assert.deepEqual([tenant.status, /tenant/.test(tenant.stderr)], [1, true], tenant.stderr);
  const closed = await runCommand(["schema", "diff", "new.perm"], {
    cwd,
    env: { PEMBA_URL: "http://127.0.0.1:9" },
  });
  assert.equal(closed.status, 1);
  assert.match(closed.stderr, /^pemba: http:\/\/127\.0\.0\.1:9\/v1\/[^\n]*\n$/);
});

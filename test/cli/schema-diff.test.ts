import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

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
  const json = await runPemba([...words, "--json"], { cwd });
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

test("schema diff ends with 1 for a file that does not compile", async (t) => {
  const cwd = folderWith(t, { "old.perm": old, "new.perm": changed.replace("@user", "@usr") });
  const { status, stderr } = await runPemba(["schema", "diff", "old.perm", "new.perm"], { cwd });
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: new\.perm:4:19: [^\n]*`usr`[^\n]*\n$/);
  const alone = await runPemba(["schema", "diff", "old.perm"], { cwd });
  assert.deepEqual([alone.status, alone.stdout], [1, ""]);
});

test("schema graph prints the form that is asked", async (t) => {
  const cwd = folderWith(t, { "old.perm": old });
  const mermaid = await runPemba(["schema", "graph", "old.perm"], { cwd });
  assert.deepEqual([mermaid.status, mermaid.stdout.split("\n")[0]], [0, "flowchart LR"]);
  const dot = await runPemba(["schema", "graph", "old.perm", "--format", "dot"], { cwd });
  assert.deepEqual([dot.status, dot.stdout.split("\n")[0]], [0, "digraph schema {"]);
  const wrong = await runPemba(["schema", "graph", "old.perm", "--format", "svg"], { cwd });
  assert.equal(wrong.status, 1);
  assert.equal(wrong.stderr, "pemba: --format: expected mermaid or dot, not `svg`\n");
});

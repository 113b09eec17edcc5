import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { runCommand } from "../support/commands-process.ts";
import { type Finished, runPemba } from "../support/pemba.ts";

const doubtful = `entity user {}
entity document {
  relation owner @user
  relation Owner @user
  permission view = owner or Owner
}
`;

async function lint(
  t: TestContext,
  content: string | Buffer,
  words: readonly string[] = [],
): Promise<Finished & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "pemba-lint-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "schema.perm"), content);
  const finished = await runCommand(["schema", "lint", "schema.perm", ...words], { cwd: folder });
  return { ...finished, folder };
}

test("schema lint prints each finding with its place, severity and code, and a count", async (t) => {
  const { status, stdout, stderr } = await lint(t, doubtful);
  assert.deepEqual([status, stderr], [0, ""]);
  assert.equal(
    stdout,
    "schema.perm:4:12: warning: `Owner` differs from `owner` (3:12) by case alone (case-only)\n1 warning\n",
  );
});

test("schema lint ends with 1 for errors, and with --strict for warnings, but never for notes", async (t) => {
  assert.equal((await lint(t, doubtful, ["--strict"])).status, 1);
  const impossible = doubtful.replace("owner or Owner", "view");
  assert.equal((await lint(t, impossible)).status, 1);
  const noted = `entity user {}
entity document { relation a @user attribute tags string[] permission view = a and f(tags) }
rule f(tags string[]) { tags.exists(tag, tag == "a") }`;
  const { status, stdout } = await lint(t, noted, ["--strict"]);
  assert.deepEqual([status, stdout.trimEnd().split("\n").at(-1)], [0, "1 note"]);
});

test("schema lint without findings says so", async (t) => {
  const { status, stdout } = await lint(t, doubtful.replaceAll("Owner", "editor"));
  assert.deepEqual([status, stdout], [0, "no findings\n"]);
});

test("schema lint ends with 2 for a file that does not compile, with every fault", async (t) => {
  const broken = doubtful.replace("@user", "@usr").replace("or Owner", "or Owners");
  const { status, stdout } = await lint(t, broken);
  assert.equal(status, 2);
  assert.match(
    stdout,
    /^schema\.perm:3:19: error: [^\n]*`usr`[^\n]* \(schema-compile\)\nschema\.perm:5:30: error: [^\n]*\(schema-compile\)\n2 errors\n$/,
  );
  const syntax = await lint(t, "entity {");
  assert.deepEqual(
    [syntax.status, /\(schema-parse\)/.test(syntax.stdout)],
    [2, true],
    syntax.stdout,
  );
});

test("schema lint ends with 2 for a file that is not there or is not UTF-8", async (t) => {
  const binary = await lint(t, Buffer.from([0x65, 0xff, 0x0a]));
  assert.deepEqual([binary.status, /`schema\.perm` is not UTF-8/.test(binary.stdout)], [2, true]);
  const missing = await runCommand(["schema", "lint", "no-such.perm"]);
  assert.deepEqual(
    [missing.status, /`no-such\.perm` is not there/.test(missing.stdout)],
    [2, true],
  );
});

test("schema lint reads standard input, and a byte order mark moves no column", async () => {
  const { status, stdout } = await runPemba(["schema", "lint", "-"], {
    input: `\uFEFFentity user {} entity robot {} entity d { relation a @user }`,
  });
  assert.equal(status, 0);
  assert.match(stdout, /^-:1:23: warning: /);
});

test("schema lint as JSON is for programs, and may go to a file beside another report", async (t) => {
  const reports = ["--report", "json=lint.json", "--report", "github"];
  const { status, stdout, folder } = await lint(t, doubtful, reports);
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "lint.json"), "utf8")), {
    errors: 0,
    warnings: 1,
    notes: 0,
    findings: [
      {
        file: "schema.perm",
        line: 4,
        column: 12,
        end_column: 17,
        severity: "warning",
        code: "case-only",
        message: "`Owner` differs from `owner` (3:12) by case alone",
      },
    ],
  });
  assert.equal(
    stdout,
    "::warning file=schema.perm,line=4,col=12,endColumn=17,title=pemba schema lint%3A case-only::`Owner` differs from `owner` (3:12) by case alone\n",
  );
});

test("what schema lint does not understand is one line and status 2", async (t) => {
  const mistakes = [
    [["--report", "xml"], /^pemba: --report: expected human, json or github, not `xml`$/],
    [["--stric"], /^pemba: --stric: no such flag \(did you mean `--strict`\?\)$/],
    [["--strict=maybe"], /^pemba: --strict: expected /],
    [["--report", "json=no-such-folder/lint.json"], /^pemba: --report: `[^`]*` cannot be written/],
  ] as const;
  for (const [words, expected] of mistakes) {
    const { status, stderr } = await lint(t, doubtful, words);
    assert.equal(status, 2, stderr);
    assert.match(stderr.trimEnd(), expected);
  }
  const { status, stderr } = await runPemba(["schema", "lint"]);
  assert.deepEqual([status, /expected a file/.test(stderr)], [2, true]);
});

test("schema without a part that it knows lists the parts", async () => {
  const { status, stderr } = await runCommand(["schema", "lnt"]);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^pemba: schema: expected lint[^\n]*, not `lnt` \(did you mean `lint`\?\)\n$/,
  );
  const { stdout } = await runCommand(["help", "schema", "lint"]);
  assert.match(stdout, /^usage: pemba schema lint FILE/);
});

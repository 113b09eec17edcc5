import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

import { connect, untilWaiting } from "../store/open-write.ts";
import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { type Finished, runPemba, startPemba } from "../support/pemba.ts";

const schema = `entity user {}
entity doc {
  relation owner @user
  relation viewer @user
  relation banned @user
  permission view = (owner or viewer) not banned
}
`;

/** All answers of it are right. */
const good = `schema: doc.perm
relationships: ["doc:1#owner@user:ann", "doc:1#viewer@user:bob", "doc:1#viewer@user:bad", "doc:1#banned@user:bad"]
scenarios:
  - name: sharing
    checks:
      - {entity: "doc:1", subject: "user:ann", assertions: {view: true, owner: true}}
    entity_filters:
      - {entity_type: doc, subject: "user:eve", assertions: {view: []}}
    subject_filters:
      - {subject_reference: user, entity: "doc:1", assertions: {view: [bob, ann]}}
`;

const bad = `schema: doc.perm
relationships: ["doc:1#owner@user:ann"]
scenarios:
  - name: "50% <done>, ok"
    checks:
      - {entity: "doc:1", subject: "user:eve", assertions: {view: true, edit: false}}
    subject_filters:
      - {subject_reference: user, entity: "doc:1", assertions: {view: []}}
`;

function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-test-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ "doc.perm": schema, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function testIn(cwd: string, ...words: readonly string[]): Promise<Finished> {
  return await runCommand(["test", ...words], { cwd });
}

test("pemba test ends with 0 if every answer is as asserted", async (t) => {
  const cwd = folderWith(t, { "good.yaml": good });
  assert.deepEqual(await testIn(cwd, "good.yaml"), {
    status: 0,
    stdout: "ok   good.yaml: 4 of 4 passed\n4 passed, 0 failed\n",
    stderr: "",
  });
});

test("pemba test says where a file gives what a rule lacks", async (t) => {
  const cwd = folderWith(t, {
    "doc.perm":
      "entity user {}\nentity doc { attribute day integer permission view = open(day) }\nrule open(day integer) { context.data.day == 1 }",
    "lacking.yaml": `schema: doc.perm
scenarios:
  - name: days
    checks:
      - {entity: "doc:1", subject: "user:ann", assertions: {view: true}}
      - {entity: "doc:1", subject: "user:ann", context: {data: {day: 1}}, assertions: {view: true}}
`,
  });
  const { status, stdout } = await testIn(cwd, "lacking.yaml");
  assert.equal(status, 1);
  assert.match(stdout, /1 of 2 passed/);
  assert.match(
    stdout,
    /send it in `context\.data`: in the file, `context: \{data: \{\.\.\.\}\}` beside `assertions`$/m,
  );
});

test("pemba test shows what was expected, what was got and why, and ends with 1", async (t) => {
  const cwd = folderWith(t, { "good.yaml": good, "bad.yaml": bad });
  const { status, stdout } = await runPemba(["test", "good.yaml", "bad.yaml"], { cwd });
  assert.equal(status, 1);
  assert.equal(
    stdout,
    `ok   good.yaml: 4 of 4 passed
FAIL bad.yaml: 0 of 3 passed
  bad.yaml:6:61: 50% <done>, ok: user:eve view doc:1
    expected  ALLOWED
    got       DENIED
      6:21  ✗ doc:1#view = (owner or viewer) not banned: the left side is denied
      6:22  ├─ ✗ owner or viewer
      6:22  │  ├─ ✗ doc:1#owner: no tuple
      6:31  │  └─ ✗ doc:1#viewer: no tuple
      6:43  └─ ✗ doc:1#banned: no tuple
  bad.yaml:6:73: 50% <done>, ok: user:eve edit doc:1
    expected  DENIED
    got       error: permission: \`doc\` has no permission, relation or attribute \`edit\`
  bad.yaml:8:65: 50% <done>, ok: doc:1 view user
    expected  nothing
    got       ann
4 passed, 3 failed
`,
  );
});

test("pemba test ends with 2 if a file cannot be run or tests nothing, and runs the others", async (t) => {
  const cwd = folderWith(t, {
    "good.yaml": good,
    "typo.yaml": good.replace("checks", "chekcs"),
    "data.yaml": good.replace("doc:1#owner@user:ann", "doc:1#ower@user:ann"),
    "schema.yaml": good.replace(
      "doc.perm",
      "|-\n  entity user {}\n  entity doc { relation x @usr }",
    ),
    "outside.yaml": good.replace("doc.perm", "../doc.perm"),
    "missing.yaml": good.replace("doc.perm", "dok.perm"),
    "empty.yaml": "schema: doc.perm\n",
  });
  const problem = async (file: string): Promise<string> => {
    const { status, stdout } = await testIn(cwd, file);
    assert.equal(status, 2, stdout);
    return stdout;
  };
  assert.match(await problem("typo.yaml"), /typo\.yaml:5:5: `chekcs` is not .*mean `checks`/);
  assert.match(await problem("data.yaml"), /data\.yaml:2:17: `ower` is not a relation of `doc`/);
  assert.match(await problem("schema.yaml"), /schema\.yaml:3:28: .*`usr` is not an entity/);
  assert.match(await problem("outside.yaml"), /outside\.yaml:1:9: invalid file path/);
  assert.match(await problem("missing.yaml"), /missing\.yaml:1:9: there is no file `dok\.perm`/);
  assert.match(
    await problem("empty.yaml"),
    /empty\.yaml:1:1: the file has no scenarios, so it tests/,
  );
  assert.match(await problem("absent.yaml"), /`absent\.yaml` is not there/);
  assert.match(await problem("."), /`\.` is a folder, expected a file/);
  assert.match(
    await problem("doc.perm"),
    /doc\.perm:1:1: is a schema, expected the YAML file of a model test\n/,
  );
  for (const bad of ["typo.yaml", "empty.yaml"]) {
    const { status, stdout } = await testIn(cwd, bad, "good.yaml");
    assert.equal(status, 2);
    assert.match(stdout, /ok {3}good\.yaml: 4 of 4 passed\n4 passed, 0 failed, 1 file not run\n$/);
  }
});

test("pemba test refuses words that it does not know", async () => {
  const refused = async (...words: readonly string[]): Promise<string> => {
    const { status, stderr } = await runCommand(["test", ...words]);
    assert.equal(status, 2);
    return stderr;
  };
  assert.match(await refused(), /expected a FILE/);
  assert.match(
    await refused("a.yaml", "--report", "xml"),
    /`xml` is not a report, expected one of/,
  );
  assert.match(await refused("a.yaml", "--report=json", "--report=human"), /go to one place/);
  assert.match(await refused("a.yaml", "--coverage=101"), /--coverage: expected .*100/);
  assert.match(await refused("a.yaml", "--cover=1"), /--cover: no such flag/);
});

test("pemba test finds a schema beside its file", async (t) => {
  const cwd = folderWith(t, { "deep/good.yaml": good, "deep/doc.perm": schema, "doc.perm": "" });
  rmSync(join(cwd, "doc.perm"));
  assert.equal((await testIn(cwd, "deep/good.yaml")).status, 0);
});

test("pemba test reads files and schemas from addresses", async (t) => {
  const server = createServer((request, response) => {
    const address = `http://${request.headers.host}/doc.perm`;
    if (request.url === "/good.yaml") response.end(good.replace("doc.perm", address));
    else if (request.url === "/doc.perm") response.end(schema);
    else response.writeHead(404).end("entity user {}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const place = server.address();
  const port = typeof place === "object" ? place?.port : undefined;
  const cwd = folderWith(t, {});
  const found = await testIn(cwd, `http://127.0.0.1:${port}/good.yaml`);
  assert.equal(found.status, 0, found.stdout);
  const missing = await testIn(cwd, `http://127.0.0.1:${port}/other.yaml`);
  assert.equal(missing.status, 2);
  assert.match(missing.stdout, /answers with status 404/);
});

test("pemba test writes several reports at once", async (t) => {
  const cwd = folderWith(t, { "bad.yaml": bad });
  const forms = ["json=out.json", "junit=out.xml", "github=out.txt"];
  const { status, stdout } = await testIn(
    cwd,
    "bad.yaml",
    ...["human", ...forms].map((form) => `--report=${form}`),
  );
  assert.equal(status, 1);
  assert.match(stdout, /0 passed, 3 failed\n$/);
  const report: unknown = JSON.parse(readFileSync(join(cwd, "out.json"), "utf8"));
  assert.partialDeepStrictEqual(report, {
    passed: 0,
    failed: 3,
    files: [
      {
        path: "bad.yaml",
        cases: [
          { query: "user:eve view doc:1", line: 6, result: "failed", expected: true, got: false },
          { query: "user:eve edit doc:1", result: "error", expected: false },
          { kind: "subject_filter", result: "failed", expected: [], got: ["ann"] },
        ],
      },
    ],
  });
  const junit = readFileSync(join(cwd, "out.xml"), "utf8");
  assert.match(junit, /<testsuite name="bad\.yaml" tests="3" failures="2" errors="1"/);
  assert.match(junit, /name="50% &lt;done&gt;, ok: user:eve view doc:1"/);
  const github = readFileSync(join(cwd, "out.txt"), "utf8").trimEnd().split("\n");
  assert.equal(
    github[0],
    "::error file=bad.yaml,line=6,col=61::50%25 <done>, ok: user:eve view doc:1%0Aexpected ALLOWED, got DENIED",
  );
  assert.equal(github.length, 3);
});

test("pemba test fails below the coverage that is asked for", async (t) => {
  const half = good.replace(/ {4}subject_filters:[^]*/, "");
  const cwd = folderWith(t, { "good.yaml": half, "more.yaml": good });
  const full = await testIn(cwd, "good.yaml", "--coverage", "100");
  assert.equal(full.status, 1);
  assert.match(full.stdout, /coverage of doc\.perm: \d+ % \(\d+ of 7\), expected at least 100 %/);
  assert.equal((await testIn(cwd, "good.yaml", "--coverage=20")).status, 0);
  const together = await testIn(cwd, "good.yaml", "more.yaml", "--coverage=100");
  assert.match(together.stdout, /coverage of doc\.perm: 100 % \(7 of 7\)\n/);
  assert.equal(together.status, 0);
});

test("the page of the coverage shows text of the user as text", async (t) => {
  const hostile = `${schema}// </code><script>alert("x")</script> & more\n`;
  const cwd = folderWith(t, {
    "<b>.perm": hostile,
    "good.yaml": good.replace("doc.perm", "<b>.perm"),
  });
  const { status, stderr } = await testIn(cwd, "good.yaml", "--coverage-page=page.html");
  assert.equal(status, 0, stderr);
  const page = readFileSync(join(cwd, "page.html"), "utf8");
  assert.doesNotMatch(page, /<script|<b>/);
  assert.match(page, /<h2>&lt;b&gt;\.perm: \d+ %<\/h2>/);
  assert.match(page, /&lt;script&gt;alert\(&quot;x&quot;\)&lt;\/script&gt; &amp; more/);
  assert.match(page, /<mark id="s0p\d+" class="covered" title="covered">owner<\/mark>/);
  assert.doesNotMatch(page, /(?:src|href)="(?!#)/);
});

test("pemba test asks a database that is named, and leaves nothing there", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const cwd = folderWith(t, { "good.yaml": good, "bad.yaml": bad });
  const flags = ["--database-engine=postgres", "--database-uri", url];
  const { status, stdout } = await runPemba(["test", "good.yaml", "bad.yaml", ...flags], { cwd });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /ok {3}good\.yaml: 4 of 4 passed/);
  const sql = connect(url);
  t.after(() => sql.end({ timeout: 1 }));
  const tenants = await sql<{ id: string }[]>`select id from tenants`;
  assert.deepEqual(
    tenants.map(({ id }) => id),
    ["t1"],
  );
});

test("pemba test leaves nothing in a database when it is stopped", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const checks = [{ entity: "doc:1", subject: "user:ann", assertions: { view: true } }];
  const cwd = folderWith(t, {
    "long.yaml": JSON.stringify({ schema, scenarios: [{ name: "long", checks }] }),
  });
  const words = ["test", "long.yaml", "--database-engine=postgres", "--database-uri", url];
  const holder = connect(url);
  t.after(() => holder.end({ timeout: 1 }));
  // The check waits for as long as the lock is held.
  const lock = await holder.reserve();
  await lock`begin`;
  await lock`lock table relationships in access exclusive mode`;
  const { process: child, finished } = startPemba(words, { cwd });
  t.after(() => child.kill("SIGKILL"));
  const sql = connect(url);
  t.after(() => sql.end({ timeout: 1 }));
  const tenants = async (): Promise<number> =>
    (await sql`select 1 from tenants where id like 'model-test-%'`).length;
  await untilWaiting(sql, 1);
  assert.equal(await tenants(), 1);
  child.kill("SIGTERM");
  await lock`rollback`;
  lock.release();
  const { status, stderr } = await finished;
  assert.equal(status, 2);
  assert.match(stderr, /stopped by SIGTERM/);
  assert.equal(await tenants(), 0);
});

test("text of a file does nothing to a terminal", async (t) => {
  const cwd = folderWith(t, { "bad.yaml": bad.replace("50% <done>, ok", "\\u001b[2J\\u202e") });
  const { stdout } = await testIn(cwd, "bad.yaml");
  assert.ok(stdout.includes(String.raw`\u001b[2J\u202e: user:eve view doc:1`), stdout);
  const validated = await runCommand(["validate", "bad.yaml"], { cwd });
  assert.ok(validated.stdout.includes(String.raw`1.scenario: \u001b[2J\u202e - `));
  const github = await testIn(cwd, "bad.yaml", "--report=github");
  assert.ok(github.stdout.includes(String.raw`\u001b[2J\u202e: user:eve view doc:1`));
});

test("pemba test reads no more of a file than it may have", async (t) => {
  const cwd = folderWith(t, { "large.yaml": "" });
  const endless = await testIn(cwd, "/dev/zero");
  assert.equal(endless.status, 2);
  assert.match(endless.stdout, /`\/dev\/zero` is a device, expected a file/);
  truncateSync(join(cwd, "large.yaml"), 8 * 1024 * 1024 + 1);
  const large = await testIn(cwd, "large.yaml");
  assert.equal(large.status, 2);
  assert.match(large.stdout, /`large\.yaml` is larger than 8388608 bytes/);
});

test("pemba test --watch runs again when a file or its schema changes, vanishes or comes back", async (t) => {
  const cwd = folderWith(t, { "good.yaml": good });
  const { process: child, finished } = startPemba(["test", "good.yaml", "--watch"], { cwd });
  t.after(() => child.kill("SIGKILL"));
  let shown = "";
  const heard: (() => void)[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      for (const tell of heard.splice(0)) tell();
    });
  }
  const untilShown = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(shown)) await new Promise<void>((resolve) => heard.push(resolve));
    shown = "";
  };
  await untilShown(/4 passed, 0 failed[^]*watching for changes/);
  writeFileSync(join(cwd, "doc.perm"), schema.replace("(owner or viewer)", "owner"));
  await untilShown(/3 passed, 1 failed[^]*watching for changes/);
  writeFileSync(join(cwd, "good.yaml"), good.replace("[bob, ann]", "[ann]"));
  await untilShown(/4 passed, 0 failed[^]*watching for changes/);
  rmSync(join(cwd, "doc.perm"));
  await untilShown(/there is no file `doc\.perm`[^]*watching for changes/);
  writeFileSync(join(cwd, "doc.perm"), schema);
  await untilShown(/3 passed, 1 failed[^]*watching for changes/);
  child.kill("SIGINT");
  assert.equal((await finished).status, 1);
});

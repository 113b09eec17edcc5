import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";

import { startPemba, type StartedPemba } from "../../src/testing/start-pemba.ts";
import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";
import { runCommand } from "../support/commands-process.ts";
import { runPemba, startPemba as startCommand } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  relation viewer @user @group#member
  attribute public boolean
  attribute level integer
  permission view = viewer or public
}
`;

function file(t: TestContext, name: string, lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-import-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, lines.join("\n"));
  return path;
}

/** A tenant with the schema. */
interface Target {
  readonly url: string;
  readonly tenant: string;
  /** The flags by which it is found. */
  readonly flags: readonly string[];
}

let server: StartedPemba;

before(async () => {
  server = await startPemba();
});

after(async () => await server.stop());

async function post(
  { url, tenant }: Pick<Target, "url" | "tenant">,
  path: string,
  body: object,
): Promise<string> {
  const response = await fetch(`${url}/v1/tenants/${tenant}/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return await response.text();
}

async function canView(target: Target, doc: string, user: string): Promise<boolean> {
  const answer = await post(target, "permissions/check", {
    metadata: {},
    entity: { type: "doc", id: doc },
    permission: "view",
    subject: { type: "user", id: user },
  });
  return answer.includes("RESULT_ALLOWED");
}

async function newTarget(): Promise<Target> {
  const url = server.getRestUrl();
  const tenant = randomUUID();
  const body = JSON.stringify({ id: tenant, name: "" });
  await fetch(`${url}/v1/tenants/create`, { method: "POST", body });
  return await targetWithSchema({ url, tenant, flags: ["--url", url, "--tenant", tenant] });
}

async function targetWithSchema(target: Target): Promise<Target> {
  await post(target, "schemas/write", { schema });
  return target;
}

/** A server that answers as the test says, on a free port. */
async function fakeServer(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

test("JSON and text lines are accepted, the rest of the file is accounted for", async (t) => {
  const target = await newTarget();
  const first = file(t, "first.ndjson", [
    "# people",
    '{"entity":{"type":"doc","id":"1"},"relation":"viewer","subject":{"type":"user","id":"a","relation":""}}',
    "doc:1#viewer@user:a",
    "",
    "group:g#member@user:b",
    "doc:1#viewer@group:g#member\r",
    "doc:1$public|boolean:true",
    "doc:1$public|boolean:false",
    '{"entity":{"type":"doc","id":"2"},"attribute":"public","value":{"@type":"type.googleapis.com/base.v1.BooleanValue","data":true}}',
  ]);
  const second = file(t, "second.txt", ["doc:3#viewer@user:c"]);
  const { status, stdout, stderr } = await runPemba(["import", first, second, ...target.flags]);
  assert.equal(status, 0, stderr);
  assert.match(
    stdout,
    /^accepted 7, skipped 3 \(2 blank or comment, 1 duplicate\), refused 0, in /,
  );
  assert.equal(stderr, "");
  assert.equal(await canView(target, "1", "a"), true);
  assert.equal(await canView(target, "1", "b"), true);
  assert.equal(await canView(target, "1", "c"), false);
  assert.equal(await canView(target, "2", "c"), true);
  assert.equal(await canView(target, "3", "c"), true);
});

test("refused lines are named with their reason and stop nothing else", async (t) => {
  const target = await newTarget();
  const lines = Array.from({ length: 250 }, (_, index) => `doc:d${index}#viewer@user:a`);
  lines[3] = "doc:3#viewer";
  lines[120] = "doc:120#editor@user:a";
  lines[121] = "doc:121$level|boolean:true";
  lines[122] = "doc:a b#viewer@user:a";
  lines[150] = "doc:150";
  lines[249] =
    '{"entity":{"type":"doc","id":5},"relation":"viewer","subject":{"type":"user","id":"a"}}';
  const path = file(t, "mixed.txt", lines);
  const words = ["import", path, ...target.flags, "--batch-size", "100"];
  const { status, stdout, stderr } = await runCommand(words);
  assert.equal(status, 1);
  assert.match(stdout, /^accepted 244, skipped 0 .* refused 6, in /);
  const refused = stderr.trim().split("\n");
  assert.deepEqual(
    refused.map((text) => text.slice(path.length + 1).split(":")[0]),
    ["4", "121", "122", "123", "151", "250"],
  );
  const reasonOf = (line: number): string =>
    refused.find((text) => text.startsWith(`${path}:${line}: `)) ?? `nothing about line ${line}`;
  assert.match(reasonOf(4), /no `@` after the relation/);
  assert.match(reasonOf(121), /relation: `editor` is not a relation of `doc`, expected `viewer`/);
  assert.match(reasonOf(122), /value: `boolean` is not the type of `doc\$level`/);
  assert.match(reasonOf(123), /entity\.id: `a b` is not an id/);
  assert.match(reasonOf(250), /entity\.id: `5` is not a text/);
  for (const doc of ["d0", "d119", "d123", "d248"]) {
    assert.equal(await canView(target, doc, "a"), true, doc);
  }
});

test("a server that takes less at once gets smaller batches", async (t) => {
  const { url } = await serveHere(t, ["--database-max-data-per-write", "7"]);
  const target = await targetWithSchema({ url, tenant: "t1", flags: ["--url", url] });
  const lines = Array.from({ length: 50 }, (_, index) => `doc:d${index}#viewer@user:a`);
  const { status, stdout } = await runCommand(["import", "-", ...target.flags], {
    input: lines.join("\n"),
  });
  assert.equal(status, 0);
  assert.match(stdout, /^accepted 50,/);
  assert.equal(await canView(target, "d49", "a"), true);
});

test("--json prints the totals as JSON", async () => {
  const { flags } = await newTarget();
  const words = ["import", "-", ...flags, "--json"];
  const { status, stdout } = await runCommand(words, { input: "# x\ndoc:1#viewer@user:a\n" });
  assert.equal(status, 0);
  const { seconds, ...totals } = JSON.parse(stdout) as Record<string, unknown>;
  assert.equal(typeof seconds, "number");
  assert.deepEqual(totals, { accepted: 1, blank: 1, duplicate: 0, refused: 0 });
});

test("a line of standard input is named as such", async () => {
  const { flags } = await newTarget();
  const { status, stderr } = await runCommand(["import", "-", ...flags], { input: "\nx\n" });
  assert.equal(status, 1);
  assert.match(stderr, /^stdin:2: `x` cannot be read, it has no `:`/);
});

test("what a line quotes cannot steer the terminal", async () => {
  const { flags } = await newTarget();
  const input = "\u001b]0;title\u0007\n{\n";
  const { stderr } = await runCommand(["import", "-", ...flags], { input });
  assert.match(stderr, /^stdin:1: `\\u001b\]0;title\\u0007` cannot be read/);
  assert.match(stderr, /\nstdin:2: is not JSON: /);
});

test("an import from a line that the file does not have says so", async () => {
  const { flags } = await newTarget();
  const input = "doc:1#viewer@user:a\n";
  const words = ["import", "-", ...flags, "--from-line"];
  const { status, stderr } = await runCommand([...words, "3"], { input });
  assert.deepEqual([status, stderr], [1, "pemba: --from-line: stdin has 1 line\n"]);
  const behind = await runCommand([...words, "2"], { input });
  assert.deepEqual([behind.status, behind.stderr], [0, ""]);
});

test("the tenant and the token are those of the flags", async (t) => {
  const seen: unknown[] = [];
  const url = await fakeServer(t, (request, response) => {
    seen.push([request.method, request.url, request.headers.authorization]);
    response.end('{"snap_token":"x"}');
  });
  const words = ["import", "-", "--url", `${url}/`, "--tenant", "a+b", "--token", "k"];
  const { status } = await runCommand(words, { input: "doc:1#viewer@user:a" });
  assert.equal(status, 0);
  assert.deepEqual(seen, [["POST", "/v1/tenants/a%2Bb/data/write", "Bearer k"]]);
});

test("a busy server is asked again after the time it names, and each wait is reported", async (t) => {
  let requests = 0;
  const url = await fakeServer(t, (_request, response) => {
    requests += 1;
    if (requests < 3) response.writeHead(429, { "retry-after": "0" });
    response.end(requests < 3 ? '{"message":"too busy"}' : "{}");
  });
  const { status, stdout, stderr } = await runCommand(["import", "-", "--url", url], {
    input: "doc:1#viewer@user:a",
  });
  assert.deepEqual([status, requests], [0, 3]);
  const line = `the batch that begins at stdin:1 is sent again in 0 s: ${url}/v1/tenants/t1/data/write: too busy`;
  assert.equal(stderr, `${line}\n${line}\n`);
  assert.match(stdout, /^accepted 1,/);
});

test("what cannot succeed is not sent again", async (t) => {
  const made = await makeCertificate();
  const { cert, key } = certificateFolder(t, made);
  const tls = ["--http-tls-enabled", "--http-tls-cert-path", cert, "--http-tls-key-path", key];
  const { url: secure } = await serveHere(t, tls);
  const { url: plain, grpc } = await serveHere(t);
  const input = "doc:1#viewer@user:a";
  for (const [url, reason] of [
    [secure, /the certificate of the server is not trusted, .* --ca\n/],
    [plain.replace("http:", "https:"), /the server does not speak TLS, expected a URL with http\n/],
    [`http://${grpc}`, /expected the port of REST \(`server\.http\.port`\), not that of gRPC\n/],
    ["http://127.0.0.1:6000", /bad port/],
    ["http://no-such-host.invalid", /ENOTFOUND/],
  ] as const) {
    const { status, stderr } = await runCommand(["import", "-", "--url", url], { input });
    assert.equal(status, 1);
    assert.match(stderr, /^pemba: import: stopped at stdin:1: /);
    assert.match(stderr, reason);
    assert.doesNotMatch(stderr, /sent again/);
  }
  const trusted = await runPemba(["import", "-", "--url", secure, "--ca", cert], { input });
  assert.match(trusted.stderr, /has no schema yet/);
});

test("a schema and bundles are written in their order among the lines", async () => {
  const target = await newTarget();
  const other = schema.replace("relation viewer", "relation reader").replace("viewer", "reader");
  const bundle = { name: "share", arguments: ["who"], operations: [] };
  const lines = [
    '{"state":{"snap_token":"x"}}',
    JSON.stringify({ schema }),
    "doc:1#viewer@user:a",
    JSON.stringify({ bundle }),
    '{"bundle":{"name":""}}',
    JSON.stringify({ schema: other }),
    "doc:1#reader@user:b",
    "doc:2#viewer@user:a",
  ];
  const { status, stdout, stderr } = await runCommand(["import", "-", ...target.flags], {
    input: lines.join("\n"),
  });
  assert.equal(status, 1);
  assert.match(stdout, /^accepted 5, skipped 0 .* refused 2, in /);
  const refused = stderr.trimEnd().split("\n");
  assert.match(refused[0] ?? "", /^stdin:5: bundles\[0\]\.name: /);
  assert.match(refused[1] ?? "", /^stdin:8: relation: `viewer` is not a relation of `doc`/);
  assert.equal(refused.length, 2);
  assert.match(await post(target, "bundle/read", { name: "share" }), /"arguments":\["who"\]/);
});

test("a refused schema stops the import, which says how to go on", async (t) => {
  const { flags } = await newTarget();
  const path = file(t, "lines", ["# an export", '{"schema":"entity {"}', "doc:1#viewer@user:a"]);
  const { status, stdout, stderr } = await runCommand(["import", path, ...flags]);
  assert.equal(status, 1);
  assert.match(stdout, /^accepted 0,/);
  const [reason = "", advice = ""] = stderr.split("\n");
  assert.ok(reason.startsWith(`pemba: import: stopped at ${path}:2: schema:1:8: `), reason);
  assert.ok(advice.includes(`\`pemba import ${path} --from-line 2\``), advice);
});

test("an import that is stopped by a signal goes on at the line that it names", async (t) => {
  const lines = Array.from({ length: 50 }, (_, index) => `doc:d${index}#viewer@user:a`);
  const path = file(t, "my lines", lines);
  const seen: string[] = [];
  let held: (() => void) | undefined;
  const isHeld = new Promise<void>((resolve) => (held = resolve));
  const url = await fakeServer(t, (request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      // The third batch has no answer the first time.
      if (seen.push(body) === 3) held?.();
      else response.end("{}");
    });
  });
  const words = ["import", "/dev/null", path, "--url", url, "--batch-size", "10"];
  const first = startCommand(words, {});
  await Promise.race([isHeld, first.finished]);
  first.process.kill("SIGINT");
  const { status, stdout, stderr } = await first.finished;
  assert.equal(status, 130);
  assert.match(stdout, /^accepted 20,/);
  assert.equal(
    stderr,
    `pemba: import: stopped at ${path}:21: by SIGINT\n` +
      `pemba: import: all lines before it were sent; to go on, run \`pemba import '${path}' --from-line 21\` with the same other flags\n`,
  );
  const again = await runCommand(["import", path, "--from-line", "21", "--url", url]);
  assert.match(again.stdout, /^accepted 30,/);
  assert.deepEqual(
    [...(seen.at(-1) ?? "").matchAll(/"id":"(d\d+)"/g)].map(([, id]) => id),
    Array.from({ length: 30 }, (_, index) => `d${index + 20}`),
  );
});

test("an import that cannot go on says where it stopped", async () => {
  const url = server.getRestUrl();
  const words = ["import", "-", "--url", url, "--tenant", "missing", "--batch-size", "1"];
  const { status, stdout, stderr } = await runCommand(words, { input: "\ndoc:1#viewer@user:a\n" });
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: import: stopped at stdin:2: .*ERROR_CODE_TENANT_NOT_FOUND/);
  assert.match(stdout, /^accepted 0,/);
});

test("an import that waits for standard input can be stopped", async (t) => {
  let written: (() => void) | undefined;
  const isWritten = new Promise<void>((resolve) => (written = resolve));
  const url = await fakeServer(t, (_request, response) => {
    response.end("{}");
    written?.();
  });
  const words = ["import", "-", "--url", url, "--batch-size", "1"];
  const { process: child, finished } = startCommand(words, {});
  child.stdin?.write("doc:1#viewer@user:a\ndoc:2#viewer@user:a\n");
  await Promise.race([isWritten, finished]);
  child.kill("SIGTERM");
  const { status, stderr } = await finished;
  assert.equal(status, 143);
  assert.match(
    stderr,
    /^pemba: import: stopped at stdin:[12]: by SIGTERM\n.*`pemba import - --from-line [12]`/,
  );
});

test("of a file with many refused lines the first ones are shown, and the others counted", async (t) => {
  const target = await newTarget();
  const wrong = file(
    t,
    "wrong.csv",
    Array.from({ length: 5_000 }, (_, nth) => `a,b,${nth}`),
  );
  const { status, stdout, stderr } = await runCommand(["import", wrong, ...target.flags]);
  assert.equal(status, 1);
  const lines = stderr.trimEnd().split("\n");
  assert.equal(lines.length, 21);
  assert.match(lines[19] ?? "", /wrong\.csv:20: /);
  assert.equal(lines[20], "... and 4980 more lines were refused");
  assert.match(stdout, /^accepted 0, skipped 0 .*, refused 5000, in /);
});

test("an import of an export counts what the export has, and no comments", async (t) => {
  const source = await newTarget();
  await runCommand(["import", file(t, "one.txt", ["doc:1#viewer@user:a"]), ...source.flags]);
  for (const format of ["ndjson", "text"]) {
    const exported = await runCommand(["export", "--format", format, ...source.flags]);
    const target = await newTarget();
    const path = file(t, "export", [exported.stdout]);
    const { stdout, stderr } = await runCommand(["import", path, ...target.flags]);
    assert.match(stdout, /^accepted 2, skipped 0 \(0 blank or comment, /, stderr);
  }
});

test("invalid flags and files are reported before anything is sent", async () => {
  const words = ["import", "nowhere.ndjson", "/", "--url", "localhost", "--batch-size", "0", "--x"];
  const { status, stderr } = await runCommand(words);
  assert.equal(status, 1);
  assert.equal(
    stderr,
    "pemba: --x: no such flag\n" +
      "pemba: --batch-size: expected a whole number from 1 to 100000\n" +
      "pemba: --url: `localhost` is not a URL, expected one such as http://localhost:3476\n" +
      "pemba: import: `nowhere.ndjson` is not there\n" +
      "pemba: import: `/` is a folder\n",
  );
  assert.match(
    (await runCommand(["import"])).stderr,
    /^pemba: import: expected a file, or `-` for standard input/,
  );
});

import assert from "node:assert/strict";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";
import { runCommand } from "../support/commands-process.ts";
import { type Finished, runPemba } from "../support/pemba.ts";

interface Home {
  readonly file: string;
  readonly run: (words: readonly string[], env?: Record<string, string>) => Promise<Finished>;
}

/** Commands of a user with a configuration folder of their own. */
function homeOf(t: TestContext): Home {
  const folder = mkdtempSync(join(tmpdir(), "pemba-home-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return {
    file: join(folder, "pemba", "contexts.json"),
    run: async (words, env = {}) =>
      await runCommand(words, { env: { XDG_CONFIG_HOME: folder, ...env } }),
  };
}

/** A server that lists no tenants, with what it was asked. */
async function listening(
  t: TestContext,
): Promise<{ readonly url: string; readonly asked: unknown[] }> {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    asked.push([request.url, request.headers.authorization]);
    response.end('{"head":"","schemas":[],"continuous_token":""}');
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

test("the context in use gives the server, the tenant and the token, unless flags or variables do", async (t) => {
  const { run } = homeOf(t);
  const { url, asked } = await listening(t);
  const words = ["--url", `${url}/`, "--tenant", "acme", "--token", "secret"];
  const added = await run(["context", "add", "prod", ...words]);
  assert.deepEqual(added, { status: 0, stdout: "prod is in use\n", stderr: "" });
  const list = ["schema", "list"];
  await run(list);
  await run([...list, "--tenant", "t2"]);
  await run(list, { PEMBA_TOKEN: "other" });
  await run([...list, "--url", url]);
  const path = "/v1/tenants/acme/schemas/list";
  assert.deepEqual(asked, [
    [path, "Bearer secret"],
    ["/v1/tenants/t2/schemas/list", "Bearer secret"],
    [path, "Bearer other"],
    [path, "Bearer secret"],
  ]);
});

test("a variable names the context of one command", async (t) => {
  const { run } = homeOf(t);
  const { url, asked } = await listening(t);
  await run(["context", "add", "prod", "--url", url, "--tenant", "acme", "--token", "secret"]);
  await run(["context", "add", "dev", "--url", url, "--tenant", "play"]);
  await run(["schema", "list"], { PEMBA_CONTEXT: "dev" });
  await run(["schema", "list"], { PEMBA_CONTEXT: "" });
  assert.deepEqual(asked, [
    ["/v1/tenants/play/schemas/list", undefined],
    ["/v1/tenants/acme/schemas/list", "Bearer secret"],
  ]);
  const unknown = await run(["schema", "list"], { PEMBA_CONTEXT: "stage" });
  assert.deepEqual(unknown, {
    status: 1,
    stdout: "",
    stderr: "pemba: no context `stage`: there are prod, dev\n",
  });
});

test("a token of a context goes to no other server", async (t) => {
  const { run } = homeOf(t);
  const { url } = await listening(t);
  const other = await listening(t);
  await run(["context", "add", "prod", "--url", url, "--tenant", "acme", "--token", "secret"]);
  await run(["schema", "list", "--url", other.url]);
  await run(["schema", "list"], { PEMBA_URL: other.url });
  const plain = ["/v1/tenants/t1/schemas/list", undefined];
  assert.deepEqual(other.asked, [plain, plain]);
});

test("contexts are listed without their tokens, chosen and removed", async (t) => {
  const { run, file } = homeOf(t);
  const none = await run(["context", "list"]);
  assert.deepEqual([none.stdout, none.status], ["", 0]);
  assert.match(none.stderr, /^pemba: there is no context yet/);
  const prod = ["--url", "https://pemba.example", "--tenant", "acme", "--token", "s-e-c-r-e-t"];
  await run(["context", "add", "prod", ...prod]);
  const second = await run(["context", "add", "dev", "--url", "http://localhost:3476"]);
  assert.equal(second.stdout, "dev is kept, prod is in use\n");
  const rows = [
    "*  prod  https://pemba.example  acme  a token",
    "   dev   http://localhost:3476  t1    no token",
  ];
  assert.equal((await run(["context", "list"])).stdout, `${rows.join("\n")}\n`);
  assert.equal((await run(["context", "use", "dev"])).stdout, "dev is in use\n");
  const json = (await run(["context", "list", "--json"])).stdout.trimEnd().split("\n");
  assert.deepEqual(JSON.parse(json[0] ?? ""), {
    name: "prod",
    url: "https://pemba.example",
    tenant: "acme",
    has_token: true,
    in_use: false,
  });
  assert.equal(JSON.parse(json[1] ?? "").in_use, true);
  assert.doesNotMatch(json.join(), /s-e-c-r-e-t/);
  assert.equal((await run(["context", "remove", "dev"])).status, 0);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).current, "");
  const unknown = await run(["context", "use", "dev"]);
  assert.equal(unknown.stderr, "pemba: no context `dev`: there are prod\n");
});

test("the file is for its user alone, also over one that others can read, and is replaced as a whole", async (t) => {
  const { run, file } = homeOf(t);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{"current":"","contexts":[]}', { mode: 0o644 });
  await run(["context", "add", "a", "--url", "http://localhost:1", "--token", "x"]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { ino } = statSync(file);
  await run(["context", "add", "b", "--url", "http://localhost:2"]);
  assert.notEqual(statSync(file).ino, ino);
  assert.deepEqual(readdirSync(dirname(file)), ["contexts.json"]);
});

test("a token is read from standard input, and a certificate is kept by its full path", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-home-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const { cert } = certificateFolder(t, await makeCertificate());
  const words = ["context", "add", "prod", "--url", "https://localhost:1", "--token", "-"];
  const added = await runPemba([...words, "--ca", "certificate"], {
    env: { XDG_CONFIG_HOME: folder },
    cwd: dirname(cert),
    input: "from-input\n",
  });
  assert.equal(added.status, 1, "there is no such file");
  const { status, stderr } = await runPemba(
    [...words, "--ca", cert.slice(dirname(cert).length + 1)],
    {
      env: { XDG_CONFIG_HOME: folder },
      cwd: dirname(cert),
      input: "from-input\n",
    },
  );
  assert.deepEqual([status, stderr], [0, ""]);
  const { contexts } = JSON.parse(readFileSync(join(folder, "pemba", "contexts.json"), "utf8"));
  assert.deepEqual([contexts[0].token, contexts[0].ca], ["from-input", cert]);
});

test("what cannot be kept or read is refused with its reason", async (t) => {
  const { run, file } = homeOf(t);
  const mistakes = [
    [["context", "add", "a b", "--url", "http://x"], /`a b` is not a name/],
    [["context", "add", "a"], /context add: expected --url/],
    [["context", "add", "a", "--url", "x"], /--url: `x` is not a URL/],
    [
      ["context", "add", "a", "--url", "http://x", "--ca", "/nowhere"],
      /--ca: `\/nowhere` cannot be used/,
    ],
    [["context", "use"], /context use: expected NAME/],
    [["context", "use", "a"], /no context `a`: there is none yet/],
    [["context", "show"], /context: expected add, use, list or remove, not `show`/],
  ] as const;
  for (const [words, expected] of mistakes) {
    const { status, stderr } = await run(words);
    assert.equal(status, 1);
    assert.match(stderr, expected);
  }
  await run(["context", "add", "a", "--url", "http://localhost:1"]);
  const twice = await run(["context", "add", "a", "--url", "http://localhost:2"]);
  assert.match(twice.stderr, /`a` is there already, remove it first/);
  for (const broken of ["{", '{"current":1}']) {
    writeFileSync(file, broken);
    const { status, stderr } = await run(["schema", "list"]);
    assert.equal(status, 1);
    assert.ok(stderr.includes(file), stderr);
  }
});

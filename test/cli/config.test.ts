import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { configurationSchema } from "../../src/config/json-schema.ts";
import { optionKeys, options } from "../../src/config/options.ts";
import { runCommand } from "../support/commands-process.ts";
import { type RunOptions, runPemba } from "../support/pemba.ts";

const secrets = ["hunter2", "k-one", "k-two", "token3"];

/** A working folder with a configuration file where it is looked for, and an environment. */
function given(t: TestContext): RunOptions {
  const cwd = mkdtempSync(join(tmpdir(), "pemba-config-"));
  t.after(() => rmSync(cwd, { recursive: true }));
  writeFileSync(
    join(cwd, "here.yaml"),
    `server:
  http: { port: 1 }
authn:
  preshared:
    keys: [k-one, k-two]
tracer:
  headers: ["authorization:Bearer token3"]
database:
  max_open_connections: 7
  writer:
    uri: postgres://u@h/x?my.secret=hunter2&sslmode=require
`,
  );
  return {
    cwd,
    env: {
      SERVICE_HTTP_PORT: "2",
      SERVICE_DATABASE_CONNECT_TIMEOUT: "1m",
      SERVICE_DATABASE_URI: "postgres://user:hunter2@host:5432/x",
    },
  };
}

test("every key is shown with its value and where that comes from, but no secret", async (t) => {
  const words = [
    "config",
    "-c",
    "here.yaml",
    "--grpc-port=3",
    "--authn-oidc-valid-methods",
    "ES256,EdDSA",
  ];
  const { status, stdout, stderr } = await runPemba(words, given(t));
  assert.equal(status, 0);
  assert.equal(
    stderr,
    "pemba: warning: here.yaml:9:3: `database.max_open_connections` is deprecated in favour of `database.max_connections`, use that\n" +
      "pemba: warning: `authn.enabled`: is false, so nothing is protected by `authn.preshared.keys`\n",
  );
  const rows = new Map(
    stdout.split("\n").map((line) => {
      const [key = "", ...cells] = line.split(/ {2,}/);
      return [key, cells.join(" | ")];
    }),
  );
  assert.equal(rows.get("Key"), "Value | Source");
  for (const key of optionKeys) assert.ok(rows.has(key), key);
  const shown = {
    "server.http.port": "2 | variable SERVICE_HTTP_PORT",
    "server.grpc.port": "3 | flag --grpc-port",
    "authn.preshared.keys": "***,*** | file here.yaml:5:5",
    "authn.oidc.valid_methods": "ES256,EdDSA | flag --authn-oidc-valid-methods",
    "database.max_connections": "7 | file here.yaml:9:3",
    "database.uri": "postgres://user:***@host:5432/x | variable SERVICE_DATABASE_URI",
    "database.writer.uri": "postgres://u@h/x?my.secret=***&sslmode=require | file here.yaml:11:5",
    "database.connect_timeout": "1m | variable SERVICE_DATABASE_CONNECT_TIMEOUT",
    "database.engine": "memory | default",
  };
  for (const [key, row] of Object.entries(shown)) assert.equal(rows.get(key), row, key);
  for (const secret of secrets) assert.ok(!stdout.includes(secret), secret);
});

test("the same is there as JSON, with numbers, truths and lists as such", async (t) => {
  const words = ["config", "-c", "here.yaml", "--output", "json"];
  const { status, stdout } = await runCommand(words, given(t));
  assert.equal(status, 0);
  const shown = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  assert.deepEqual(Object.keys(shown), optionKeys);
  assert.deepEqual(shown["server.http.port"], {
    value: 2,
    source: "variable",
    place: "SERVICE_HTTP_PORT",
  });
  assert.deepEqual(shown["authn.preshared.keys"], {
    value: ["***", "***"],
    source: "file",
    place: "here.yaml:5:5",
  });
  assert.deepEqual(shown["database.connect_timeout"], {
    value: "1m",
    source: "variable",
    place: "SERVICE_DATABASE_CONNECT_TIMEOUT",
  });
  assert.deepEqual(shown["server.http.enabled"], { value: true, source: "default" });
  for (const secret of secrets) assert.ok(!stdout.includes(secret), secret);
});

test("all problems are printed instead, and the status is 1", async (t) => {
  const words = ["config", "now", "-c", "here.yaml", "--http-prot", "--output=xml"];
  const { status, stdout, stderr } = await runCommand(words, given(t));
  assert.deepEqual([status, stdout], [1, ""]);
  assert.equal(
    stderr,
    "pemba: --http-prot: no such flag (did you mean `--http-port`?)\n" +
      "pemba: config: `now` is not understood\n" +
      "pemba: --output: expected text or json\n",
  );
});

test("a word behind an unknown flag is told as its value, and not once more", async () => {
  for (const [words, told] of [
    [
      ["config", "--databse-uri", "postgres://h/x"],
      "--databse-uri: no such flag (did you mean `--database-uri`?)",
    ],
    [["serve", "--port", "8080"], "--port: no such flag"],
    [["version", "--bogus", "extra"], "--bogus: no such flag"],
    [["check", "doc:1", "view", "user:1", "--depht", "3"], "--depht: no such flag"],
    [["check", "--depht", "3", "doc:1", "view", "user:1"], "--depht: no such flag"],
    [["migrate", "--bogus", "up"], "--bogus: no such flag"],
  ] as const) {
    const { status, stderr } = await runCommand([...words]);
    assert.deepEqual([status, stderr], [1, `pemba: ${told}\n`], words.join(" "));
  }
});

test("the schema of the file is printed with any configuration", async () => {
  const env = { SERVICE_NOTHING: "1" };
  const { status, stdout, stderr } = await runCommand(["config", "schema"], { env });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.deepEqual(JSON.parse(stdout), configurationSchema());
  const more = await runCommand(["config", "schema", "please"]);
  assert.deepEqual(
    [more.status, more.stderr],
    [1, "pemba: config schema: `please` is not understood\n"],
  );
});

test("no value of a key that holds a secret is shown", async () => {
  const clusters = "database.clusters";
  // Clusters stand in place of the URI.
  const secretKeys = optionKeys.filter((key) => options[key].secret && key !== clusters);
  assert.ok(secretKeys.length >= 3);
  const flags = secretKeys.map((key) => {
    if (key.endsWith("scoped")) {
      return `--${options[key].flag}=[{"key": "hunter2", "name": "shop", "scopes": ["check"]}]`;
    }
    const isUri = key.endsWith("uri");
    return `--${options[key].flag}=${isUri ? "postgres://u:hunter2@h/x" : "x:hunter2-and-hunter2"}`;
  });
  const { status, stdout } = await runCommand(["config", ...flags]);
  assert.equal(status, 0);
  assert.doesNotMatch(stdout, /hunter2/);
  assert.match(
    stdout,
    /authn.preshared.scoped +{"key":"\*\*\*","name":"shop","scopes":\["check"\]} +flag/,
  );
  const given = `[{"name": "a", "uri": "postgres://u:hunter2@h/x"}]`;
  const placed = await runCommand([
    "config",
    "--database-engine=postgres",
    `--${options[clusters].flag}=${given}`,
  ]);
  assert.deepEqual([placed.status, placed.stderr], [0, ""]);
  assert.match(placed.stdout, /database.clusters +{"name":"a",.*"uri":"postgres:\/\/u:\*\*\*@h/);
  assert.doesNotMatch(placed.stdout, /hunter2/);
});

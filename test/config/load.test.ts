import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { parseFlags } from "../../src/config/flags.ts";
import { configFlags, loadConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/options.ts";

interface Given {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function problemsOf({ args = [], env = {} }: Given): readonly string[] {
  const { values, problems } = parseFlags(args, configFlags());
  const loaded = loadConfig({ flags: values, env });
  return [...problems, ...(loaded.kind === "problems" ? loaded.problems : [])];
}

function configOf({ args = [], env = {} }: Given): Config {
  const { values, problems } = parseFlags(args, configFlags());
  assert.deepEqual(problems, []);
  const loaded = loadConfig({ flags: values, env });
  assert.equal(loaded.kind, "config");
  return loaded.kind === "config" ? loaded.config : assert.fail();
}

function file(t: TestContext, text: string, name = "config.yaml"): string {
  const folder = mkdtempSync(join(tmpdir(), "pemba-config-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("nothing has to be configured", () => {
  const config = configOf({});
  assert.equal(config["server.http.port"], 3476);
  assert.equal(config["database.engine"], "memory");
  assert.equal(config["database.max_connection_lifetime"], 300_000);
  assert.equal(config["service.schema.cache.max_cost"], 10 * 1024 * 1024);
});

test("a file wins over the default, a variable over the file, a flag over the variable", (t) => {
  const path = file(t, "server:\n  http:\n    port: 1\n");
  const env = { SERVICE_HTTP_PORT: "2" };
  assert.equal(configOf({ args: ["-c", path] })["server.http.port"], 1);
  assert.equal(configOf({ args: ["--config", path], env })["server.http.port"], 2);
  const args = ["--config", path, "--http-port", "3"];
  assert.equal(configOf({ args, env })["server.http.port"], 3);
});

test("a file may be named .yml, quote its numbers, leave sections empty and use anchors", (t) => {
  const path = file(
    t,
    `server: &all\n  http: { port: "8080", enabled: true }\nlogger:\ndatabase:\n  uri: ~\n`,
    "pemba.yml",
  );
  const config = configOf({ args: ["-c", path] });
  assert.equal(config["server.http.port"], 8080);
  assert.equal(config["database.uri"], "");
});

test("an empty file is no configuration", (t) => {
  assert.equal(configOf({ args: ["-c", file(t, "# nothing yet\n")] })["server.http.port"], 3476);
});

test("a flag takes its value after a space or an equals sign, and a switch needs none", () => {
  assert.equal(configOf({ args: ["--http-port=9"] })["server.http.port"], 9);
  assert.equal(configOf({ args: ["--database-auto-migrate"] })["database.auto_migrate"], true);
  const off = configOf({ args: ["--database-auto-migrate=false"] });
  assert.equal(off["database.auto_migrate"], false);
});

test("an empty variable is one that is not set", () => {
  assert.equal(configOf({ env: { SERVICE_HTTP_PORT: "" } })["server.http.port"], 3476);
});

test("durations and sizes are read with their units", () => {
  const config = configOf({
    env: {
      SERVICE_DATABASE_CONNECT_TIMEOUT: "1m30s",
      SERVICE_DATABASE_MAX_CONNECTION_IDLE_TIME: "1.5h",
      SERVICE_SERVICE_SCHEMA_CACHE_MAX_COST: "2kb",
    },
  });
  assert.equal(config["database.connect_timeout"], 90_000);
  assert.equal(config["database.max_connection_idle_time"], 5_400_000);
  assert.equal(config["service.schema.cache.max_cost"], 2_000);
});

test("all problems are told at once, with key, value, place and what is allowed", (t) => {
  const path = file(t, "server:\n  prot: 1\nlogger:\n  level: warning\n  output: [text]\n");
  assert.deepEqual(
    problemsOf({
      args: ["-c", path, "--http-port", "70000"],
      env: {
        SERVICE_HTTP_PROT: "1",
        SERVICE_DATABASE_CONNECT_TIMEOUT: "60",
        SERVICE_PERMISSION_BULK_LIMIT: "5",
      },
    }),
    [
      `${path}:2:3: \`server.prot\` is not a key of the configuration`,
      "SERVICE_HTTP_PROT: no key of the configuration has this variable (did you mean `SERVICE_HTTP_PORT`?)",
      "SERVICE_PERMISSION_BULK_LIMIT: no key of the configuration has this variable (did you mean `SERVICE_SERVICE_PERMISSION_BULK_LIMIT`?)",
      "--http-port: `server.http.port`: `70000` is not allowed, expected a port from 0 to 65535 (0 is any free one)",
      `${path}:4:3: \`logger.level\`: \`warning\` is not allowed, expected error, warn, info or debug`,
      `${path}:5:3: \`logger.output\` is a list, expected one value`,
      "SERVICE_DATABASE_CONNECT_TIMEOUT: `database.connect_timeout`: `60` is not allowed, expected a duration with its unit, such as 500ms, 60s, 15m or 1h30m (did you mean `60s`, which are seconds?)",
    ],
  );
});

test("a secret is not shown when it is refused", () => {
  const [problem, ...others] = problemsOf({ env: { SERVICE_DATABASE_URI: "mysql://u:hunter2@h" } });
  assert.deepEqual(others, []);
  assert.match(problem ?? "", /^SERVICE_DATABASE_URI: `database.uri`: the value is not allowed, /);
  assert.doesNotMatch(problem ?? "", /hunter2/);
});

test("the engine postgres needs a URI, of whichever key", () => {
  const env = { SERVICE_DATABASE_ENGINE: "postgres" };
  assert.deepEqual(problemsOf({ env }), [
    "`database.uri`: is empty, expected a URI since `database.engine` is `postgres`",
  ]);
  assert.deepEqual(
    problemsOf({ env: { ...env, SERVICE_DATABASE_WRITER_URI: "postgres://localhost/x" } }),
    [],
  );
});

test("a contradiction is told along with other problems, unless a bad value may explain it", () => {
  const args = ["--http-port=99999", "--database-engine=postgres"];
  assert.deepEqual(
    problemsOf({ args }).map((problem) => problem.split(": ")[0]),
    ["--http-port", "`database.uri`"],
  );
  assert.deepEqual(
    problemsOf({ args: [...args, "--database-uri=mysql://h"] }).map((text) => text.split(": ")[1]),
    ["`server.http.port`", "`database.uri`"],
  );
});

test("a URI of a database is one that the driver can read", () => {
  for (const uri of [
    "postgres://localhost",
    "postgresql://u:a,b@h:5432/x?sslmode=require",
    "postgres://u:p%40@one:5432,two:5433/x",
    "postgres:///x?host=/tmp",
    "postgres://%2Ftmp/x",
  ]) {
    assert.equal(configOf({ args: ["--database-uri", uri] })["database.uri"], uri);
  }
  for (const uri of [
    "postgres://",
    "postgres://[bad",
    "postgres://h:99999/x",
    "postgres://%zz@h",
  ]) {
    assert.deepEqual(problemsOf({ args: ["--database-uri", uri] }), [
      "--database-uri: `database.uri`: the value is not allowed, expected a URI such as postgres://user:password@host:5432/database",
    ]);
  }
});

test("a file that is named must be there, be readable YAML and have a name that says so", (t) => {
  assert.deepEqual(problemsOf({ args: ["-c", "nowhere.yaml"] }), [
    "--config: there is no file `nowhere.yaml`",
  ]);
  assert.deepEqual(problemsOf({ args: ["-c", "config.json"] }), [
    "--config: `config.json` does not end in .yaml or .yml",
  ]);
  const broken = file(t, "server: {\n");
  assert.deepEqual(problemsOf({ args: ["-c", broken, "--database-engine=postgres"] }), [
    `${broken}:2:1: flow map in block collection must be sufficiently indented and end with a }`,
  ]);
  const list = file(t, "- server\n");
  assert.match(problemsOf({ args: ["-c", list] })[0] ?? "", /expected keys with values/);
});

test("the same key twice in a file is a problem", (t) => {
  const path = file(t, "logger:\n  level: info\n  level: debug\n");
  assert.match(problemsOf({ args: ["-c", path] })[0] ?? "", /unique/);
});

test("a flag nobody knows and one without its value are problems", () => {
  assert.deepEqual(problemsOf({ args: ["--http-prot", "1", "--log-level"] }), [
    "--http-prot: no such flag (did you mean `--http-port`?)",
    "--log-level: needs a value",
  ]);
});

test("a list is a list in a file, and has commas between its values elsewhere", (t) => {
  const key = "authn.preshared.keys";
  const path = file(t, 'authn:\n  preshared: { keys: ["k,one", k-two, 3] }\n');
  assert.deepEqual(configOf({ args: ["-c", path] })[key], ["k,one", "k-two", "3"]);
  const one = file(t, "authn:\n  preshared:\n    keys: k-one\n");
  assert.deepEqual(configOf({ args: ["-c", one] })[key], ["k-one"]);
  const none = file(t, "authn:\n  preshared:\n    keys: []\n");
  assert.deepEqual(configOf({ args: ["-c", none] })[key], []);
  const env = { SERVICE_AUTHN_PRESHARED_KEYS: "k-one, k-two" };
  assert.deepEqual(configOf({ env })[key], ["k-one", "k-two"]);
  assert.deepEqual(configOf({ env, args: ["--authn-preshared-keys=k-three"] })[key], ["k-three"]);
  assert.deepEqual(configOf({})["authn.oidc.valid_methods"], ["RS256", "HS256"]);
});

test("a list holds nothing but plain values that are allowed", (t) => {
  const path = file(t, "authn:\n  preshared:\n    keys: [a, {b: c}]\n  oidc:\n    issuer: [a]\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:3:5: \`authn.preshared.keys\` is a list with more than plain values in it`,
    `${path}:5:5: \`authn.oidc.issuer\` is a list, expected one value`,
  ]);
  const blank = file(t, "authn:\n  preshared:\n    keys: [a, ~]\n");
  assert.match(problemsOf({ args: ["-c", blank] })[0] ?? "", /more than plain values/);
  for (const text of ["k-one,,k-two", "k-one,", "with space", "gr\u00fcn"]) {
    const [problem = "", ...others] = problemsOf({ env: { SERVICE_AUTHN_PRESHARED_KEYS: text } });
    assert.deepEqual(others, []);
    assert.match(
      problem,
      /: `authn.preshared.keys`: the value is not allowed, expected a list of /,
    );
  }
  for (const text of ["none", "RS256,none", "rs256"]) {
    const [problem = ""] = problemsOf({ env: { SERVICE_AUTHN_OIDC_VALID_METHODS: text } });
    assert.match(
      problem,
      /`authn.oidc.valid_methods`: `.*` is not allowed, expected a list of RS256/,
    );
  }
});

test("an issuer is a URL that nothing can be hidden in", () => {
  const issuer = (text: string): readonly string[] =>
    problemsOf({ env: { SERVICE_AUTHN_OIDC_ISSUER: text } });
  for (const text of [
    "https://a.example",
    "https://a.example/realms/x/",
    "http://127.0.0.1:8080",
  ]) {
    assert.deepEqual(issuer(text), []);
  }
  for (const text of [
    "a.example",
    "ftp://a",
    "https://u:p@a",
    "https://a?b",
    "https://a#b",
    "https://",
  ]) {
    assert.equal(issuer(text).length, 1, text);
  }
});

test("what is switched on must be told all that it needs, which is reported at once", () => {
  assert.deepEqual(problemsOf({ env: { SERVICE_AUTHN_ENABLED: "true" } }), [
    "`authn.method`: is empty, expected preshared or oidc since `authn.enabled` is true",
  ]);
  const preshared = { SERVICE_AUTHN_ENABLED: "true", SERVICE_AUTHN_METHOD: "preshared" };
  assert.deepEqual(problemsOf({ env: preshared }), [
    "`authn.preshared.keys`: is empty, expected at least one key since `authn.method` is `preshared`",
  ]);
  const both = { SERVICE_HTTP_TLS_ENABLED: "true", SERVICE_GRPC_TLS_ENABLED: "true" };
  const oidc = { SERVICE_AUTHN_ENABLED: "true", SERVICE_AUTHN_METHOD: "oidc" };
  assert.deepEqual(problemsOf({ env: { ...both, ...oidc } }), [
    "`server.http.tls.cert`: is empty, expected a file since `server.http.tls.enabled` is true",
    "`server.http.tls.key`: is empty, expected a file since `server.http.tls.enabled` is true",
    "`server.grpc.tls.cert`: is empty, expected a file since `server.grpc.tls.enabled` is true",
    "`server.grpc.tls.key`: is empty, expected a file since `server.grpc.tls.enabled` is true",
    "`authn.oidc.issuer`: is empty, expected a value since `authn.method` is `oidc`",
    "`authn.oidc.audience`: is empty, expected a value since `authn.method` is `oidc`",
  ]);
  // What is switched off needs nothing.
  assert.deepEqual(problemsOf({ env: { SERVICE_AUTHN_METHOD: "oidc" } }), []);
});

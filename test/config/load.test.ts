import assert from "node:assert/strict";
import { test } from "node:test";

import { configOf, file, loadedFrom, problemsOf } from "../support/given-config.ts";

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

test("a flag takes its value after a space or an equals sign, and a switch needs none", () => {
  assert.equal(configOf({ args: ["--http-port=9"] })["server.http.port"], 9);
  assert.equal(configOf({ args: ["--database-auto-migrate"] })["database.auto_migrate"], true);
  const off = configOf({ args: ["--database-auto-migrate=false"] });
  assert.equal(off["database.auto_migrate"], false);
});

test("a switch with its value as a separate word gets a hint", () => {
  assert.deepEqual(problemsOf({ args: ["--http-enabled", "false"] }), [
    "--http-enabled false: expected `--http-enabled=false`",
  ]);
  // Of any other flag it is no value.
  assert.deepEqual(problemsOf({ args: ["--log-level", "info", "true"] }), []);
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

test("all problems are reported at once, with key, value, position and what is allowed", (t) => {
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

test("the engine postgres needs a URI, in one of its keys", () => {
  const env = { SERVICE_DATABASE_ENGINE: "postgres" };
  assert.deepEqual(problemsOf({ env }), [
    "`database.uri`: is empty, expected a URI, or clusters in `database.clusters`, since `database.engine` is `postgres`",
  ]);
  assert.deepEqual(
    problemsOf({ env: { ...env, SERVICE_DATABASE_WRITER_URI: "postgres://localhost/x" } }),
    [],
  );
});

test("a contradiction is reported with other problems, unless a bad value may explain it", () => {
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
    "postgres:///x?search_path=a",
    "postgres://u:p@[::1],[2001:db8::1]:5433,one/x",
    "postgres://%2Ftmp/x",
  ]) {
    assert.equal(configOf({ args: ["--database-uri", uri] })["database.uri"], uri);
  }
  for (const uri of [
    "postgres://",
    "postgres://[bad",
    "postgres://h:99999/x",
    "postgres://one,::1/x",
    "postgres://[::1],[bad/x",
    "postgres://one,/x",
  ]) {
    assert.deepEqual(problemsOf({ args: ["--database-uri", uri] }), [
      "--database-uri: `database.uri`: the value is not allowed, expected a URI such as postgres://user:password@host:5432/database",
    ]);
  }
});

test("a URI of a database with a bare `%` says how it is written, and nothing of the password", () => {
  for (const uri of ["postgres://%zz@h", "postgres://h%zz/x", "postgres://u:hunter2%@h/x"]) {
    assert.deepEqual(problemsOf({ args: ["--database-uri", uri] }), [
      "--database-uri: `database.uri`: the value is not allowed, expected a URI such as postgres://user:password@host:5432/database (`%` is written `%25` there)",
    ]);
  }
});

test("a parameter of a database's URI that asks for what is not done is refused by its name", () => {
  for (const [query, expected] of [
    [
      "sslmode=bogus",
      "`sslmode` is expected to be disable, prefer, require, verify-ca or verify-full",
    ],
    ["sslmode=allow", "`sslmode` is expected to be "],
    ["ssl=true", "`ssl` is not supported, use `sslmode`"],
    ["sslmode=require&sslcert=/x", "`sslcert` is not supported"],
    ["password=hunter2", "`password` is not supported, give its value before the `?`"],
    ["user=you", "`user` is not supported"],
    ["search_path=a&host=hunter2", "`host` is not supported"],
    ["channel_binding=require", "`channel_binding` is expected to be disable or prefer"],
    ["sslrootcert=/x", "`sslrootcert` needs `sslmode` to be "],
    ["sslmode=verify-ca", "`sslmode=verify-ca` needs `sslrootcert`"],
    ["sslmode=require&sslrootcert=system", "`sslrootcert=system` needs `sslmode=verify-full`"],
  ] as const) {
    const uri = `postgres://me:hunter2@h/x?${query}`;
    const [problem, ...others] = problemsOf({ args: ["--database-uri", uri] });
    assert.deepEqual(others, []);
    assert.ok(problem?.includes(expected), problem);
    assert.ok(!problem?.includes("hunter2"));
  }
  for (const query of ["sslmode=verify-full", "sslmode=prefer&pool_max_conns=5&search_path=a"]) {
    assert.deepEqual(problemsOf({ args: ["--database-uri", `postgres://h/x?${query}`] }), []);
  }
});

test("variables of Permify are named once, with those that have their keys here", () => {
  const env = {
    PERMIFY_DATABASE_URI: "postgres://old",
    PERMIFY_LOG_LEVEL: "debug",
    PERMIFY_ACCOUNT_ID: "a",
    SERVICE_LOG_LEVEL: "warn",
  };
  const { config, warnings } = loadedFrom({ env });
  assert.equal(config["logger.level"], "warn");
  assert.deepEqual(warnings, [
    "ignored, since variables begin with SERVICE_ here: PERMIFY_ACCOUNT_ID, PERMIFY_DATABASE_URI (here SERVICE_DATABASE_URI), PERMIFY_LOG_LEVEL (here SERVICE_LOG_LEVEL)",
  ]);
});

test("the key of Permify that has no counterpart is refused with the reason", (t) => {
  const path = file(t, "account_id: a\n");
  const found = problemsOf({ args: ["-c", path], env: { SERVICE_ACCOUNT_ID: "a" } });
  const reason =
    ": it names a customer of Permify to its makers, and nothing is sent to them here, leave it out";
  assert.deepEqual(found, [
    `${path}:1:1: \`account_id\` is not a key of the configuration${reason}`,
    `SERVICE_ACCOUNT_ID: no key of the configuration has this variable${reason}`,
  ]);
});

test("an unknown flag and a flag without its value are problems", () => {
  assert.deepEqual(problemsOf({ args: ["--http-prot", "1", "--log-level"] }), [
    "--http-prot: no such flag (did you mean `--http-port`?)",
    "--log-level: needs a value",
  ]);
  // A key without its section, and one with a section that its flag has not. Of several none is meant.
  assert.deepEqual(problemsOf({ args: ["--watch-enabled", "--server-http-port=1", "--port=1"] }), [
    "--watch-enabled: no such flag (did you mean `--service-watch-enabled`?)",
    "--server-http-port: no such flag (did you mean `--http-port`?)",
    "--port: no such flag",
  ]);
});

test("a list is a list in a file, and has commas between its values elsewhere", (t) => {
  const key = "authn.preshared.keys";
  const path = file(t, 'authn:\n  preshared: { keys: ["k,one", k-two, 3] }\n');
  assert.deepEqual(configOf({ args: ["-c", path] })[key], ["k,one", "k-two", "3"]);
  const one = file(t, "authn:\n  preshared:\n    keys: k-one\n");
  assert.deepEqual(configOf({ args: ["-c", one] })[key], ["k-one"]);
  const split = file(t, 'authn:\n  preshared:\n    keys: "k,one"\n');
  assert.deepEqual(configOf({ args: ["-c", split] })[key], ["k", "one"]);
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

test("a switch needs its other keys, and all missing ones are reported at once", () => {
  assert.deepEqual(problemsOf({ env: { SERVICE_AUTHN_ENABLED: "true" } }), [
    "`authn.method`: is empty, expected preshared or oidc since `authn.enabled` is true",
  ]);
  const preshared = { SERVICE_AUTHN_ENABLED: "true", SERVICE_AUTHN_METHOD: "preshared" };
  assert.deepEqual(problemsOf({ env: preshared }), [
    "`authn.preshared.keys`: is empty, expected at least one key, here or in `authn.preshared.scoped`, since `authn.method` is `preshared`",
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

test("a list may be given by several flags, each of one value or more", () => {
  const key = "authn.preshared.keys";
  const flag = "--authn-preshared-keys";
  assert.deepEqual(configOf({ args: [flag, "a", `${flag}=b,c`, flag, ""] })[key], ["a", "b", "c"]);
  assert.deepEqual(configOf({ args: [flag, ""] })[key], []);
  // Of any other flag the last one counts.
  const twice = ["--http-port", "1", "--http-port", "2"];
  assert.equal(configOf({ args: twice })["server.http.port"], 2);
});

test("variables that have another name, too, are known by both", () => {
  const byOther = {
    SERVICE_RATE_LIMIT: ["server.rate_limit", "7", 7],
    SERVICE_AUTHN_OIDC_BACKOFF_RETRIES: ["authn.oidc.backoff_max_retries", "7", 7],
    SERVICE_LOG_URL_PATH: ["logger.urlpath", "/seven", "/seven"],
    SERVICE_TRACER_URL_PATH: ["tracer.urlpath", "/seven", "/seven"],
    SERVICE_METER_URL_PATH: ["meter.urlpath", "/seven", "/seven"],
  } as const;
  for (const [variable, [key, text, value]] of Object.entries(byOther)) {
    assert.equal(configOf({ env: { [variable]: text } })[key], value);
  }
  assert.equal(configOf({ env: { SERVICE_SERVER_RATE_LIMIT: "7" } })["server.rate_limit"], 7);
});

test("two variables of one key agree, or are a problem", () => {
  const env = { SERVICE_RATE_LIMIT: "7", SERVICE_SERVER_RATE_LIMIT: "7" };
  assert.equal(configOf({ env })["server.rate_limit"], 7);
  assert.deepEqual(problemsOf({ env: { ...env, SERVICE_SERVER_RATE_LIMIT: "8" } }), [
    "SERVICE_SERVER_RATE_LIMIT: `server.rate_limit` has another value in SERVICE_RATE_LIMIT",
  ]);
});

test("a deprecated key stands in for its successor, and a warning says so", (t) => {
  const path = file(t, "database:\n  max_open_connections: 7\n");
  const places = [
    [{ args: ["-c", path] }, `${path}:2:3`],
    [
      { env: { SERVICE_DATABASE_MAX_OPEN_CONNECTIONS: "7" } },
      "SERVICE_DATABASE_MAX_OPEN_CONNECTIONS",
    ],
    [{ args: ["--database-max-open-connections", "7"] }, "--database-max-open-connections"],
  ] as const;
  for (const [given, place] of places) {
    const { config, warnings } = loadedFrom(given);
    assert.equal(config["database.max_connections"], 7);
    assert.deepEqual(warnings, [
      `${place}: \`database.max_open_connections\` is deprecated in favour of \`database.max_connections\`, use that`,
    ]);
  }
  const both = { args: ["-c", path], env: { SERVICE_DATABASE_MAX_CONNECTIONS: "8" } };
  const { config, warnings } = loadedFrom(both);
  assert.equal(config["database.max_connections"], 8);
  assert.deepEqual(warnings, [
    `${path}:2:3: \`database.max_open_connections\` is deprecated in favour of \`database.max_connections\`, which is also set and is used`,
  ]);
  assert.deepEqual(problemsOf({ args: ["--database-max-open-connections", "0"] }), [
    "--database-max-open-connections: `database.max_open_connections`: `0` is not allowed, expected a whole number from 1 to 10000",
  ]);
});

test("what a duration, a size and a truth may look like", () => {
  const timeout = (text: string): unknown =>
    configOf({ args: ["--database-connect-timeout", text] })["database.connect_timeout"];
  assert.deepEqual(
    ["0", "0s", "500ms", "15m", "1h30m", "1.5s"].map(timeout),
    [0, 0, 500, 900_000, 5_400_000, 1_500],
  );
  const cost = (text: string): unknown =>
    configOf({ args: ["--service-schema-cache-max-cost", text] })["service.schema.cache.max_cost"];
  assert.deepEqual(
    ["1000", "10MB", "10MiB", "1.5 KiB", "7B"].map(cost),
    [1_000, 10_000_000, 10_485_760, 1_536, 7],
  );
  const enabled = (text: string): unknown =>
    configOf({ args: [`--http-enabled=${text}`] })["server.http.enabled"];
  assert.deepEqual(["true", "True", "FALSE"].map(enabled), [true, true, false]);
  for (const [flag, texts] of [
    ["database-connect-timeout", ["15", "1.5", "-1s", "1d", "1h 30m", "s", "", "1e3s"]],
    [
      "service-schema-cache-max-cost",
      ["0", "0B", "-1", "1e3", "10Mi", "10 M", "10TiB", "", "0x10"],
    ],
    ["http-enabled", ["yes", "on", "1", "", "tRUE"]],
    ["http-port", ["-1", "65536", "1.0", "0x10", "", " 1"]],
  ] as const) {
    for (const text of texts) {
      const problems = problemsOf({ args: [`--${flag}=${text}`] });
      assert.equal(problems.length, 1, `${flag} ${text}: ${problems.join()}`);
      assert.match(problems[0] ?? "", / is not allowed, expected /);
    }
  }
});

test("an invalid value gets a hint at what was probably meant", () => {
  const meant = (args: readonly string[]): string =>
    /did you mean `(.*?)`/.exec(problemsOf({ args }).join())?.[1] ?? "";
  assert.equal(meant(["--database-connect-timeout=60"]), "60s");
  assert.equal(meant(["--database-garbage-collection-window=200"]), "200s");
  assert.equal(meant(["--log-level=Warn"]), "warn");
  assert.equal(meant(["--database-engine=postgre"]), "postgres");
  assert.equal(meant(["--database-max-conections=3"]), "--database-max-connections");
  assert.equal(meant(["--log-level=purple"]), "");
});

test("no password of a refused URI is shown, for any key", () => {
  for (const uri of ["redis://u:hunter2@h", "postgres://u:hun/ter2@h:port", "x?password=hunter2"]) {
    for (const key of ["--database-uri", "--server-host", "--authn-oidc-issuer"]) {
      const problems = problemsOf({ args: [key, uri] });
      assert.equal(problems.length, 1);
      assert.doesNotMatch(problems[0] ?? "", /hun|ter2/, key);
    }
  }
});

test("the target of a gateway that there is none of is a host all the same", () => {
  const flag = "--http-grpc-target-host";
  for (const host of ["127.0.0.1", "::1", "grpc.internal", "localhost"]) {
    assert.equal(configOf({ args: [flag, host] })["server.http.grpc_target_host"], host);
  }
  for (const host of ["", "a b", "http://a", "a:1", "-a", "a..b", "1", "1.2.3", "256.0.0.1"]) {
    assert.equal(problemsOf({ args: [`${flag}=${host}`] }).length, 1, host);
  }
});

test("a page is of an origin without a path, or of any", () => {
  const origins = (text: string): readonly string[] =>
    problemsOf({ args: ["--http-cors-allowed-origins", text] });
  for (const text of ["*", "https://a.example", "http://a:8080,https://b.example", ""]) {
    assert.deepEqual(origins(text), [], text);
  }
  for (const text of [
    "a.example",
    "https://a.example/",
    "https://*.a.example",
    "HTTPS://a",
    "null",
  ]) {
    assert.equal(origins(text).length, 1, text);
  }
  assert.deepEqual(problemsOf({ args: ["--http-cors-allowed-headers", "x-a, authorization"] }), []);
  assert.equal(problemsOf({ args: ["--http-cors-allowed-headers", "x a"] }).length, 1);
});

test("security that is given and switched off is a warning, one for each switch", (t) => {
  const path = file(t, "authn:\n  preshared:\n    keys: [k-one]\n");
  const env = { SERVICE_AUTHN_METHOD: "preshared", SERVICE_GRPC_TLS_CERT_PATH: "a.pem" };
  assert.deepEqual(loadedFrom({ args: ["-c", path], env }).warnings, [
    "`authn.enabled`: is false, so nothing is protected by `authn.method`, `authn.preshared.keys`",
    "`server.grpc.tls.enabled`: is false, so nothing is protected by `server.grpc.tls.cert`",
  ]);
  assert.deepEqual(
    loadedFrom({ args: ["-c", path, "--authn-enabled", "--authn-method=preshared"] }).warnings,
    [],
  );
});

test("no two listeners have the same port, unless it is any free one or their addresses differ", () => {
  assert.deepEqual(problemsOf({ args: ["--http-port=7000", "--grpc-port=7000"] }), [
    "`server.grpc.port`: is 7000, which is `server.http.port`, expected another port",
  ]);
  assert.deepEqual(problemsOf({ args: ["--http-port=6060"] }), [
    "`profiler.port`: is 6060, which is `server.http.port`, expected another port",
  ]);
  for (const args of [
    ["--http-port=0", "--grpc-port=0"],
    ["--http-port=7000", "--grpc-port=7000", "--http-enabled=false"],
    ["--http-port=6060", "--server-host=10.0.0.1"],
    ["--http-port=6060", "--profiler-enabled=false"],
  ]) {
    assert.deepEqual(problemsOf({ args }), [], args.join(" "));
  }
});

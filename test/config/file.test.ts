import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import fc from "fast-check";

import { configOf, file, problemsOf } from "../support/given-config.ts";

test("a file may be named .yml, quote its numbers and leave sections empty", (t) => {
  const path = file(
    t,
    `server:\n  http: { port: "8080", enabled: true }\nlogger:\ndatabase:\n  uri: ~\n`,
    "pemba.yml",
  );
  const config = configOf({ args: ["-c", path] });
  assert.equal(config["server.http.port"], 8080);
  assert.equal(config["database.uri"], "");
});

test("an empty file is no configuration, nor is one of nothing", (t) => {
  for (const text of ["", "# nothing yet\n", "---\n", "~\n", "null\n", "{}\n"]) {
    assert.equal(configOf({ args: ["-c", file(t, text)] })["server.http.port"], 3476, text);
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
});

test("a file is a map, of which there is one", (t) => {
  for (const text of ["- server\n", "server\n", "3476\n", "[]\n"]) {
    const path = file(t, text);
    assert.deepEqual(problemsOf({ args: ["-c", path] }), [
      `${path}: expected keys with values, such as \`logger: {level: debug}\``,
    ]);
  }
  const two = file(t, "logger:\n  level: debug\n---\nlogger:\n  level: info\n");
  assert.deepEqual(problemsOf({ args: ["-c", two] }), [
    `${two}:3:1: a second document begins here, expected one`,
  ]);
});

test("a file that cannot be read is distinguished from a missing one", (t) => {
  const folder = join(dirname(file(t, "")), "folder.yaml");
  mkdirSync(folder);
  assert.deepEqual(problemsOf({ args: ["-c", folder] }), [
    `${folder}: is a folder, expected a YAML file`,
  ]);
  const below = join(file(t, ""), "config.yaml");
  assert.deepEqual(problemsOf({ args: ["-c", below] }), [
    `--config: there is no file \`${below}\``,
  ]);
  const latin = file(t, Buffer.from("logger:\n  file: gr\u00fcn\n", "latin1"));
  assert.deepEqual(problemsOf({ args: ["-c", latin] }), [`${latin}: is not UTF-8`]);
  const large = file(t, "");
  truncateSync(large, 8 * 1024 * 1024 + 1);
  assert.deepEqual(problemsOf({ args: ["-c", large] }), [`${large}: is larger than 8388608 bytes`]);
  const endless = join(dirname(large), "endless.yaml");
  symlinkSync("/dev/zero", endless);
  assert.deepEqual(problemsOf({ args: ["-c", endless] }), [
    `${endless}: is a device, expected a YAML file`,
  ]);
});

test(
  "a file that may not be read is a problem of its own",
  { skip: process.getuid?.() === 0 ? "root may read everything" : false },
  (t) => {
    const path = file(t, "");
    chmodSync(path, 0);
    assert.deepEqual(problemsOf({ args: ["-c", path] }), [
      `${path}: cannot be read: permission denied`,
    ]);
  },
);

test("a byte order mark and lines that end in CRLF change nothing", (t) => {
  const path = file(t, "\ufefflogger:\r\n  level: debug\r\n  outputs: json\r\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:3:3: \`logger.outputs\` is not a key of the configuration (did you mean \`logger.output\`?)`,
  ]);
  const good = file(t, "\ufefflogger:\r\n  level: debug\r\n");
  assert.equal(configOf({ args: ["-c", good] })["logger.level"], "debug");
});

test("what is written once can stand in several places, and own keys win over merged ones", (t) => {
  const path = file(
    t,
    `server:
  http:
    tls: &tls { enabled: true, cert: &pem /a.pem, key: /a.key }
  grpc:
    tls:
      key: /b.key
      <<: *tls
authn:
  preshared:
    keys: [*pem, k-two]
`,
  );
  const config = configOf({ args: ["-c", path] });
  assert.deepEqual(
    [config["server.grpc.tls.enabled"], config["server.grpc.tls.cert"]],
    [true, "/a.pem"],
  );
  assert.equal(config["server.grpc.tls.key"], "/b.key");
  assert.deepEqual(config["authn.preshared.keys"], ["/a.pem", "k-two"]);
});

test("what a map has itself takes the place of all that is merged into it there", (t) => {
  const path = file(
    t,
    `server:
  http: &all { port: 1, tls: { enabled: false, cert: /a.pem, key: /a.key } }
  grpc:
    <<: *all
    port:
    tls: { key: /b.key }
`,
  );
  const config = configOf({ args: ["-c", path] });
  assert.equal(config["server.grpc.port"], 3478);
  assert.deepEqual([config["server.grpc.tls.cert"], config["server.grpc.tls.key"]], ["", "/b.key"]);
});

test("a merge needs a map, and has an end when it leads back to itself", (t) => {
  const path = file(t, "server: &all\n  <<: *all\nlogger:\n  <<: 3\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:2:3: \`<<\` leads back to itself`,
    `${path}:4:3: \`<<\` stands for the keys of a map, expected one`,
  ]);
  const nested = file(t, "server: &all\n  http: *all\n");
  assert.deepEqual(problemsOf({ args: ["-c", nested] }), [
    `${nested}:2:3: \`server.http.http\` is not a key of the configuration (did you mean \`server.http\`?)`,
  ]);
});

test("a tag and an alias that have no meaning are problems, and their text is not shown", (t) => {
  const path = file(t, "database:\n  uri: !hunter2 x\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:2:8: a tag without a meaning, expected quotes around a text with \`!\` before it`,
  ]);
  const alias = file(t, "database:\n  uri: *hunter2\n");
  assert.deepEqual(problemsOf({ args: ["-c", alias] }), [
    `${alias}:2:3: \`database.uri\` has no such anchor before it, expected quotes around a text with \`*\` before it`,
  ]);
});

test("a file that is damaged anywhere ends in messages, and none shows a secret", (t) => {
  const whole = `server:
  http: { port: 3476, tls: &tls { enabled: false, cert: "a" } }
authn:
  preshared:
    keys: [hunter2, "hunter2-b"]
database:
  uri: postgres://user:hunter2@host:5432/x # of the test
  writer:
    uri: 'postgres://user:hunter2@host/x'
`;
  const marks = ["", ..."{}[],&*!|>'\"%@#-?: \n\t\\<".split("")];
  const damage = fc.record({
    at: fc.nat({ max: whole.length - 1 }),
    cut: fc.nat({ max: 2 }),
    mark: fc.constantFrom(...marks),
  });
  fc.assert(
    fc.property(fc.array(damage, { minLength: 1, maxLength: 3 }), (damages) => {
      const text = damages.reduce(
        (left, { at, cut, mark }) => left.slice(0, at) + mark + left.slice(at + cut),
        whole,
      );
      const path = file(t, text);
      for (const problem of problemsOf({ args: ["-c", path] })) {
        // A text that has become a name is reported as one.
        if (problem.includes("is not a key of the configuration")) continue;
        assert.doesNotMatch(problem.replace(path, ""), /hunter/);
      }
    }),
    { numRuns: 300 },
  );
});

test("an unknown part of a file is reported once, with much or nothing below it", (t) => {
  const path = file(t, "sever:\n  http: { port: 1, enabled: true }\nlogger:\n  levels:\n1: x\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:1:1: \`sever\` is not a key of the configuration (did you mean \`server\`?)`,
    `${path}:4:3: \`logger.levels\` is not a key of the configuration (did you mean \`logger.level\`?)`,
    `${path}:5:1: \`1\` is not a key of the configuration`,
  ]);
});

test("a key is no section, a section is no key, and a dot is no level", (t) => {
  const path = file(t, "server: 3\nlogger:\n  level: {a: b}\ndatabase.engine: memory\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:1:1: \`server\` is a value, expected keys below it`,
    `${path}:3:3: \`logger.level\` is a map, expected a value`,
    `${path}:4:1: \`database.engine\` has a dot, expected a level of the file for each of its steps`,
  ]);
});

test("the same key twice in a file is a problem", (t) => {
  for (const [text, place, key] of [
    ["logger:\n  level: info\n  level: debug\n", "3:3", "level"],
    ['{ "a b": 1, "a b": 2 }', "1:13", '"a b"'],
  ]) {
    const path = file(t, text ?? "");
    assert.deepEqual(problemsOf({ args: ["-c", path] }), [
      `${path}:${place}: the key \`${key}\` is there twice, expected once`,
    ]);
  }
});

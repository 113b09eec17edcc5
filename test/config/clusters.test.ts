import assert from "node:assert/strict";
import { test } from "node:test";

import { effective } from "../../src/config/effective.ts";
import { configOf, file, loadedFrom, problemsOf } from "../support/given-config.ts";

const variable = "SERVICE_DATABASE_CLUSTERS";
const a = { name: "a", uri: "postgres://pemba:secret-a@one:5432/pemba" };
const b = { name: "b", uri: "postgres://pemba:secret-b@two:5432/pemba", weight: 0 };

/** What is wrong with a list of clusters, or with other keys beside it. */
function problems(list: unknown, ...args: readonly string[]): readonly string[] {
  return problemsOf({
    args: ["--database-engine=postgres", ...args],
    env: { [variable]: JSON.stringify(list) },
  });
}

function complains(found: readonly string[], expected: RegExp): void {
  assert.equal(found.length, 1, found.join("\n"));
  assert.match(found[0] ?? "", expected);
}

test("clusters are a list of maps in a file, and the same as JSON elsewhere", (t) => {
  const text = `
database:
  engine: postgres
  clusters:
    - { name: a, uri: "${a.uri}", reader: "${a.uri}", max_connections: 5 }
    - { name: b, uri: "${b.uri}", weight: 0 }
  directory: b
`;
  const none = { reader: undefined, maxConnections: undefined, minConnections: undefined };
  const entries = [
    { ...none, ...a, reader: a.uri, weight: 1, maxConnections: 5 },
    { ...none, ...b },
  ];
  const inFile = configOf({ args: ["-c", file(t, text)] });
  assert.deepEqual(inFile["database.clusters"], entries);
  assert.equal(inFile["database.directory"], "b");
  const json = JSON.stringify([{ ...a, reader: a.uri, max_connections: 5 }, b]);
  const inVariable = configOf({
    args: ["--database-engine=postgres"],
    env: { [variable]: json },
  });
  assert.deepEqual(inVariable["database.clusters"], entries);
});

test("a list of clusters is refused at the place of each fault", () => {
  const wrong = [
    { name: "A_b", uri: a.uri },
    { name: "b" },
    { name: "c", uri: "mysql://c", weight: -1 },
    { name: "d", uri: "postgres://d/one", wieght: 1 },
    "e",
  ];
  const found = problems(wrong).map((text) => /clusters(\S*)`: (.*)/.exec(text)?.slice(1, 3));
  assert.deepEqual(
    found.map((parts) => parts?.[0]),
    ["[0].name", "[1].uri", "[2].uri", "[2].weight", "[3].wieght", "[4]"],
  );
  assert.match(found[4]?.[1] ?? "", /did you mean `weight`/);
});

test("a fault of a list in a file is told at the line of the entry and of its part", (t) => {
  const path = file(
    t,
    `database:
  engine: postgres
  clusters:
    - name: a
      uri: "${a.uri}"
      wieght: 2
    - name: B
      uri: "postgres://b/two"
      weight: many
    - uri: "postgres://c/three"
    - { <<: { name: d }, uri: "mysql://d" }
`,
  );
  const places = problemsOf({ args: ["-c", path] }).map((text) =>
    /:(\d+:\d+): `database\.clusters(\S*)`/.exec(text)?.slice(1),
  );
  assert.deepEqual(places, [
    ["6:7", "[0].wieght"],
    ["7:7", "[1].name"],
    ["9:7", "[1].weight"],
    ["10:7", "[2].name"],
    ["11:26", "[3].uri"],
  ]);
});

test("two clusters have neither one name nor one database", () => {
  complains(problems([a, { ...b, name: "a" }]), /clusters\[1\]\.name`: is that of \[0\], too/);
  complains(problems([a, { ...b, uri: a.uri }]), /clusters\[1\]\.uri`: is that of \[0\], too/);
});

test("a cluster takes new tenants", () => {
  complains(problems([{ ...a, weight: 0 }, b]), /weight 0 everywhere/);
});

test("clusters stand in place of one database, and for Postgres alone", () => {
  complains(problems([a, b], `--database-uri=${a.uri}`), /`database\.uri`: is given/);
  complains(
    problems([a, b], `--database-writer-uri=${a.uri}`),
    /`database\.writer\.uri`: is given/,
  );
  complains(
    problems([a, b], `--database-reader-uri=${a.uri}`),
    /`database\.reader\.uri`: is given/,
  );
  const memory = problemsOf({ env: { [variable]: JSON.stringify([a]) } });
  complains(memory, /`database\.clusters`: is given, expected none since/);
});

test("the directory is on one of the clusters", () => {
  complains(problems([a, b], "--database-directory=c"), /`database\.directory`: names none/);
  const alone = problemsOf({ args: ["--database-directory=a"] });
  complains(alone, /`database\.directory`: is given, expected none without/);
});

test("no password of a cluster is shown", () => {
  const given = {
    args: ["--database-engine=postgres"],
    env: { [variable]: JSON.stringify([{ ...a, reader: a.uri }, b]) },
  };
  const shown = JSON.stringify(effective(loadedFrom(given).settings));
  assert.match(shown, /@two:5432/);
  assert.doesNotMatch(shown, /secret-/);
  const refused = problems([{ ...a, weight: "x", uri: "secret-c" }]);
  assert.equal(refused.length, 2);
  assert.doesNotMatch(refused.join("\n"), /secret-/);
});

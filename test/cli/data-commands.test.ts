import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type ClientScene, openClientScene, tenantWithSchema } from "./client-scene.ts";

let scene: ClientScene;

before(async () => {
  scene = await openClientScene();
});

after(async () => {
  await scene.close();
});

test("tuples are written, read by each part of a filter, and deleted", async () => {
  const run = await tenantWithSchema(scene, "tuples");
  const facts = [
    "doc:a#viewer@group:g",
    "doc:a#viewer@group:g#member",
    "doc:a#viewer@user:ada",
    "doc:b#viewer@user:eve",
    "group:g#member@user:ada",
  ];
  assert.match(await run(["tuple", "write", ...facts]), /^\S+\n$/);
  const read = async (...flags: readonly string[]): Promise<readonly string[]> =>
    (await run(["tuple", "read", ...flags])).split("\n").filter((line) => line !== "");
  assert.deepEqual((await read()).toSorted(), facts);
  assert.deepEqual((await read("--entity", "doc:a")).toSorted(), facts.slice(0, 3));
  assert.deepEqual(await read("--entity", "group"), ["group:g#member@user:ada"]);
  assert.deepEqual(await read("--relation", "viewer", "--subject", "user:eve"), [facts[3]]);
  assert.deepEqual(await read("--subject", "group#member"), [facts[1]]);
  await run(["tuple", "delete", "doc:a#viewer@user:ada", "doc:a#viewer@group:g#member"]);
  assert.deepEqual((await read("--entity", "doc")).toSorted(), [facts[0], facts[3]]);
  await run(["tuple", "delete", "--entity", "doc"]);
  assert.deepEqual(await read(), ["group:g#member@user:ada"]);
});

test("a tuple is not deleted if the server would delete usersets of its subject with it", async () => {
  const run = await tenantWithSchema(scene, "usersets");
  const facts = ["doc:a#viewer@group:g", "doc:a#viewer@group:g#member"];
  await run(["tuple", "write", ...facts]);
  const words = ["tuple", "delete", "doc:a#viewer@group:g", "--tenant", "usersets"];
  const { status, stderr } = await scene.pemba(words);
  assert.equal(status, 1);
  assert.match(stderr, /`doc:a#viewer@group:g#member` would go, too/);
  assert.deepEqual((await run(["tuple", "read"])).trimEnd().split("\n").toSorted(), facts);
});

test("attributes are written, read as they can be written again, and deleted", async () => {
  const run = await tenantWithSchema(scene, "attributes");
  const facts = [
    "doc:a$public|boolean:true",
    "doc:a$score|double:1.5",
    "doc:a$tags|string[]:x,y z",
    "doc:b$tags|string[]:",
  ];
  await run(["attribute", "write", ...facts]);
  const read = async (...flags: readonly string[]): Promise<readonly string[]> =>
    (await run(["attribute", "read", ...flags])).split("\n").filter((line) => line !== "");
  assert.deepEqual((await read()).toSorted(), facts);
  assert.deepEqual(await read("--attribute", "tags", "--entity", "doc:b"), [facts[3]]);
  const odd =
    '{"entity":{"type":"doc","id":"c"},"attribute":"tags","value":{"@type":"type.googleapis.com/base.v1.StringArrayValue","data":["a,b","c\\n"]}}';
  const steering = odd.replace('"c"', '"d"').replace(/\[.*\]/, '["\\u001b[2J"]');
  assert.match(await run(["import", "-"], odd), /^accepted 1,/);
  assert.match(await run(["import", "-"], steering), /^accepted 1,/);
  assert.deepEqual(await read("--entity", "doc:c"), [odd]);
  assert.deepEqual(await read("--entity", "doc:d"), [steering]);
  await run(["attribute", "delete", "doc:a$public|boolean:true", "doc:a$score"]);
  await run(["attribute", "delete", "--entity", "doc:b"]);
  assert.deepEqual(await read("--entity", "doc:a"), facts.slice(2, 3));
});

test("a read that finds nothing names what the schema does not have", async () => {
  await tenantWithSchema(scene, "hints");
  const hintsOf = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { status, stdout, stderr } = await scene.pemba([...words, "--tenant", "hints"]);
    assert.deepEqual([status, stdout], [0, ""]);
    return stderr.split("\n").filter((line) => line !== "");
  };
  assert.deepEqual(await hintsOf("tuple", "read", "--entity", "dok:a"), [
    "pemba: the schema has no entity type `dok` (did you mean `doc`?)",
  ]);
  assert.deepEqual(
    await hintsOf("tuple", "read", "--relation", "viewr", "--subject", "grup#member"),
    [
      "pemba: the schema has no relation `viewr` (did you mean `viewer`?)",
      "pemba: the schema has no entity type `grup` (did you mean `group`?)",
    ],
  );
  assert.deepEqual(await hintsOf("attribute", "read", "--entity", "doc", "--attribute", "tag"), [
    "pemba: the schema has no attribute `tag` (did you mean `tags`?)",
  ]);
  assert.deepEqual(await hintsOf("tuple", "read", "--entity", "doc:a", "--relation", "viewer"), []);
});

test("what the commands of data do not understand is one line and status 1", async () => {
  const mistakes = [
    [["tuple"], /tuple: expected write, read or delete$/],
    [["tuple", "write"], /tuple write: expected TUPLE\.\.\.$/],
    [["tuple", "write", "doc:a$public|boolean:true"], /is an attribute, expected a tuple$/],
    [["attribute", "write", "doc:a#viewer@user:a"], /is a tuple, expected an attribute$/],
    [["attribute", "write", "doc:a"], /`doc:a` is no attribute, .*, in single quotes in a shell$/],
    [["attribute", "delete", "doc:a"], /`doc:a` is no attribute, /],
    [["tuple", "delete"], /tuple delete: expected tuples or a filter, and not both$/],
    [["tuple", "delete", "--entity", "doc", "doc:a#viewer@user:a"], /expected tuples or a filter/],
    [["tuple", "read", "--entity", "doc:"], /--entity: `doc:` is neither a type nor an entity/],
    [
      ["tuple", "read", "doc:a"],
      /tuple read: expected a filter of flags, such as `--entity document:1`, not `doc:a`$/,
    ],
  ] as const;
  for (const [words, expected] of mistakes) {
    const { status, stdout, stderr } = await scene.pemba(words);
    assert.deepEqual([status, stdout], [1, ""], stderr);
    assert.match(stderr, /^pemba: [^\n]+\n$/);
    assert.match(stderr.trimEnd(), expected);
  }
});

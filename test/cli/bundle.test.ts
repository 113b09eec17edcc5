import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type ClientScene, openClientScene, tenantWithSchema } from "./client-scene.ts";

const share = {
  name: "share",
  arguments: ["doc", "who"],
  operations: [
    {
      relationships_write: ["doc:{{.doc}}#viewer@user:{{.who}}"],
      relationships_delete: [],
      attributes_write: ["doc:{{.doc}}$public|boolean:false"],
      attributes_delete: [],
    },
  ],
};

let scene: ClientScene;

before(async () => {
  scene = await openClientScene();
});

after(async () => {
  await scene.close();
});

test("a bundle is written, listed, read as it can be written again, and deleted", async () => {
  const run = await tenantWithSchema(scene, "bundles");
  assert.equal(await run(["bundle", "write", "-"], JSON.stringify(share)), "share\n");
  assert.equal(await run(["bundle", "list"]), "share\n");
  const text = await run(["bundle", "read", "share"]);
  assert.deepEqual(JSON.parse(text), share);
  assert.equal(await run(["bundle", "write", "-"], text), "share\n");
  assert.equal(await run(["bundle", "delete", "share"]), "share\n");
  assert.equal(await run(["bundle", "list"]), "");
});

test("bundle run takes the arguments as NAME=VALUE", async () => {
  const run = await tenantWithSchema(scene, "runs");
  await run(["bundle", "write", "-"], JSON.stringify(share));
  const token = (await run(["bundle", "run", "share", "doc=plan", "who=ada"])).trim();
  assert.equal(await run(["tuple", "read", "--snap-token", token]), "doc:plan#viewer@user:ada\n");
  assert.equal(await run(["attribute", "read"]), "doc:plan$public|boolean:false\n");
  const mistakes = [
    [["share", "doc=plan"], /^pemba: arguments: lacks `who` of bundle `share`/],
    [["share", "doc=a=b", "who=ada"], /`a=b` is not an id/],
    [["share", "plan"], /^pemba: bundle run: `plan` is not an argument such as `who=ada`$/],
    [["share", "=ada"], /^pemba: bundle run: `=ada` is not an argument/],
    [["share", "doc=1", "doc=2"], /^pemba: bundle run: `doc` has two values$/],
    [["other"], /no bundle `other`: `pemba bundle list` shows those that there are$/],
    [["shar"], /no bundle `shar` \(did you mean `share`\?\)$/],
    [[], /^pemba: bundle run: expected NAME/],
  ] as const;
  for (const [words, expected] of mistakes) {
    const result = await scene.pemba(["bundle", "run", ...words, "--tenant", "runs"]);
    assert.deepEqual([result.status, result.stdout], [1, ""]);
    assert.match(result.stderr.trimEnd(), expected);
  }
});

test("bundle list goes through all pages, and --json prints the answers", async () => {
  const run = await tenantWithSchema(scene, "many");
  const names = Array.from({ length: 1_200 }, (_, index) => `b${String(index).padStart(4, "0")}`);
  await run(["bundle", "write", "-"], JSON.stringify({ bundles: names.map((name) => ({ name })) }));
  assert.deepEqual((await run(["bundle", "list"])).trimEnd().split("\n"), names);
  const pages = (await run(["bundle", "list", "--json"])).trimEnd().split("\n");
  assert.equal(pages.length, 2);
  await run(["bundle", "delete", "b0000"]);
  assert.match(await run(["bundle", "list"]), /^b0001\n/);
  assert.deepEqual(JSON.parse(await run(["bundle", "delete", "b0001", "--json"])), {
    name: "b0001",
  });
});

test("a file that has no bundles is refused with its name, and one with a fault with its place", async () => {
  const write = async (text: string): Promise<string> => {
    const result = await scene.pemba(["bundle", "write", "-"], text);
    assert.deepEqual([result.status, result.stdout], [1, ""]);
    return result.stderr;
  };
  assert.match(await write("{"), /^pemba: bundle write: `input` is not JSON: /);
  assert.match(await write("[]"), /^pemba: bundles: /);
  assert.match(
    await write('[{"name":"a"},{"name":"b","operations":[{"attributes_write":["{{.x}}"]}]}]'),
    /^pemba: bundles\[1\]\.operations\[0\]\.attributes_write\[0\]: /,
  );
});

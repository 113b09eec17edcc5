import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Finished } from "../support/pemba.ts";
import { type ClientScene, docSchema, openClientScene, tenantWithSchema } from "./client-scene.ts";

let scene: ClientScene;

before(async () => {
  scene = await openClientScene();
});

after(async () => {
  await scene.close();
});

test("tenants are created, listed and deleted", async () => {
  const created = await scene.pemba(["tenant", "create", "acme", "--name", "Acme Ltd"]);
  assert.deepEqual(created, { status: 0, stdout: "acme\n", stderr: "" });
  assert.match((await scene.pemba(["tenant", "list"])).stdout, /^acme {2}\S+ {2}Acme Ltd$/m);
  const twice = await scene.pemba(["tenant", "create", "acme"]);
  assert.deepEqual([twice.status, /acme/.test(twice.stderr)], [1, true]);
  assert.equal((await scene.pemba(["tenant", "delete", "acme"])).stdout, "acme\n");
  assert.doesNotMatch((await scene.pemba(["tenant", "list"])).stdout, /^acme /m);
  const wrong = await scene.pemba(["tenant", "drop", "acme"]);
  assert.equal(
    wrong.stderr,
    "pemba: tenant: expected create, list, delete, move or balance, not `drop`\n",
  );
});

test("a schema that is written is the head, is read with its meaning, and stands first in the list", async () => {
  const run = await tenantWithSchema(scene, "schemas");
  assert.equal(await run(["schema", "read"]), docSchema);
  const first = (await run(["schema", "list"])).split("  ")[0] ?? "";
  const next = docSchema.replace("viewer or f(score)", "viewer");
  const version = (await run(["schema", "write", "-"], next)).trim();
  const listed = (await run(["schema", "list"])).trimEnd().split("\n");
  assert.deepEqual(
    listed.map((line) => line.split("  ")[0]),
    [version, first],
  );
  assert.equal(await run(["schema", "read"]), next);
  assert.equal(await run(["schema", "read", "--version", first]), docSchema);
  assert.equal(await run(["schema", "diff", "-"], next), "no difference\n");
  const { schema } = JSON.parse(await run(["schema", "read", "--json"])) as { schema: object };
  assert.ok("entity_definitions" in schema);
});

test("a schema with a fault is refused with its place in the file", async () => {
  const { status, stderr } = await scene.pemba(
    ["schema", "write", "-"],
    docSchema.replace("@user", "@usr"),
  );
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: input:4:20: [^\n]*`usr`[^\n]*\n$/);
});

test("an old version is activated as the new head, unless the head is another than expected", async () => {
  const run = await tenantWithSchema(scene, "activated");
  const first = (await run(["schema", "list"])).split("  ")[0] ?? "";
  const next = docSchema.replace("viewer or f(score)", "viewer");
  const second = (await run(["schema", "write", "-"], next)).trim();
  const activate = ["schema", "activate", first];
  const late = await scene.pemba([...activate, "--expected-head", first, "--tenant", "activated"]);
  assert.deepEqual([late.status, late.stdout], [1, ""]);
  assert.ok(late.stderr.includes(second), late.stderr);
  assert.equal(await run(["schema", "read"]), next);
  const third = (await run([...activate, "--expected-head", second])).trim();
  assert.equal(await run(["schema", "read"]), docSchema);
  assert.match(await run(["schema", "list"]), new RegExp(`^${third}  `));
  const unknown = await scene.pemba(["schema", "activate", "none", "--tenant", "activated"]);
  assert.match(unknown.stderr, /^pemba: schema_version: .*`none`/);
});

test("a schema is written only over the head that is expected", async () => {
  await scene.pemba(["tenant", "create", "expected"]);
  const write = async (head: string, text: string): Promise<Finished> =>
    await scene.pemba(
      ["schema", "write", "-", "--expected-head", head, "--tenant", "expected"],
      text,
    );
  const first = await write("", docSchema);
  assert.equal(first.status, 0, first.stderr);
  assert.equal((await write("", docSchema)).status, 1);
  const second = await write(first.stdout.trim(), "entity user {}");
  assert.equal(second.status, 0, second.stderr);
  const late = await write(first.stdout.trim(), docSchema);
  assert.match(late.stderr, /^pemba: --expected-head: the head is /);
});

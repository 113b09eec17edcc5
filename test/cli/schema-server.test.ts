import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type Finished, runPemba, startServing } from "../support/pemba.ts";

const schema = `entity user {}

entity group {
  relation member @user @group
}

entity doc {
  relation viewer @user @group @group#member
  attribute public boolean
  attribute tags string[]
  attribute score double
  permission view = viewer or f(score)
}

rule f(score double) {
  score > 1.0 // high
}
`;

const server = startServing([]);
let url = "";

before(async () => {
  ({ url } = await server.addresses);
});

after(() => server.process.kill());

async function pemba(words: readonly string[], input = ""): Promise<Finished> {
  return await runPemba(words, { env: { PEMBA_URL: url }, input });
}

/** A tenant of its own with the schema, and what runs a command there. */
async function tenantWithSchema(
  id: string,
): Promise<(words: readonly string[], input?: string) => Promise<string>> {
  const run = async (words: readonly string[], input = ""): Promise<string> => {
    const { status, stdout, stderr } = await pemba([...words, "--tenant", id], input);
    assert.deepEqual([status, stderr], [0, ""]);
    return stdout;
  };
  assert.equal((await pemba(["tenant", "create", id])).stdout, `${id}\n`);
  await run(["schema", "write", "-"], schema);
  return run;
}

test("tenants are created, listed and deleted", async () => {
  const created = await pemba(["tenant", "create", "acme", "--name", "Acme Ltd"]);
  assert.deepEqual(created, { status: 0, stdout: "acme\n", stderr: "" });
  assert.match((await pemba(["tenant", "list"])).stdout, /^acme {2}\S+ {2}Acme Ltd$/m);
  const twice = await pemba(["tenant", "create", "acme"]);
  assert.deepEqual([twice.status, /acme/.test(twice.stderr)], [1, true]);
  assert.equal((await pemba(["tenant", "delete", "acme"])).stdout, "acme\n");
  assert.doesNotMatch((await pemba(["tenant", "list"])).stdout, /^acme /m);
  const wrong = await pemba(["tenant", "drop", "acme"]);
  assert.equal(wrong.stderr, "pemba: tenant: expected create, list or delete, not `drop`\n");
});

test("a schema that is written is the head, is read with its meaning, and stands first in the list", async () => {
  const run = await tenantWithSchema("schemas");
  assert.equal(await run(["schema", "read"]), schema);
  const first = (await run(["schema", "list"])).split("  ")[0] ?? "";
  const next = schema.replace("viewer or f(score)", "viewer");
  const version = (await run(["schema", "write", "-"], next)).trim();
  const listed = (await run(["schema", "list"])).trimEnd().split("\n");
  assert.deepEqual(
    listed.map((line) => line.split("  ")[0]),
    [version, first],
  );
  assert.equal(await run(["schema", "read"]), next);
  assert.equal(await run(["schema", "read", "--version", first]), schema);
  assert.equal(await run(["schema", "diff", "-"], next), "no difference\n");
});

test("a schema with a fault is refused with its place in the file", async () => {
  const { status, stderr } = await pemba(["schema", "write", "-"], schema.replace("@user", "@usr"));
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: -:4:20: [^\n]*`usr`[^\n]*\n$/);
});

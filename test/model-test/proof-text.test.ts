import assert from "node:assert/strict";
import { test } from "node:test";

import { readModelFile } from "../../src/model-test/file/read-model-file.ts";
import { openMemoryTenant } from "../../src/model-test/run/memory-tenant.ts";
import { runScenarios } from "../../src/model-test/run/run-model.ts";
import { writeModel } from "../../src/model-test/run/write-model.ts";

const schema = `entity user {}
entity group { relation member @user }
entity folder { relation owner @user }
entity doc {
  relation parent @folder
  relation viewer @user @group#member
  attribute level integer
  attribute open boolean
  permission view = viewer or parent.owner or open or high(level)
}
rule high(level integer) { level > 3 }
`;

/** The proof of a check whose assertion is wrong. */
async function proofOf(
  facts: object,
  expected: boolean,
  subject = "user:ann",
): Promise<readonly string[]> {
  const checks = [{ entity: "doc:1", subject, assertions: { view: expected } }];
  const text = JSON.stringify({ schema, ...facts, scenarios: [{ name: "one", checks }] });
  const read = readModelFile(text, "f.yaml", { isStrict: true, minDepth: 1 });
  if (read.kind !== "file") return assert.fail(JSON.stringify(read.problems));
  const { placeIn } = read.file.schema;
  const tenant = openMemoryTenant();
  try {
    const model = { file: read.file, schema: { text: schema, label: "f.yaml", placeIn } };
    assert.deepEqual(await writeModel(tenant, model), []);
    const [result] = await runScenarios(tenant, read.file.scenarios);
    return result?.outcome.kind === "failed" ? result.outcome.proof : assert.fail();
  } finally {
    await tenant.close();
  }
}

test("a proof names the tuples on the way", async () => {
  const throughGroup = await proofOf(
    { relationships: ["doc:1#viewer@group:g#member", "group:g#member@user:ann"] },
    false,
  );
  assert.deepEqual(throughGroup.slice(1), [
    "9:21  └─ ✓ doc:1#viewer: doc:1#viewer@group:g#member",
    "2:25     └─ ✓ group:g#member: group:g#member@user:ann",
  ]);
  const throughFolder = await proofOf(
    { relationships: ["doc:1#parent@folder:f", "folder:f#owner@user:ann"] },
    false,
  );
  assert.match(throughFolder.join("\n"), /^9:31 .* ✓ parent\.owner: doc:1#parent@folder:f$/m);
});

test("a proof says that what is asked is the subject itself", async () => {
  const [itself] = await proofOf({}, false, "doc:1#view");
  assert.match(itself ?? "", / ✓ doc:1#view = .*: it is the subject$/);
  const behind = await proofOf({}, false, "doc:1#viewer");
  assert.match(behind[1] ?? "", / ✓ doc:1#viewer: it is the subject$/);
});

test("a proof names the values of attributes and rules", async () => {
  const open = await proofOf({ attributes: ["doc:1$open|boolean:true"] }, false);
  assert.match(open.join("\n"), /^9:47 .* ✓ doc:1#open: it is true$/m);
  const high = await proofOf({ attributes: ["doc:1$level|integer:5"] }, false);
  assert.deepEqual(high.slice(1), [
    " 9:55  └─ ✓ high(level): level = 5",
    "11:28       rule high: level > 3",
  ]);
});

test("a denial lists what was tried, and no more lines than a report can show", async () => {
  const none = (await proofOf({}, true)).join("\n");
  assert.match(none, /✗ doc:1#viewer: no tuple/);
  assert.match(none, /✗ doc:1#open: no value/);
  const many = Array.from({ length: 100 }, (_, index) => `doc:1#viewer@group:g${index}#member`);
  const long = await proofOf({ relationships: many }, true);
  assert.equal(long.length, 31);
  assert.equal(long.at(-1), "…");
});

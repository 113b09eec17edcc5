import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { functionSettings } from "../../src/store/postgres/sql-interface/function-settings.ts";
import { interfaceVersion } from "../../src/store/postgres/sql-interface/install.ts";
import {
  boundObjects,
  objectFiles,
  subjectFiles,
} from "../../src/store/postgres/sql-interface/objects.ts";
import { planQuestions } from "../../src/store/postgres/sql-interface/planned-questions.ts";

/** Has tuples, usersets, walks, negations, attributes and rules: what the text of a function is made of. */
const schema = `
entity user {}
entity group { relation member @user @group#member }
entity folder {
  relation parent @folder
  relation viewer @user @group#member
  relation owner @user
  relation banned @user @group#member
  attribute open boolean
  attribute level integer
  attribute tags string[]
  attribute title string
  permission read = viewer or owner or parent.read
  permission view = (viewer or parent.view) not banned
  permission deep = viewer or (parent.deep and above(level) and kept)
  permission kept = owner or open
  permission both = viewer and banned
  permission tagged = viewer and found(tags) or open
  permission titled = viewer and named(title)
}
rule above(level integer) { level > int(context.data.limit) }
rule found(tags string[]) { tags.exists(tag, tag == "a") }
rule named(title string) { (title + "x").contains(context.data.part) }`;

const place = join(import.meta.dirname, "../golden/sql-interface.sha256");

/** What a database gets: the objects, and the functions of the schema above. */
async function installedTexts(): Promise<readonly string[]> {
  const files = [
    ...objectFiles.before,
    ...Object.values(subjectFiles),
    ...boundObjects.make,
    ...objectFiles.after,
  ];
  const schemas = new CompiledSchemas(() => assert.fail("no schema is read"), {
    maxBytes: 1_000_000,
  });
  const frame = { plans: "pemba_plans", tables: "public", depth: 100, settings: functionSettings };
  const planning = { planner: schemas.planner, patterns: [], frame };
  const { functions } = await planQuestions(planning, await schemas.compileText(schema), undefined);
  assert.ok(functions.size > 0);
  return [...files, ...[...functions.values()].map(({ definition }) => definition)];
}

/*
 * A start makes the objects anew, and the functions of all heads, only where `interfaceVersion` is higher
 * than the version in the database.
 */
test("what is installed is that of the version of the interface", async () => {
  const digest = createHash("sha256");
  for (const text of await installedTexts()) digest.update(text);
  assert.equal(
    `${digest.digest("hex")}  version ${interfaceVersion}\n`,
    readFileSync(place, "utf8"),
    "objects of `sql/interface`, or the text of plan functions, changed: raise `interfaceVersion` in src/store/postgres/sql-interface/install.ts, and write the digest and the version to test/golden/sql-interface.sha256",
  );
});

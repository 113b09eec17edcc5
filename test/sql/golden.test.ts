import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { formatStatement } from "../../src/sql/text/format-statement.ts";
import { lookupCases } from "./lookup-cases.ts";
import { allStatements, statementCases } from "./statement-cases.ts";

/*
 * The statements as they are reviewed. After a change that is meant:
 *
 *   npm run test:only -- --test-update-snapshots test/sql/golden.test.ts
 */

const folder = join(import.meta.dirname, "golden");
const reviewed = [...statementCases, ...lookupCases];

for (const { name, statement } of reviewed) {
  test(`the statement ${name} is as it was reviewed`, (t) => {
    const parameters = statement.params.map((key, index) => `-- $${index + 1}: ${key}\n`).join("");
    t.assert.fileSnapshot(
      `${parameters}\n${formatStatement(statement.text)}`,
      join(folder, `${name}.sql`),
      {
        serializers: [String],
      },
    );
  });
}

test("every golden file is of a statement", () => {
  assert.deepEqual(
    readdirSync(folder).toSorted(),
    reviewed.map(({ name }) => `${name}.sql`).toSorted(),
  );
});

test("a statement that is laid out is the same but for its whitespace", () => {
  for (const { statement } of allStatements()) {
    const laidOut = formatStatement(statement.text);
    assert.equal(laidOut.replaceAll(/\s+/g, ""), statement.text.replaceAll(/\s+/g, ""));
    assert.doesNotMatch(laidOut, /[ \t]$/m);
  }
});

test("the layout of a statement does not change its literals", () => {
  const text = "select 'a  (select b' from t where c = E'\\'  from  \\\\' and d = 'it''s  where'";
  assert.equal(
    formatStatement(text),
    "select 'a  (select b'\nfrom t\nwhere c = E'\\'  from  \\\\'\nand d = 'it''s  where'\n",
  );
});

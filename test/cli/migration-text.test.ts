import assert from "node:assert/strict";
import { test } from "node:test";

import { migrationText } from "../../src/cli/sql/migration-text.ts";

test("a note whose names have line breaks is a comment to its end", () => {
  const text = migrationText(["the table a\nb;\r\ndrop table c", "", "end"], ["select 1"]);
  assert.equal(
    text,
    "-- the table a b;  drop table c\n--\n-- end\n\nbegin;\n\nselect 1;\n\ncommit;",
  );
});

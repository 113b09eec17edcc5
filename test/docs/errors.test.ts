import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { errorCodes } from "../../src/base/error.ts";
import { statusOf } from "../../src/base/status.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/errors.md"), "utf8");

/** The rows of the tables whose first cell is a code: its name, its statuses, what to do. */
const rows = [...page.matchAll(/^\| `(?<code>[A-Z_]+)` +\|(?<cells>.*)\|$/gm)].map(({ groups }) => [
  groups?.["code"] ?? "",
  ...(groups?.["cells"] ?? "").split("|").map((cell) => cell.trim()),
]);

test("docs/errors.md has every code once, with the statuses that answers have", () => {
  const told = rows.map(([code, http, grpc]) => `${code} ${http} ${grpc}`);
  const known = Object.entries(errorCodes).map(([code, kind]) => {
    const { http, grpc } = statusOf[kind];
    return `${code} ${http} ${status[grpc]}`;
  });
  assert.deepEqual(told.toSorted(), known.toSorted());
});

test("docs/errors.md says of every code what it means and what to do", () => {
  for (const [code, , , meaning, remedy] of rows) {
    assert.ok((meaning ?? "") !== "" && (remedy ?? "") !== "", code);
  }
});

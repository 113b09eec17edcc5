import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { runBatch } from "./batch.ts";

/**
 * The program of all batches. Each batch starts it by a link of its own, so that it has a name and
 * compiled code is cached once. The files of the batches are in a file beside the links.
 */
const [, link = ""] = process.argv;
const batches = new Map(
  Object.entries<readonly string[]>(
    JSON.parse(readFileSync(join(dirname(link), "batches.json"), "utf8")),
  ),
);
const paths = batches.get(basename(link, ".ts"));
assert.ok(paths !== undefined, `${link} is not the link of a batch`);
await runBatch(paths);

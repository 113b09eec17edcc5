import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { engineNames, serveSecurely } from "../support/secure-server.ts";
import { findTool, whyNoTools } from "../support/tools.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "every-call.py");
const skip = whyNoTools("client-python");

/** The calls of the program, each of which prints a line. */
const calls = [...readFileSync(program, "utf8").matchAll(/^@call\ndef (\w+)/gm)].map(
  ([, name]) => name ?? "",
);

for (const engine of engineNames) {
  test(
    `every call of the Python client works with the JSON of protobuf on ${engine}`,
    { skip },
    async (t) => {
      const { url, token, certificate } = await serveSecurely(t, engine, ["--http-json=protobuf"]);
      const { stdout } = await run(findTool("client-python") ?? "", [
        program,
        url,
        token,
        certificate,
      ]);
      assert.deepEqual(
        stdout.trim().split("\n"),
        calls.map((name) => `${name} ok`),
      );
      assert.ok(calls.length > 25);
    },
  );
}

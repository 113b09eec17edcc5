import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { engineNames, serveSecurely } from "../support/secure-server.ts";
import { findTool, whyNoTools } from "../support/tools.ts";

const run = promisify(execFile);
const docs = join(import.meta.dirname, "../../docs");
const program = join(import.meta.dirname, "generated-client.py");
const skip = whyNoTools("client-python");
const python = findTool("client-python") ?? "";

for (const [form, file, result] of [
  ["documented", "openapi.json", "RESULT_ALLOWED"],
  ["protobuf", "openapi-protobuf.json", "CHECK_RESULT_ALLOWED"],
] as const) {
  test(
    `a client that is generated from docs/${file} asks servers on both engines`,
    { skip },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), "pemba-generated-"));
      t.after(() => rmSync(folder, { recursive: true }));
      const words = ["--path", join(docs, file), "--output-path", join(folder, form)];
      const generator = ["-m", "openapi_python_client", "generate", "--meta", "none"];
      await run(python, [...generator, ...words]);
      for (const engine of engineNames) {
        const { url, token, certificate } = await serveSecurely(t, engine);
        const { stdout } = await run(python, [program, folder, form, url, token, certificate]);
        assert.equal(stdout, `${result}\n`);
      }
    },
  );
}

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { parse } from "yaml";

import { engines, type TestApp } from "../support/engines.ts";

const [memory] = engines;
assert.ok(memory !== undefined);

for (const [form, name] of [
  ["documented", "openapi.json"],
  ["protobuf", "openapi-protobuf.json"],
] as const) {
  describe(`the ${form} description of the REST interface`, () => {
    const file = join(import.meta.dirname, "../../docs", name);
    let app: TestApp;
    before(async () => (app = await memory.start()));
    after(async () => await app.close());

    const get = async (url: string) =>
      await app.app.inject({ method: "GET", url, headers: { "pemba-json": form } });

    test(`docs/${name} is what a server gives`, async () => {
      const { body } = await get("/openapi.json");
      // UPDATE_PAGES=1 writes the file anew after a shape or a text was changed.
      if (process.env["UPDATE_PAGES"] === "1") writeFileSync(file, `${body}\n`);
      assert.equal(readFileSync(file, "utf8"), `${body}\n`);
    });

    test("a linter has nothing to say of it", async () => {
      const { body } = await get("/openapi.json");
      const config = await createConfig({
        extends: ["recommended-strict"],
        rules: {
          // Pemba has no licence yet, and no address of its own.
          "info-license": "off",
          "operation-4xx-response": "error",
          "no-invalid-media-type-examples": "error",
          "operation-operationId-unique": "error",
          "no-unused-components": "error",
        },
      });
      const problems = await lintFromString({ source: body, config, absoluteRef: "openapi.json" });
      assert.deepEqual(
        problems.map(({ ruleId, message, location }) =>
          [ruleId, message, location[0]?.pointer].join(" "),
        ),
        [],
      );
    });

    test("its patterns are what all dialects of regular expressions take", async () => {
      const { body } = await get("/openapi.json");
      const patterns = new Set(
        [...body.matchAll(/"pattern": ?("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
          String(JSON.parse(text ?? "")),
        ),
      );
      assert.ok(patterns.size > 0);
      for (const pattern of patterns) {
        // Of what a backslash may begin, only this means the same to Go, Python, Java, Rust and a browser.
        const rest = pattern.replaceAll(/\\(x[\da-f]{2}|d|[-*.])/g, "");
        assert.doesNotMatch(rest, /\\|\(\?(?!:)|\p{Cc}|[^ -~]/u, pattern);
      }
    });

    test("as YAML it says the same", async () => {
      const [json, yaml] = [await get("/openapi.json"), await get("/openapi.yaml")];
      assert.match(String(yaml.headers["content-type"]), /^application\/yaml/);
      assert.deepEqual(parse(yaml.body), JSON.parse(json.body));
    });
  });
}

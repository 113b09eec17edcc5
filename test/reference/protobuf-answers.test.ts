import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";
import { type Operation, operations } from "../transport/operations.ts";
import { sampleSchema, samples } from "../transport/samples.ts";
import { describedBy, type Description } from "./description.ts";

const [memory] = engines;
assert.ok(memory !== undefined);

/** In an order in which each finds what it needs. */
const names = [
  "data write",
  "relationships write",
  "check",
  "bulk check",
  "expand",
  "explain",
  "subject permission",
  "lookup entity",
  "lookup entity stream",
  "lookup subject",
  "relationships read",
  "attributes read",
  "schema read",
  "schema list",
  "tenant list",
  "tenant list placed",
  "bundle write",
  "bundle list",
] as const;

describe("answers in the JSON of protobuf", () => {
  let app: TestApp;
  let description: Description;
  let tenant: string;
  before(async () => {
    app = await memory.start();
    description = await describedBy(app, "protobuf");
    tenant = (await app.tenant(sampleSchema)).split("/").at(-1) ?? "";
  });
  after(async () => await app.close());

  for (const name of names) {
    test(`${name}: the request and the answer are as their description says`, async () => {
      const { route }: Operation = operations[name];
      const [method = "", path = ""] = route.replace("{tenant}", "{tenant_id}").split(" ");
      const described =
        description.operations.find((one) => one.method === method && one.path === path) ??
        assert.fail(route);
      const { request } = samples[name];
      assert.equal(description.requestFault(described, request), "");
      const { statusCode, headers, body } = await app.app.inject({
        method: "POST",
        url: path.replace("{tenant_id}", tenant),
        headers: { "pemba-json": "protobuf" },
        payload: JSON.stringify(request),
      });
      const answer = {
        status: statusCode,
        contentType: String(headers["content-type"]),
        body: JSON.parse(body),
      };
      assert.equal(answer.status, 200, body);
      assert.equal(description.answerFault(described, answer), "");
    });
  }
});

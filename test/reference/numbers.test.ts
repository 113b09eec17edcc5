import assert from "node:assert/strict";
import { test } from "node:test";

import { jsonForms } from "../../src/http/json-form.ts";
import { engines } from "../support/engines.ts";
import { describedBy } from "./description.ts";

const schema = "entity user {} entity doc { attribute scores double[] }";
const metadata = {};
const path = "/data/attributes/read";

for (const engine of engines) {
  test(`numbers that JSON does not have are answered as the description says, on ${engine.name}`, async (t) => {
    const app = await engine.start();
    t.after(async () => await app.close());
    const tenant = await app.tenant(schema);
    const value = {
      "@type": "type.googleapis.com/base.v1.DoubleArrayValue",
      data: [0.5, "NaN", "Infinity", "-Infinity", "-0"],
    };
    const scores = { entity: { type: "doc", id: "1" }, attribute: "scores", value };
    const written = await app.post(`${tenant}/data/write`, { metadata, attributes: [scores] });
    assert.equal(written.status, 200, written.message);
    for (const form of jsonForms) {
      const description = await describedBy(app, form);
      const described =
        description.operations.find((one) => one.path === `/v1/tenants/{tenant_id}${path}`) ??
        assert.fail();
      const { statusCode, headers, body } = await app.app.inject({
        method: "POST",
        url: `${tenant}${path}`,
        headers: { "pemba-json": form },
        payload: JSON.stringify({ metadata, filter: {} }),
      });
      const contentType = String(headers["content-type"]);
      const answer = { status: statusCode, contentType, body: JSON.parse(body) };
      assert.equal(answer.status, 200, body);
      assert.equal(description.answerFault(described, answer), "", body);
    }
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";

import { engines } from "../support/engines.ts";

const schema = "entity user {} entity doc { relation viewer @user attribute public boolean }";
const cap = 10_000;

/** One more than a page holds, as a write takes them. */
const tuples = Array.from({ length: cap + 1 }, (_, index) => ({
  entity: { type: "doc", id: String(index) },
  relation: "viewer",
  subject: { type: "user", id: "ada" },
}));
const attributes = tuples.map(({ entity }) => ({
  entity,
  attribute: "public",
  value: { "@type": "base.v1.BooleanValue", data: true },
}));

for (const engine of engines) {
  test(`a page never holds more than 10,000 for any page size, on ${engine.name}`, async (t) => {
    const app = await engine.start({ maxDataPerWrite: 2 * tuples.length });
    t.after(async () => await app.close());
    const tenant = await app.tenant(schema);
    const written = await app.post(`${tenant}/data/write`, { metadata: {}, tuples, attributes });
    assert.equal(written.status, 200, written.message);
    for (const [path, list] of [
      ["relationships", "tuples"],
      ["attributes", "attributes"],
    ] as const) {
      const read = async (token: string): Promise<{ count: number; next: string }> => {
        const answer = await app.post(`${tenant}/data/${path}/read`, {
          metadata: {},
          filter: {},
          page_size: 2 ** 31 - 1,
          continuous_token: token,
        });
        assert.equal(answer.status, 200, answer.message);
        const items: unknown = Reflect.get(Object(answer.body), list);
        assert.ok(Array.isArray(items));
        return { count: items.length, next: answer.text("continuous_token") };
      };
      const first = await read("");
      assert.equal(first.count, cap);
      assert.deepEqual(await read(first.next), { count: 1, next: "" });
    }
  });
}

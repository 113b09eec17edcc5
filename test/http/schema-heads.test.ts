import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { type Answer, engines, type TestApp } from "../support/engines.ts";

const first = "entity user {}";
const second = "entity user {} entity doc { relation viewer @user }";

for (const engine of engines) {
  describe(`writes of schemas under an expected head, on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => (app = await engine.start()));
    after(async () => await app.close());

    const write = async (path: string, schema: string): Promise<string> =>
      (await app.post(`${path}/schemas/write`, { schema })).text("schema_version");

    const change = async (path: string, expected: string, schema = second): Promise<Answer> =>
      await app.post(`${path}/schemas/change`, { expected_head: expected, schema });

    const headOf = async (path: string): Promise<string> =>
      (await app.post(`${path}/schemas/list`, {})).text("head");

    test("a schema follows the head that is expected, and no other one", async () => {
      const path = await app.tenant();
      const one = await write(path, first);
      const answer = await change(path, one);
      assert.equal(answer.status, 200);
      const two = answer.text("schema_version");
      assert.equal(await headOf(path), two);
      const late = await change(path, one, first);
      assert.equal(late.status, 412);
      assert.equal(
        late.message,
        `ERROR_CODE_PRECONDITION_FAILED: expected_head: the head is \`${two}\`, expected \`${one}\``,
      );
      assert.equal(await headOf(path), two);
    });

    test("the first schema is expected by an empty head", async () => {
      const path = await app.tenant();
      const early = await change(path, "00000000000000000000");
      assert.equal(early.status, 412);
      assert.match(early.message, /: expected_head: the tenant has no schema yet, expected /);
      assert.equal((await change(path, "")).status, 200);
      const again = await change(path, "", first);
      assert.equal(again.status, 412);
      assert.match(again.message, /the head is `[0-9a-v]{20}`, expected that it has none$/);
    });

    test("without an expected head nothing is written", async () => {
      const path = await app.tenant();
      const { status, message } = await app.post(`${path}/schemas/change`, { schema: first });
      assert.deepEqual([status, /expected_head: is missing/.test(message)], [400, true]);
      assert.equal(await headOf(path), "");
    });

    test("a schema with faults is refused before the head is looked at", async () => {
      const path = await app.tenant();
      const { status, message } = await change(path, "none", "entity {");
      assert.equal(status, 400);
      assert.match(message, /^ERROR_CODE_SCHEMA_PARSE/);
    });

    test("of writes at the same time that expect one head, exactly one is made", async () => {
      const path = await app.tenant();
      const writes = async (expected: string): Promise<readonly number[]> => {
        const texts = ["a", "b", "c", "d", "e", "f"].map((name) => `${first} entity ${name} {}`);
        const answers = await Promise.all(texts.map((text) => change(path, expected, text)));
        return answers.map(({ status }) => status).toSorted((a, b) => a - b);
      };
      const expected = [200, 412, 412, 412, 412, 412];
      assert.deepEqual(await writes(""), expected);
      assert.deepEqual(await writes(await headOf(path)), expected);
    });

    test("an old version is activated as a new one, with its text", async () => {
      const path = await app.tenant();
      const old = await write(path, second);
      const head = await write(path, first);
      const activate = async (body: object): Promise<Answer> =>
        await app.post(`${path}/schemas/activate`, body);
      const refused = await activate({ schema_version: old, expected_head: old });
      assert.deepEqual([refused.status, await headOf(path)], [412, head]);
      const answer = await activate({ schema_version: old, expected_head: head });
      assert.equal(answer.status, 200);
      const active = answer.text("schema_version");
      assert.equal(await headOf(path), active);
      assert.ok(active > head);
      const read = async (version: string): Promise<unknown> =>
        (await app.post(`${path}/schemas/read`, { metadata: { schema_version: version } })).body;
      assert.deepEqual(await read(active), await read(old));
      const unconditional = await activate({ schema_version: head });
      assert.equal(unconditional.status, 200);
      assert.deepEqual(await read(""), await read(head));
    });

    test("the text of a version is read as it was written, also of an old one", async () => {
      const written = "// owners\r\nentity   user {}\n\n/* no others */";
      const path = await app.tenant();
      const none = await app.post(`${path}/schemas/read-text`, {});
      assert.equal(none.status, 404);
      assert.match(none.message, /^ERROR_CODE_SCHEMA_NOT_FOUND/);
      const old = await write(path, written);
      const head = await write(path, second);
      const read = async (version: string): Promise<unknown> =>
        (await app.post(`${path}/schemas/read-text`, { schema_version: version })).body;
      assert.deepEqual(await read(old), { schema_version: old, schema: written });
      assert.deepEqual(await read(""), { schema_version: head, schema: second });
      const unknown = await app.post(`${path}/schemas/read-text`, { schema_version: "none" });
      assert.equal(unknown.status, 404);
      assert.match(unknown.message, /: schema_version: /);
    });

    test("what is no version of the tenant cannot be activated", async () => {
      const path = await app.tenant(first);
      const other = await app.tenant(second);
      const foreign = await headOf(other);
      const unknown = await app.post(`${path}/schemas/activate`, { schema_version: foreign });
      assert.equal(unknown.status, 404);
      assert.match(unknown.message, /^ERROR_CODE_SCHEMA_NOT_FOUND/);
      const missing = await app.post(`${path}/schemas/activate`, {});
      assert.equal(missing.status, 400);
      assert.match(missing.message, /: schema_version: is missing/);
    });
  });
}

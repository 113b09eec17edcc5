import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { after, before, describe, test } from "node:test";

import { factsOf } from "../differential/facts-text.ts";
import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity doc {
  relation viewer @user
  attribute level integer
  permission view = viewer
  permission fits = viewer and ratio(level)
}
rule ratio(level integer) { 10 / level > 0 }
`;

/** As many as take several batches. */
const ids = Array.from({ length: 2_345 }, (_, index) => `d${String(index).padStart(5, "0")}`);

interface Line {
  readonly result?: { readonly entity_id: string; readonly continuous_token: string };
  readonly error?: { readonly code: number; readonly message: string; readonly details: unknown };
}

for (const engine of engines) {
  describe(`lookup-entity-stream on ${engine.name}`, () => {
    let app: TestApp;
    let path: string;

    before(async () => {
      app = await engine.start({ maxDataPerWrite: 10_000 });
      path = await app.tenant(schema);
      await write(ids.map((id) => `doc:${id}#viewer@user:ada`));
      await write(ids.slice(0, 1_500).map((id) => `doc:${id}$level|integer:1`));
      await write([`doc:${ids[3]}#viewer@user:bob`, `doc:${ids[7]}#viewer@user:bob`]);
    });
    after(() => app.close());

    async function write(lines: readonly string[]): Promise<void> {
      const { tuples, attributes } = factsOf(lines);
      const body = {
        metadata: {},
        tuples,
        attributes: attributes.map(({ entity, attribute, value }) => ({
          entity,
          attribute,
          value: { "@type": "base.v1.IntegerValue", data: value.data },
        })),
      };
      const answer = await app.post(`${path}/data/write`, body);
      assert.equal(answer.status, 200, answer.message);
    }

    const view = {
      metadata: {},
      entity_type: "doc",
      permission: "view",
      subject: { type: "user", id: "ada" },
    };

    async function stream(
      changes: object,
      at = path,
    ): Promise<{ readonly status: number; readonly type: unknown; readonly text: string }> {
      const response = await app.app.inject({
        method: "POST",
        url: `${at}/permissions/lookup-entity-stream`,
        payload: JSON.stringify({ ...view, ...changes }),
      });
      const type = response.headers["content-type"];
      return { status: response.statusCode, type, text: response.body };
    }

    async function lines(changes: object = {}): Promise<readonly Line[]> {
      const { status, type, text } = await stream(changes);
      assert.equal(status, 200, text);
      assert.equal(type, "application/x-ndjson");
      return linesOf(text);
    }

    test("every entity is a line with its token, the last one without", async () => {
      const found = await lines();
      assert.deepEqual(
        found.map(({ result }) => result?.entity_id),
        ids,
      );
      const places = found.map(({ result }) => result?.continuous_token === "");
      assert.deepEqual(places, [...ids.slice(1).map(() => false), true]);
    });

    test("any line resumes the stream behind it, in the state that it had", async () => {
      const found = await lines();
      await write(["doc:e#viewer@user:ada", "doc:d00999.5#viewer@user:ada"]);
      for (const place of [0, 999, 2_343]) {
        const behind = await lines({ continuous_token: found[place]?.result?.continuous_token });
        assert.deepEqual(behind, found.slice(place + 1));
      }
      assert.equal((await lines()).length, ids.length + 2);
      await app.post(`${path}/data/delete`, {
        tuple_filter: { entity: { type: "doc", ids: ["e", "d00999.5"] } },
        attribute_filter: {},
      });
    });

    test("the size of the page and the scope limit a stream", async () => {
      const two = await lines({ page_size: 2 });
      assert.deepEqual(
        two.map(({ result }) => result?.entity_id),
        ids.slice(0, 2),
      );
      assert.notEqual(two[1]?.result?.continuous_token, "");
      const within = await lines({ scope: { doc: { data: [ids[9], ids[1_200], "other"] } } });
      assert.deepEqual(
        within.map(({ result }) => result?.entity_id),
        [ids[9], ids[1_200]],
      );
      const wide = await lines({ page_size: 20_000 });
      assert.equal(wide.length, ids.length);
    });

    test("a stream of nothing has an empty body", async () => {
      const { status, text } = await stream({ subject: { type: "user", id: "eve" } });
      assert.deepEqual([status, text], [200, ""]);
    });

    test("an error before the first line has its status, and is what the body holds", async () => {
      for (const [changes, status, message] of [
        [{ permission: "fly" }, 400, /^ERROR_CODE_PERMISSION_NOT_FOUND: permission: /],
        [{ page_size: 0 }, 400, /^ERROR_CODE_VALIDATION: page_size: /],
        [{ entity_type: 7 }, 400, /^ERROR_CODE_VALIDATION: entity_type: /],
        [{ continuous_token: "x" }, 400, /^ERROR_CODE_INVALID_CONTINUOUS_TOKEN: /],
        [{ metadata: { schema_version: "x" } }, 404, /^ERROR_CODE_SCHEMA_NOT_FOUND: /],
      ] as const) {
        const answer = await stream(changes);
        assert.equal(answer.status, status);
        const { error } = lineOf(answer.text);
        assert.match(error?.message ?? "", message);
        assert.equal(error?.code, status === 404 ? 5 : 3);
        assert.ok(Array.isArray(error?.details));
      }
      assert.equal((await stream({}, "/v1/tenants/missing")).status, 404);
    });

    test("an error behind results is the last line", async () => {
      const found = await lines({ permission: "fits" });
      const results = found.flatMap(({ result }) => result?.entity_id ?? []);
      // The batches before the one that fails.
      assert.deepEqual(results, ids.slice(0, 1_000));
      const { error } = found.at(-1) ?? assert.fail("no line");
      assert.match(error?.message ?? "", /^ERROR_CODE_RULE_EVALUATION: .*`doc:d01500#fits`/);
      assert.equal(error?.code, 3);
    });

    test("a client that reads nothing does not block others, and may leave", async () => {
      const address = await app.app.listen({ host: "127.0.0.1", port: 0 });
      const stalled = await Promise.all(
        Array.from({ length: 6 }, async () => {
          const call = httpRequest(`${address}${path}/permissions/lookup-entity-stream`, {
            method: "POST",
          });
          call.end(JSON.stringify(view));
          const [response]: unknown[] = await once(call, "response");
          assert.ok(response);
          return call;
        }),
      );
      const found = await lines({ subject: { type: "user", id: "bob" } });
      assert.equal(found.length, 2);
      for (const call of stalled) call.destroy();
    });
  });
}

function linesOf(text: string): readonly Line[] {
  assert.ok(text === "" || text.endsWith("\n"));
  return text.split("\n").slice(0, -1).map(lineOf);
}

function lineOf(text: string): Line {
  const line: Line = JSON.parse(text);
  return line;
}

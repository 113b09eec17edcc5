import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const schema = `
entity user {}
entity group { relation member @user @group#member }
entity doc {
  relation owner @user
  relation viewer @user @group#member
  attribute public boolean
  attribute scores double[]
  permission view = viewer or owner or public
}
`;

const tuple = (id: string, relation: string, user: string): object => ({
  entity: { type: "doc", id },
  relation,
  subject: { type: "user", id: user, relation: "" },
});

const attribute = (id: string, name: string, type: string, data: unknown): object => ({
  entity: { type: "doc", id },
  attribute: name,
  value: { "@type": `type.googleapis.com/base.v1.${type}`, data },
});

const data = {
  metadata: {},
  tuples: [
    tuple("1", "owner", "a"),
    tuple("1", "viewer", "b"),
    tuple("2", "owner", "a"),
    tuple("3", "owner", "b"),
  ],
  attributes: [
    attribute("1", "public", "BooleanValue", false),
    attribute("1", "scores", "DoubleArrayValue", [0.5, "NaN", "-Infinity"]),
    attribute("2", "public", "BooleanValue", true),
  ],
};

for (const engine of engines) {
  describe(`delete and read on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => (app = await engine.start()));
    after(async () => await app.close());

    async function filled(): Promise<{ readonly path: string; readonly token: string }> {
      const path = await app.tenant(schema);
      const written = await app.post(`${path}/data/write`, data);
      return { path, token: written.text("snap_token") };
    }

    async function tuplesOf(path: string, body: object = {}): Promise<unknown> {
      const read = { metadata: {}, filter: {}, ...body };
      const answer = await app.post(`${path}/data/relationships/read`, read);
      assert.equal(answer.status, 200, answer.message);
      return answer.body;
    }

    async function attributesOf(path: string, body: object = {}): Promise<unknown> {
      const read = { metadata: {}, filter: {}, ...body };
      const answer = await app.post(`${path}/data/attributes/read`, read);
      assert.equal(answer.status, 200, answer.message);
      return answer.body;
    }

    test("what was written is read as it was written", async () => {
      const { path } = await filled();
      const [one, two, three, four] = data.tuples;
      assert.deepEqual(await tuplesOf(path), {
        tuples: [one, two, three, four],
        continuous_token: "",
      });
      assert.deepEqual(await attributesOf(path), {
        attributes: data.attributes,
        continuous_token: "",
      });
    });

    test("filters choose what is read", async () => {
      const { path } = await filled();
      const [one, two, three, four] = data.tuples;
      const cases: readonly (readonly [object, readonly unknown[]])[] = [
        [{ entity: { type: "doc", ids: ["1", "3"] } }, [one, two, four]],
        [{ entity: { type: "doc" }, relation: "viewer" }, [two]],
        [{ subject: { type: "user", ids: ["a"], relation: "" } }, [one, three]],
        [{ entity: null, relation: null, subject: { ids: null } }, [one, two, three, four]],
        [{ entity: { type: "no_such_type" } }, []],
      ];
      for (const [filter, tuples] of cases) {
        assert.deepEqual(await tuplesOf(path, { filter }), { tuples, continuous_token: "" });
      }
      const filter = { entity: { ids: ["1"] }, attributes: ["public", "nothing"] };
      assert.deepEqual(await attributesOf(path, { filter }), {
        attributes: data.attributes.slice(0, 1),
        continuous_token: "",
      });
    });

    test("pages go on where the last one ended, in the state of the first", async () => {
      const { path } = await filled();
      for (const [endpoint, list, all] of [
        ["data/relationships/read", "tuples", data.tuples],
        ["data/attributes/read", "attributes", data.attributes],
      ] as const) {
        const read = { metadata: {}, filter: {}, page_size: 1 };
        const items: unknown[] = [];
        let token = "";
        do {
          const page = await app.post(`${path}/${endpoint}`, { ...read, continuous_token: token });
          assert.equal(page.status, 200, page.message);
          const found: unknown = Reflect.get(Object(page.body), list);
          assert.ok(Array.isArray(found) && found.length === 1);
          items.push(...found);
          token = page.text("continuous_token");
          // Later changes are none of the state that is read.
          await app.post(`${path}/data/delete`, {
            tuple_filter: { entity: { type: "doc" } },
            attribute_filter: { entity: { type: "doc" } },
          });
        } while (token !== "");
        assert.deepEqual(items, all);
        await app.post(`${path}/data/write`, data);
      }
    });

    test("a continuous token of another query, tenant or endpoint gives 400", async () => {
      const { path } = await filled();
      const other = await filled();
      const read = { metadata: {}, filter: {}, page_size: 1 };
      const first = await app.post(`${path}/data/relationships/read`, read);
      const token = { continuous_token: first.text("continuous_token") };
      const cases = [
        [`${path}/data/relationships/read`, { ...read, filter: { relation: "owner" } }],
        [`${path}/data/relationships/read`, { ...read, metadata: { snap_token: other.token } }],
        [`${path}/data/attributes/read`, read],
        [`${other.path}/data/relationships/read`, read],
      ] as const;
      for (const [endpoint, body] of cases) {
        const { status, message } = await app.post(endpoint, { ...body, ...token });
        assert.equal(status, 400);
        assert.match(message, /^ERROR_CODE_INVALID_CONTINUOUS_TOKEN: continuous_token: /);
      }
      const larger = { ...read, page_size: 2, ...token };
      assert.equal((await app.post(`${path}/data/relationships/read`, larger)).status, 200);
    });

    test("a snap token is read at, before and after a delete", async () => {
      const { path, token } = await filled();
      const deleted = await app.post(`${path}/data/delete`, {
        tuple_filter: { entity: { type: "doc", ids: ["1", "2"] } },
        attribute_filter: { attributes: ["public"] },
      });
      assert.equal(deleted.status, 200, deleted.message);
      const left = { tuples: data.tuples.slice(3), continuous_token: "" };
      assert.deepEqual(await tuplesOf(path), left);
      const after = { metadata: { snap_token: deleted.text("snap_token") } };
      assert.deepEqual(await tuplesOf(path, after), left);
      assert.deepEqual(await attributesOf(path, after), {
        attributes: data.attributes.slice(1, 2),
        continuous_token: "",
      });
      const before = { metadata: { snap_token: token } };
      assert.deepEqual(await tuplesOf(path, before), {
        tuples: data.tuples,
        continuous_token: "",
      });
      assert.deepEqual(await attributesOf(path, before), {
        attributes: data.attributes,
        continuous_token: "",
      });
    });

    test("an empty filter deletes nothing on its side, two of them are refused", async () => {
      const { path } = await filled();
      const noTuples = { tuple_filter: {}, attribute_filter: { entity: { ids: ["1", "2"] } } };
      assert.equal((await app.post(`${path}/data/delete`, noTuples)).status, 200);
      assert.deepEqual(await tuplesOf(path), { tuples: data.tuples, continuous_token: "" });
      assert.deepEqual(await attributesOf(path), { attributes: [], continuous_token: "" });
      const noAttributes = { tuple_filter: { relation: "owner" }, attribute_filter: {} };
      await app.post(`${path}/data/write`, data);
      assert.equal((await app.post(`${path}/data/delete`, noAttributes)).status, 200);
      assert.deepEqual(await tuplesOf(path), {
        tuples: data.tuples.slice(1, 2),
        continuous_token: "",
      });
      for (const empty of [{}, { entity: { type: "", ids: [] }, relation: "", subject: {} }]) {
        const body = { tuple_filter: empty, attribute_filter: { entity: null, attributes: [] } };
        const { status, message } = await app.post(`${path}/data/delete`, body);
        assert.equal(status, 400);
        assert.equal(
          message,
          "ERROR_CODE_VALIDATION: tuple_filter: is empty like `attribute_filter`, expected a type, an id, a relation or an attribute in one of them: nothing would be deleted",
        );
        const older = await app.post(`${path}/relationships/delete`, { filter: empty });
        assert.equal(older.status, 400);
        assert.match(older.message, /^ERROR_CODE_VALIDATION: filter: .*expected at least one/);
      }
    });

    test("a change of nothing is refused by the names of both of its parts", async () => {
      const { path } = await filled();
      const { status, message } = await app.post(`${path}/data/change`, { metadata: {} });
      assert.equal(status, 400);
      assert.equal(
        message,
        "ERROR_CODE_VALIDATION: write: is empty like `delete`, expected at least one tuple, attribute, filter or entity: nothing would be changed",
      );
    });

    test("relationships/delete deletes tuples, and answers with a token when there were none", async () => {
      const { path } = await filled();
      for (const _ of [1, 2]) {
        const deleted = await app.post(`${path}/relationships/delete`, {
          filter: { entity: { type: "doc", ids: ["1"] } },
        });
        assert.equal(deleted.status, 200);
        const metadata = { snap_token: deleted.text("snap_token") };
        assert.deepEqual(await tuplesOf(path, { metadata }), {
          tuples: data.tuples.slice(2),
          continuous_token: "",
        });
      }
    });

    test("reads and deletes need no schema", async () => {
      const path = await app.tenant();
      assert.deepEqual(await tuplesOf(path), { tuples: [], continuous_token: "" });
      assert.deepEqual(await attributesOf(path), { attributes: [], continuous_token: "" });
      const filter = { relation: "owner" };
      assert.equal((await app.post(`${path}/relationships/delete`, { filter })).status, 200);
    });
  });
}

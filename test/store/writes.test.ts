import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import type { AttributeValue } from "../../src/base/tuple.ts";
import type { Store } from "../../src/store/store.ts";
import {
  allowed,
  attribute,
  engines,
  fails,
  newTenant,
  type OpenStore,
  schemaText,
  tenantWithSchema,
  tuple,
  write,
} from "./engines.ts";

const yes: AttributeValue = { type: "boolean", data: true };
const no: AttributeValue = { type: "boolean", data: false };
const view = { id: "1", permission: "view", subject: "a" };

for (const engine of engines) {
  describe(engine.name, () => {
    let open: OpenStore;
    let store: Store;

    before(async () => {
      open = await engine.open();
      store = open.store;
    });

    after(async () => {
      await open.close();
    });

    test("what is written is seen at once and at its token", async () => {
      const tenant = await tenantWithSchema(store);
      const token = await write(store, tenant, {
        tuples: ["doc:1#viewer@group:g#member", "group:g#member@user:a"],
      });
      assert.equal(await allowed(store, tenant, view), true);
      assert.equal(await allowed(store, tenant, { ...view, at: token }), true);
      assert.equal(await allowed(store, tenant, { ...view, subject: "b", at: token }), false);
    });

    test("a token shows exactly its state, without later writes", async () => {
      const tenant = await tenantWithSchema(store);
      const empty = await write(store, tenant, {});
      const first = await write(store, tenant, { tuples: ["doc:1#owner@user:a"] });
      const second = await write(store, tenant, { tuples: ["doc:1#owner@user:b"] });
      const seen = async (subject: string): Promise<readonly boolean[]> => {
        const answers: boolean[] = [];
        for (const at of [empty, first, second]) {
          answers.push(await allowed(store, tenant, { ...view, subject, at }));
        }
        return answers;
      };
      assert.deepEqual(await seen("a"), [false, true, true]);
      assert.deepEqual(await seen("b"), [false, false, true]);
    });

    test("an overwritten attribute has its old value at old tokens", async () => {
      const tenant = await tenantWithSchema(store);
      const empty = await write(store, tenant, {});
      const set = await write(store, tenant, { attributes: [attribute("public", yes)] });
      const unset = await write(store, tenant, { attributes: [attribute("public", no)] });
      const again = await write(store, tenant, { attributes: [attribute("public", yes)] });
      const answers: boolean[] = [];
      for (const at of [empty, set, unset, again, undefined]) {
        answers.push(await allowed(store, tenant, { ...view, at }));
      }
      assert.deepEqual(answers, [false, true, false, true, true]);
    });

    test("a write that changes nothing returns a token of the same state", async () => {
      const tenant = await tenantWithSchema(store);
      const data = { tuples: ["doc:1#owner@user:a"], attributes: [attribute("public", no)] };
      await write(store, tenant, data);
      for (const repeated of [data, {}]) {
        const token = await write(store, tenant, repeated);
        assert.equal(await allowed(store, tenant, { ...view, at: token }), true);
      }
    });

    test("the same tuple or attribute twice in a write is fine", async () => {
      const tenant = await tenantWithSchema(store);
      await write(store, tenant, {
        tuples: ["doc:1#owner@user:a", "doc:1#owner@user:a"],
        attributes: [attribute("public", no), attribute("public", no)],
      });
      assert.equal(await allowed(store, tenant, view), true);
    });

    test("one attribute with two values in a write is refused, naming both places", async () => {
      const tenant = await tenantWithSchema(store);
      const attributes = [
        attribute("public", yes),
        attribute("limit", { type: "integer", data: 1 }),
        attribute("public", no),
      ];
      await fails(
        write(store, tenant, { attributes }),
        "VALIDATION",
        "attributes[2].value",
        "attributes[0]",
        "doc:1$public",
      );
      assert.equal(await allowed(store, tenant, view), false);
    });

    test("a write with one bad element writes nothing", async () => {
      const tenant = await tenantWithSchema(store);
      await fails(
        write(store, tenant, { tuples: ["doc:1#owner@user:a", "doc:1#boss@user:a"] }),
        "RELATION_DEFINITION_NOT_FOUND",
        "tuples[1].relation",
        "`boss`",
        "`owner`, `viewer`",
      );
      await fails(
        write(store, tenant, {
          tuples: ["doc:1#owner@user:a"],
          attributes: [attribute("public", { type: "string", data: "yes" })],
        }),
        "ATTRIBUTE_TYPE_MISMATCH",
        "attributes[0].value",
        "`string`",
        "expected `boolean`",
      );
      assert.equal(await allowed(store, tenant, view), false);
    });

    test("what does not fit the schema is refused by the name of the element", async () => {
      const tenant = await tenantWithSchema(store);
      const cases = [
        [
          "docs:1#owner@user:a",
          "ENTITY_TYPE_NOT_FOUND",
          "tuples[0].entity.type",
          "did you mean `doc`",
        ],
        ["doc:1#ownr@user:a", "RELATION_DEFINITION_NOT_FOUND", "tuples[0].relation", "`owner`"],
        ["doc:1#view@user:a", "RELATION_DEFINITION_NOT_FOUND", "tuples[0].relation", "`view`"],
        ["doc:1#public@user:a", "RELATION_DEFINITION_NOT_FOUND", "tuples[0].relation", "`public`"],
        ["user:1#owner@user:a", "RELATION_DEFINITION_NOT_FOUND", "tuples[0].relation", "none"],
        ["doc:1#owner@group:a", "SUBJECT_TYPE_NOT_FOUND", "tuples[0].subject", "expected `user`"],
        ["doc:1#owner@outsider:a", "SUBJECT_TYPE_NOT_FOUND", "tuples[0].subject", "`outsider`"],
        ["doc:1#viewer@group:a", "SUBJECT_TYPE_NOT_FOUND", "tuples[0].subject", "`group#member`"],
        ["doc:1#viewer@user:a#member", "SUBJECT_TYPE_NOT_FOUND", "tuples[0].subject", "`user`"],
        [
          "group:1#member@group:1#member",
          "ENTITY_AND_SUBJECT_CANNOT_BE_EQUAL",
          "tuples[0].subject",
          "`group:1#member`",
        ],
      ] as const;
      for (const [text, code, ...parts] of cases) {
        const error = await fails(write(store, tenant, { tuples: [text] }), code, ...parts);
        assert.equal(error.details[0]?.field, parts[0]);
      }
      const value = { type: "boolean", data: true } as const;
      await fails(
        write(store, tenant, { attributes: [attribute("publik", value)] }),
        "ATTRIBUTE_DEFINITION_NOT_FOUND",
        "attributes[0].attribute",
        "did you mean `public`",
      );
      await fails(
        write(store, tenant, { attributes: [attribute("owner", value)] }),
        "ATTRIBUTE_DEFINITION_NOT_FOUND",
      );
      await fails(
        write(store, tenant, {
          attributes: [{ ...attribute("public", value), entity: { type: "file", id: "1" } }],
        }),
        "ENTITY_TYPE_NOT_FOUND",
        "attributes[0].entity.type",
      );
    });

    test("the details name every element that is wrong", async () => {
      const tenant = await tenantWithSchema(store);
      const error = await fails(
        write(store, tenant, {
          tuples: ["doc:1#a@user:a", "doc:1#owner@user:a", "doc:1#b@user:a"],
        }),
        "RELATION_DEFINITION_NOT_FOUND",
        "tuples[0].relation",
      );
      assert.deepEqual(
        error.details.map(({ field }) => field),
        ["tuples[0].relation", "tuples[2].relation"],
      );
    });

    test("data is validated against the pinned version and not the head", async () => {
      const tenant = await newTenant(store);
      const narrow = schemaText
        .replace("relation viewer @user @group#member", "")
        .replace("owner or viewer or public", "owner or public");
      const old = (await store.schemas.write(tenant, { text: narrow })) ?? assert.fail();
      const data = { tuples: ["doc:1#viewer@user:a"] };
      await fails(write(store, tenant, data), "RELATION_DEFINITION_NOT_FOUND");
      const head = (await store.schemas.write(tenant, { text: schemaText })) ?? assert.fail();
      await fails(
        write(store, tenant, { ...data, schemaVersion: old }),
        "RELATION_DEFINITION_NOT_FOUND",
      );
      await write(store, tenant, { ...data, schemaVersion: head });
      assert.equal(await allowed(store, tenant, view), true);
    });

    test("ids may hold every character that the API allows", async () => {
      const tenant = await tenantWithSchema(store);
      const id = "a-Z_0@b.c:d+e";
      await store.data.write(tenant, {
        schemaVersion: undefined,
        tuples: [
          { ...tuple("doc:1#owner@user:a"), entity: { type: "doc", id } },
          { ...tuple("doc:1#owner@user:a"), subject: { type: "user", id: "*", relation: "" } },
        ],
        attributes: [],
      });
      assert.equal(await allowed(store, tenant, { ...view, id }), true);
      assert.equal(await allowed(store, tenant, view), false);
      assert.equal(await allowed(store, tenant, { ...view, subject: "*" }), true);
    });

    test("many writers at the same time lose nothing", async () => {
      const tenant = await tenantWithSchema(store);
      const names = Array.from({ length: 40 }, (_, index) => `u${index}`);
      await Promise.all(
        names.map((name, index) =>
          write(store, tenant, {
            tuples: [`doc:1#owner@user:${name}`, "doc:1#owner@user:shared"],
            attributes: [attribute("limit", { type: "integer", data: index })],
          }),
        ),
      );
      for (const subject of [...names, "shared"]) {
        assert.equal(await allowed(store, tenant, { ...view, subject }), true);
      }
    });
  });
}

/** Data that do not fit are refused in SQL as they are over REST, with the same faults. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import fc from "fast-check";

import { PembaError } from "../../src/base/error.ts";
import { runThrough } from "../../src/base/steps.ts";
import { parseTextNotation } from "../../src/base/text-notation.ts";
import type { AttributeValue, JsonValue, TenantId } from "../../src/base/tuple.ts";
import { decodeAny, encodeAny } from "../../src/http/shapes/any.ts";
import type { Schema } from "../../src/language/schema.ts";
import { parseElements, type RawAttribute, type RawTuple } from "../../src/service/request-data.ts";
import { CompiledSchemas } from "../../src/store/compiled-schemas.ts";
import { validateData } from "../../src/store/validate-data.ts";
import { schemaText, tenantWithSchema } from "../store/engines.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { type InterfaceScene, openInterface } from "./interface-scene.ts";

let scene: InterfaceScene;
let tenant: TenantId;
let schema: Schema;

before(async () => {
  scene = await openInterface();
  tenant = await tenantWithSchema(scene.store);
  const schemas = new CompiledSchemas(() => assert.fail("no schema is read"), {
    maxBytes: 1_000_000,
  });
  ({ schema } = await schemas.compileText(schemaText));
});

after(async () => {
  await scene.close();
});

/** The message and the faults of a refused call, if it is refused for what the data are. */
async function inSql(text: string, values: readonly unknown[]): Promise<object | undefined> {
  try {
    await scene.app.unsafe(text, [...values] as never[]);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Error && "code" in error && "detail" in error);
    assert.equal(error.code, "PB005", error.message);
    assert.ok("hint" in error && typeof error.hint === "string" && error.hint !== "");
    return { message: error.message, details: JSON.parse(String(error.detail)) };
  }
}

/** The same for a request. */
function asRequest(raw: {
  readonly tuples?: readonly RawTuple[];
  readonly attributes?: () => readonly RawAttribute[];
}): object | undefined {
  try {
    const attributes = raw.attributes?.() ?? [];
    runThrough(validateData(schema, parseElements({ tuples: raw.tuples ?? [], attributes })));
    return undefined;
  } catch (error) {
    assert.ok(error instanceof PembaError, String(error));
    return { message: error.message, details: error.details };
  }
}

const names = [
  "doc",
  "group",
  "user",
  "owner",
  "viewer",
  "member",
  "dok",
  "ownr",
  "vie wer",
  "",
  "x",
];
const anyName = fc.constantFrom(...names, "n".repeat(65));
const anyId = fc.constantFrom("1", "a:b@c.d+e_f-g", "*", "", "ä", "a b", "i".repeat(129), "*1");

const anyTuple = fc.record({
  entity: fc.record({ type: anyName, id: anyId }),
  relation: anyName,
  subject: fc.record({ type: anyName, id: anyId, relation: anyName }),
});

const runs = { numRuns: caseCount({ short: 200, long: 3_000 }), seed };

test("a tuple that does not fit has the faults of a request", async () => {
  await fc.assert(
    fc.asyncProperty(anyTuple, async ({ entity, relation, subject }) => {
      const given = [entity.type, entity.id, relation, subject.type, subject.id, subject.relation];
      assert.deepEqual(
        await inSql("select pemba.write_tuple($1, $2, $3, $4, $5, $6, $7)", [tenant, ...given]),
        asRequest({ tuples: [{ entity, relation, subject }] }),
      );
    }),
    runs,
  );
});

test("a list of tuples in text notation has the faults of a request", async () => {
  const anyPart = fc.constantFrom("doc", "dok", "a b", "n".repeat(65));
  const anyText = fc
    .record({
      type: anyPart,
      id: fc.constantFrom("1", "a:b@c", "ä", "i".repeat(129)),
      relation: fc.constantFrom("owner", "viewer", "ownr", "a-b"),
      subject: fc.constantFrom(
        "user:1",
        "group:1#member",
        "group:1",
        "user:a@b:c",
        "usr:1",
        "user:ä",
        "doc:1#owner",
      ),
    })
    .map(({ type, id, relation, subject }) => `${type}:${id}#${relation}@${subject}`);
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 5 }), async (texts) => {
      const tuples = texts.map((text) => {
        const element = parseTextNotation(text);
        return element.kind === "tuple" ? element.tuple : assert.fail(text);
      });
      assert.deepEqual(
        await inSql("select pemba.write_tuples($1, $2::text[])", [tenant, texts]),
        asRequest({ tuples }),
      );
    }),
    runs,
  );
});

const anyNumber = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
  fc.constantFrom("1", "-5", "1.5", "1e3", "x", "NaN", "Infinity", 2 ** 31, -(2 ** 31), 1e300, 0.1),
);
const anyScalar = fc.oneof(anyNumber, fc.boolean(), fc.constantFrom("", "text", 'ä\n"', "null"));
const anyData: fc.Arbitrary<JsonValue | undefined> = fc.oneof(
  anyScalar,
  fc.array(anyScalar, { maxLength: 3 }),
  fc.constant({ a: 1 }),
  fc.constant(undefined),
);
const anyUrl = fc.constantFrom(
  ...["Boolean", "String", "Integer", "Double"].flatMap((type) => [
    `type.googleapis.com/base.v1.${type}Value`,
    `base.v1.${type}ArrayValue`,
  ]),
  "base.v1.OtherValue",
  "",
);
const anyAttribute = fc.record({
  entity: fc.record({
    type: fc.constantFrom("doc", "doc", "doc", "dok", "a b"),
    id: fc.constantFrom("1", "2", "ä"),
  }),
  attribute: fc.constantFrom("public", "limit", "tags", "score", "scor", "a b"),
  value: fc.record({ "@type": anyUrl, data: anyData }),
});

test("a list of attributes has the faults of a request", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyAttribute, { minLength: 1, maxLength: 3 }), async (attributes) => {
      const inRequest = asRequest({
        attributes: () =>
          attributes.map(({ value, ...rest }, index) => {
            const sent = JSON.parse(JSON.stringify(value)) as Record<string, JsonValue>;
            return { ...rest, value: decodeAny(sent, `attributes[${index}].value`) };
          }),
      });
      const refused = await inSql("select pemba.write_attributes($1, $2::text::jsonb)", [
        tenant,
        JSON.stringify(attributes),
      ]);
      // A request is decoded before it is looked at, and stops at the first value that cannot be.
      if (inRequest === undefined) assert.equal(refused, undefined);
      else assert.notEqual(refused, undefined, JSON.stringify(inRequest));
      if (attributes.length === 1 && inRequest !== undefined) {
        const isDecoding = JSON.stringify(inRequest).includes(".value.");
        if (!isDecoding) assert.deepEqual(refused, inRequest);
      }
    }),
    runs,
  );
});

test("a value is stored as a request stores it", async () => {
  const anyValue: fc.Arbitrary<AttributeValue> = fc.oneof(
    fc.record({ type: fc.constant("boolean" as const), data: fc.boolean() }),
    fc.record({ type: fc.constant("integer" as const), data: fc.integer() }),
    fc.record({
      type: fc.constant("double" as const),
      data: fc.oneof(
        fc.double(),
        fc.constantFrom(Number.MIN_VALUE, Number.MAX_VALUE, 1e22, -0, 29_508_991_358_512_190),
      ),
    }),
    fc.record({
      type: fc.constant("string[]" as const),
      data: fc.array(
        fc.string().filter((text) => !text.includes("\0")),
        { maxLength: 3 },
      ),
    }),
  );
  const attributeOf = { boolean: "public", integer: "limit", double: "score", "string[]": "tags" };
  await fc.assert(
    fc.asyncProperty(anyValue, async (value) => {
      const attribute = attributeOf[value.type as keyof typeof attributeOf];
      const entity = { type: "doc", id: "1" };
      const rows = [];
      for (const how of ["sql", "request"]) {
        if (how === "sql") {
          const given = JSON.stringify([{ entity, attribute, value: encodeAny(value) }]);
          await scene.app`select pemba.write_attributes(${tenant}, ${given}::text::jsonb)`;
        } else {
          const data = { schemaVersion: undefined, tuples: [] };
          await scene.store.data.write(tenant, {
            ...data,
            attributes: [{ entity, attribute, value }],
          });
        }
        const [row] = await scene.owner<{ type: string; value: string }[]>`
          select value_type as type, value::text from attributes
          where tenant = (select number from tenants where id = ${tenant})
            and attribute = ${attribute}
        `;
        // Postgres may spell a double by other digits than JavaScript does: both are read as the same one.
        rows.push([row?.type, JSON.parse(row?.value ?? "null")]);
        await scene.app`select pemba.delete_attributes(${tenant}, ${[`doc:1$${attribute}`]}::text[])`;
      }
      assert.deepEqual(rows[0], rows[1]);
    }),
    runs,
  );
});

test("a text that is no tuple, or no attribute, is told with its place", async () => {
  const refused = await inSql("select pemba.write_tuples($1, $2::text[])", [
    tenant,
    ["doc", "doc:1", "doc:1$public", "doc:1#owner", "doc:1#owner@user", "doc:1#owner@user:1"],
  ]);
  assert.ok(refused !== undefined && "details" in refused && Array.isArray(refused.details));
  assert.deepEqual(
    refused.details.map(({ field }: { readonly field: string }) => field),
    ["tuples[0]", "tuples[1]", "tuples[2]", "tuples[3]", "tuples[4]"],
  );
  const [first] = refused.details as readonly { readonly message: string }[];
  assert.match(first?.message ?? "", /^`doc` cannot be read, it has no `:`, expected /);
  for (const text of [
    `select pemba.delete_tuples('${tenant}', array['doc:1#owner@user:1', 'doc:1'])`,
    `select pemba.write_tuples('${tenant}', array[null])`,
    `select pemba.delete_attributes('${tenant}', array['doc:1'])`,
    `select pemba.delete_attributes('${tenant}', array['doc:1$a b'])`,
    `select pemba.delete_attributes('${tenant}', array[null])`,
    `select pemba.delete_entity('${tenant}', 'doc', '')`,
    `select pemba.delete_entity('${tenant}', null, '1')`,
    `select pemba.write_attributes('${tenant}', '[1, null, {"entity": 5}]')`,
  ]) {
    assert.notEqual(await inSql(text, []), undefined, text);
  }
});

test("of many faults the first hundred are told", async () => {
  const texts = Array.from({ length: 300 }, () => "doc:1#nothing@user:1");
  const refused = await inSql("select pemba.write_tuples($1, $2::text[])", [tenant, texts]);
  assert.ok(refused !== undefined && "details" in refused && Array.isArray(refused.details));
  assert.equal(refused.details.length, 100);
});

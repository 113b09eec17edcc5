import assert from "node:assert/strict";
import { test } from "node:test";

import { parseAttributeText, parseTextNotation } from "../../src/base/text-notation.ts";

const tuple = (type: string, id: string, relation: string, subject: readonly string[]): object => ({
  kind: "tuple",
  tuple: {
    entity: { type, id },
    relation,
    subject: { type: subject[0], id: subject[1], relation: subject[2] ?? "" },
  },
});

test("a tuple has an entity, a relation and a subject", () => {
  assert.deepEqual(
    parseTextNotation("doc:1#viewer@user:2"),
    tuple("doc", "1", "viewer", ["user", "2"]),
  );
  assert.deepEqual(
    parseTextNotation("  doc:1#viewer@group:2#member "),
    tuple("doc", "1", "viewer", ["group", "2", "member"]),
  );
});

test("a subject relation of three dots is the subject itself", () => {
  assert.deepEqual(
    parseTextNotation("doc:1#viewer@group:2#..."),
    tuple("doc", "1", "viewer", ["group", "2"]),
  );
});

test("ids may hold the separators that cannot end them", () => {
  assert.deepEqual(
    parseTextNotation("doc:a:b@c#viewer@user:x@y.org:1"),
    tuple("doc", "a:b@c", "viewer", ["user", "x@y.org:1"]),
  );
});

test("an attribute has a typed value, which is everything after its type", () => {
  assert.deepEqual(parseTextNotation("doc:1$public|boolean:true"), {
    kind: "attribute",
    attribute: {
      entity: { type: "doc", id: "1" },
      attribute: "public",
      value: { type: "boolean", data: true },
    },
  });
  const link = parseTextNotation("doc:a@b:c$link|string:http://x/#a|b$c@d");
  assert.equal(link.kind === "attribute" && link.attribute.value.data, "http://x/#a|b$c@d");
  assert.equal(link.kind === "attribute" && link.attribute.entity.id, "a@b:c");
});

test("blanks around a text do not count, but those of a string are kept", () => {
  const valueOf = (text: string): unknown => {
    const parsed = parseTextNotation(text);
    return parsed.kind === "attribute" ? parsed.attribute.value.data : parsed.tuple.subject.id;
  };
  assert.equal(valueOf(" doc:1#owner@user:a \n"), "a");
  assert.equal(valueOf(" doc:1$public|boolean:true \n"), true);
  assert.equal(valueOf("\tdoc:1$title|string: a \n"), " a \n");
  assert.deepEqual(valueOf("doc:1$tags|string[]:a, b "), ["a", " b "]);
});

test("every type of value can be written", () => {
  assert.deepEqual(parseAttributeText("boolean[]", "1,F,TRUE").data, [true, false, true]);
  assert.deepEqual(parseAttributeText("string", "").data, "");
  assert.deepEqual(parseAttributeText("string[]", "a, b,").data, ["a", " b", ""]);
  assert.deepEqual(parseAttributeText("string[]", "").data, []);
  assert.deepEqual(parseAttributeText("integer", "-2147483648").data, -2147483648);
  assert.ok(Object.is(parseAttributeText("integer", "-0").data, 0));
  assert.deepEqual(parseAttributeText("integer[]", "+1,2").data, [1, 2]);
  assert.deepEqual(parseAttributeText("double", "1.5e3").data, 1500);
  assert.deepEqual(parseAttributeText("double[]", "NaN,-Infinity,.5").data, [
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    0.5,
  ]);
});

test("numbers that have no digits are read in any case, long or short", () => {
  const words = "nan,NAN,inf,+Inf,-inf,INFINITY,+infinity,-Infinity";
  assert.deepEqual(parseAttributeText("double[]", words).data, [
    Number.NaN,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]);
});

for (const [text, reason] of [
  ["nothing", /has no `:`/],
  ["doc:1", /neither `#` nor `\$`/],
  ["doc:1#viewer", /no `@` after the relation/],
  ["doc:1#viewer@user", /subject has no `:`/],
  ["doc:1$public", /no `\|` after the attribute/],
  ["doc:1$public|true", /no `:` after its type/],
  ["doc:1$public|bool:true", /`bool` is none of the types boolean, /],
  ["doc:1$public|boolean:yes", /`yes` is not true or false/],
  ["doc:1$level|integer:2147483648", /`2147483648` is not an integer of 32 bits/],
  ["doc:1$level|integer:", /`` is not an integer of 32 bits/],
  ["doc:1$level|double:0x10", /`0x10` is not a number/],
  ["doc:1$level|double:1e999", /`1e999` is not a number/],
  ["doc:1$level|double:-nan", /`-nan` is not a number/],
] as const) {
  test(`\`${text}\` is refused with the reason`, () => {
    assert.throws(() => parseTextNotation(text), { code: "INVALID_ARGUMENT", message: reason });
  });
}

test("a text as long as a request is cut in the error", () => {
  const long = "a".repeat(1_000_000);
  for (const text of [long, `doc:1$public|boolean:${long}`, `doc:1$public|${long}:true`]) {
    assert.throws(
      () => parseTextNotation(text),
      (error: unknown) => error instanceof Error && error.message.length < 1_000,
    );
  }
});

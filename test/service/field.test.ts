/** What a client may say of a state and of a schema, which then stands in keys. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { parseSchemaVersion, parseSnapToken, parseTenantId } from "../../src/service/field.ts";

const tenant = parseTenantId("t1");

for (const text of ["x", "0".repeat(19), "0".repeat(21), `${"0".repeat(19)}w`, "a b", "a|b"]) {
  test(`\`${text}\` is no version of any schema`, () => {
    const plainMessage = `tenant \`t1\` has no schema version \`${text}\``;
    const expected = { code: "SCHEMA_NOT_FOUND", plainMessage, details: [] };
    assert.throws(() => parseSchemaVersion(tenant, text), expected);
    assert.throws(() => parseSchemaVersion(tenant, text, "schema_version"), {
      code: "SCHEMA_NOT_FOUND",
      plainMessage: `schema_version: ${plainMessage}`,
      details: [{ field: "schema_version", message: plainMessage }],
    });
  });
}

test("a version is taken as it is, and none means the head", () => {
  const version = "0123456789abcdefghuv";
  assert.equal(parseSchemaVersion(tenant, version), version);
  for (const none of ["", null, undefined]) {
    assert.equal(parseSchemaVersion(tenant, none), undefined);
  }
});

for (const text of ["a b", "a|b", "é", "\n"]) {
  test(`${JSON.stringify(text)} is no token of any state`, () => {
    const message = "is malformed, expected a token of an earlier answer";
    assert.throws(() => parseSnapToken(text, "snap_token"), {
      code: "INVALID_SNAP_TOKEN",
      plainMessage: `snap_token: ${message}`,
      details: [{ field: "snap_token", message }],
    });
  });
}

test("the store says of other texts whether they are tokens", () => {
  for (const text of ["x", "-_", "4.0123456789abcdef.1.7.0/1/2.5.5:7:5,6.AA"]) {
    assert.equal(parseSnapToken(text), text);
  }
});

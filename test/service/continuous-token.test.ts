import assert from "node:assert/strict";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import { tokenMac } from "../../src/base/token-mac.ts";
import {
  continuousToken,
  pageError,
  parseTextCursor,
  parseTextsCursor,
  type TokenScope,
} from "../../src/service/continuous-token.ts";

const mac = tokenMac("key", "continuous");
const scope: TokenScope = { mac, operation: "things/list", tenant: "t1", query: { type: "doc" } };
const invalid = { code: "INVALID_CONTINUOUS_TOKEN" };

/** All but one text are keys. */
const isKey = (text: string): text is string => text !== "no key";

test("a token gives back its cursor", () => {
  for (const cursor of ["a", "", "x\u{1F600}", "1:2:"]) {
    assert.equal(parseTextCursor(scope, continuousToken(scope, cursor), isKey), cursor);
  }
  const texts = ["a", "", "x\u{1F600}"];
  assert.deepEqual(
    parseTextsCursor(scope, continuousToken(scope, texts), (read) => read),
    texts,
  );
});

test("no cursor is an empty token, and an empty or absent token is no cursor", () => {
  assert.equal(continuousToken(scope, undefined), "");
  for (const token of ["", undefined, null]) {
    assert.equal(parseTextCursor(scope, token, isKey), undefined);
  }
});

test("a token is good for its operation, tenant and query only", () => {
  const token = continuousToken(scope, "a");
  for (const other of [
    { ...scope, operation: "things/read" },
    { ...scope, tenant: "t2" },
    { ...scope, query: { type: "folder" } },
    { ...scope, operation: "things/listt1", tenant: "" },
    // Nor is it good where the key is another, or for another kind of tokens.
    { ...scope, mac: tokenMac("other", "continuous") },
    { ...scope, mac: tokenMac("key", "snap") },
  ]) {
    assert.throws(() => parseTextCursor(other, token, isKey), invalid);
  }
});

test("a token with any changed, added or lost character is refused", () => {
  const token = continuousToken(scope, "cursor");
  for (let index = 0; index < token.length; index++) {
    const changed = token[index] === "A" ? "B" : "A";
    const forged = token.slice(0, index) + changed + token.slice(index + 1);
    assert.throws(() => parseTextCursor(scope, forged, isKey), invalid);
  }
  for (const broken of [
    `${token}A`,
    `${token}=`,
    token.slice(0, -1),
    "x",
    "ÿ",
    " ",
    `${token}\n`,
  ]) {
    assert.throws(() => parseTextCursor(scope, broken, isKey), invalid);
  }
});

test("a cursor of another kind is refused where text is expected", () => {
  for (const cursor of [[1], null, true, {}, "no key"]) {
    const token = continuousToken(scope, cursor);
    assert.throws(() => parseTextCursor(scope, token, isKey), invalid);
  }
  assert.equal(parseTextCursor(scope, continuousToken(scope, "a"), isKey), "a");
});

test("a cursor that is no place is refused", () => {
  const placeOf = ([first, second, ...more]: readonly string[]): string | undefined =>
    first === "a" && more.length === 0 ? second : undefined;
  const good = continuousToken(scope, ["a", "b"]);
  assert.equal(parseTextsCursor(scope, good, placeOf), "b");
  for (const cursor of [[], ["a"], ["a", "b", "c"], ["b", "a"], ["a", 1], { a: "b" }, "a"]) {
    const token = continuousToken(scope, cursor);
    assert.throws(() => parseTextsCursor(scope, token, placeOf), invalid);
  }
});

test("a token that was made of no JSON, or spells it otherwise, is refused", () => {
  for (const payload of ["[", '["a" ]', '"\\u0061"', '["a"']) {
    const parts = [scope.operation, scope.tenant, JSON.stringify(scope.query), payload];
    const text = parts.map((part) => `${part.length}:${part}`).join("");
    const code = mac(Buffer.from(text)).subarray(0, 9);
    const made = Buffer.concat([code, Buffer.from(payload)]).toString("base64url");
    assert.throws(() => parseTextCursor(scope, made, isKey), invalid, payload);
    assert.throws(() => parseTextsCursor(scope, made, (read) => read), invalid, payload);
  }
});

test("an error of the state in a token is an error of the token", () => {
  const codeAfter = (code: "INVALID_SNAP_TOKEN" | "SCHEMA_NOT_FOUND" | "SNAP_TOKEN_EXPIRED") => {
    const error = pageError(new PembaError(code, "metadata.snap_token: is wrong"));
    assert.ok(error instanceof PembaError);
    assert.match(error.message, /continuous_token: /);
    return error.code;
  };
  assert.equal(codeAfter("INVALID_SNAP_TOKEN"), "INVALID_CONTINUOUS_TOKEN");
  assert.equal(codeAfter("SCHEMA_NOT_FOUND"), "INVALID_CONTINUOUS_TOKEN");
  assert.equal(codeAfter("SNAP_TOKEN_EXPIRED"), "SNAP_TOKEN_EXPIRED");
});

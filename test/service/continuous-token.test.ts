import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";

import { PembaError } from "../../src/base/error.ts";
import {
  continuousToken,
  parseContinuousToken,
  pageError,
  parseTextCursor,
  parseTextsCursor,
  type TokenScope,
} from "../../src/service/continuous-token.ts";

const scope: TokenScope = { operation: "things/list", tenant: "t1", query: { type: "doc" } };
const invalid = { code: "INVALID_CONTINUOUS_TOKEN" };

test("a token gives back its cursor, whatever JSON that is", () => {
  for (const cursor of ["a", "", { last: "x\u{1F600}", snapshot: "1:2:" }, [1, null]]) {
    assert.deepEqual(parseContinuousToken(scope, continuousToken(scope, cursor)), cursor);
  }
});

test("no cursor is an empty token, and an empty or absent token is no cursor", () => {
  assert.equal(continuousToken(scope, undefined), "");
  for (const token of ["", undefined, null]) {
    assert.equal(parseContinuousToken(scope, token), undefined);
  }
});

test("a token is good for its operation, tenant and query only", () => {
  const token = continuousToken(scope, "a");
  for (const other of [
    { ...scope, operation: "things/read" },
    { ...scope, tenant: "t2" },
    { ...scope, query: { type: "folder" } },
    { operation: "things/listt1", tenant: "", query: scope.query },
  ]) {
    assert.throws(() => parseContinuousToken(other, token), invalid);
  }
});

test("a token with any changed, added or lost character is refused", () => {
  const token = continuousToken(scope, "cursor");
  for (let index = 0; index < token.length; index++) {
    const changed = token[index] === "A" ? "B" : "A";
    const forged = token.slice(0, index) + changed + token.slice(index + 1);
    assert.throws(() => parseContinuousToken(scope, forged), invalid);
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
    assert.throws(() => parseContinuousToken(scope, broken), invalid);
  }
});

test("a cursor of another kind is refused where text is expected", () => {
  assert.throws(() => parseTextCursor(scope, continuousToken(scope, [1])), invalid);
  assert.equal(parseTextCursor(scope, continuousToken(scope, "a")), "a");
});

test("a cursor of another length, or with what no stored text holds, is refused", () => {
  assert.deepEqual(parseTextsCursor(scope, continuousToken(scope, ["a", "b"]), 2), ["a", "b"]);
  for (const cursor of [[], ["a"], ["a", "b", "c"], ["a", 1], ["a", "\0"], { a: "b" }]) {
    assert.throws(() => parseTextsCursor(scope, continuousToken(scope, cursor), 2), invalid);
  }
});

test("a token that somebody made of no JSON is refused", () => {
  const payload = Buffer.from("[");
  const parts = [scope.operation, scope.tenant, JSON.stringify(scope.query), "["];
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  const checksum = hash("sha256", text, "buffer").subarray(0, 9);
  const forged = Buffer.concat([checksum, payload]).toString("base64url");
  assert.throws(() => parseContinuousToken(scope, forged), invalid);
});

test("what is wrong with the state that a token holds is told of the token", () => {
  const told = (code: "INVALID_SNAP_TOKEN" | "SCHEMA_NOT_FOUND" | "SNAP_TOKEN_EXPIRED") => {
    const error = pageError(new PembaError(code, "metadata.snap_token: is wrong"));
    assert.ok(error instanceof PembaError);
    assert.match(error.message, /continuous_token: /);
    return error.code;
  };
  assert.equal(told("INVALID_SNAP_TOKEN"), "INVALID_CONTINUOUS_TOKEN");
  assert.equal(told("SCHEMA_NOT_FOUND"), "INVALID_CONTINUOUS_TOKEN");
  assert.equal(told("SNAP_TOKEN_EXPIRED"), "SNAP_TOKEN_EXPIRED");
});

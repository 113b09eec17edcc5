import assert from "node:assert/strict";
import { test } from "node:test";

import {
  continuousToken,
  parseContinuousToken,
  parseTextCursor,
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

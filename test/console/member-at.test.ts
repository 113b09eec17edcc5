import assert from "node:assert/strict";
import { test } from "node:test";

import { memberAt, offsetOf } from "../../src/console/code/member-at.ts";

const text = `// entity hidden { relation no @user }
entity user {}
/* permission gone = x */
entity document {
  relation owner @user
  permission edit = owner or
`;

test("the name is known in whose declaration the cursor stands, also in a text with faults", () => {
  const at = (word: string): string | undefined => memberAt(text, text.indexOf(word) + 1);
  assert.equal(at("hidden"), undefined);
  assert.equal(at("user {}"), "user");
  assert.equal(at("owner @user"), "document#owner");
  assert.equal(memberAt(text, text.length), "document#edit");
});

test("a name leads to its declaration", () => {
  assert.equal(offsetOf(text, "document#edit"), text.indexOf("permission edit"));
  assert.equal(offsetOf(text, "document#gone"), undefined);
});

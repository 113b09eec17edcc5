import assert from "node:assert/strict";
import { test } from "node:test";

import { parsePlace, type Place, placeText } from "../../src/console/app/place-text.ts";

test("an address of the console leads back to the place that it was made of", () => {
  const places: readonly Place[] = [
    { tenant: "t1", view: "ask", state: new Map([["entity", "doc:a/b?c#d&e=f %"]]) },
    { tenant: "a/b", view: "data", state: new Map() },
    { tenant: "ü", view: "watch", state: new Map([["filter", "\u202Eabc <b>"]]) },
  ];
  for (const place of places) assert.deepEqual(parsePlace(placeText(place)), place);
});

test("an address that is not understood leads to the tenants or to the model", () => {
  assert.equal(parsePlace("").tenant, "");
  assert.equal(parsePlace("#/%zz/ask").tenant, "");
  assert.deepEqual(parsePlace("#/t1/unknown"), { tenant: "t1", view: "model", state: new Map() });
});

test("the address leaves out what is empty", () => {
  const state = new Map([
    ["entity", ""],
    ["mode", "check"],
  ]);
  assert.equal(placeText({ tenant: "t1", view: "ask", state }), "#/t1/ask?mode=check");
});

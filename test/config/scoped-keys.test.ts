import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { Config } from "../../src/config/options.ts";
import { configOf, file, loadedFrom, problemsOf } from "../support/given-config.ts";

const key = "authn.preshared.scoped";
const variable = "SERVICE_AUTHN_PRESHARED_SCOPED";
const flag = "--authn-preshared-scoped";

/** What is wrong with a list, below the key and without where it was given. */
function faultsOf(list: unknown): readonly string[] {
  const text = typeof list === "string" ? list : JSON.stringify(list);
  return problemsOf({ env: { [variable]: text } }).map((problem) => {
    const start = `${variable}: \`${key}`;
    assert.ok(problem.startsWith(start), problem);
    return problem.slice(start.length);
  });
}

function inFile(t: TestContext, text: string): Config[typeof key] {
  return configOf({ args: ["-c", file(t, text)] })[key];
}

test("keys with scopes are a list of maps in a file, and the same as JSON elsewhere", (t) => {
  const shop = { key: "k-shop", name: "shop", scopes: ["check", "read"], tenants: ["t1", "a,b"] };
  const deploy = { key: "007", name: undefined, scopes: ["schema"], tenants: undefined };
  const text = `
authn:
  preshared:
    scoped:
      - key: k-shop
        name: shop
        scopes: [check, read]
        tenants:
          - t1
          - "a,b"
      - { key: 007, scopes: [schema] }
`;
  assert.deepEqual(inFile(t, text), [shop, deploy]);
  const json = JSON.stringify([shop, { key: "007", scopes: ["schema"] }]);
  assert.deepEqual(configOf({ env: { [variable]: json } })[key], [shop, deploy]);
  assert.deepEqual(configOf({ args: [flag, json] })[key], [shop, deploy]);
  assert.deepEqual(inFile(t, `authn: {preshared: {scoped: '${json}'}}`), [shop, deploy]);
  const spread = JSON.stringify(JSON.parse(json), undefined, "\t");
  assert.deepEqual(configOf({ env: { [variable]: spread } })[key], [shop, deploy]);
  assert.deepEqual(configOf({})[key], []);
  // A flag wins over a variable, and takes the place of all of it.
  assert.deepEqual(configOf({ args: [`${flag}=[]`], env: { [variable]: json } })[key], []);
});

test("what is written once can stand in several of them", (t) => {
  const text = `
authn:
  preshared:
    scoped:
      - &reader { key: k-one, scopes: &reading [check, read], tenants: [t1] }
      - { key: k-two, scopes: *reading }
      - { <<: *reader, key: k-three }
      - { <<: [*reader, { tenants: [t2] }], key: k-four }
`;
  assert.deepEqual(
    inFile(t, text).map((one) => [one.key, one.scopes.join(), one.tenants?.join()]),
    [
      ["k-one", "check,read", "t1"],
      ["k-two", "check,read", undefined],
      ["k-three", "check,read", "t1"],
      ["k-four", "check,read", "t2"],
    ],
  );
});

test("each wrong part is reported by its path, all at once, and none is shown", (t) => {
  const good = { key: "k-one", scopes: ["check"] };
  const scopes = "check, read, write, schema, tenant or watch";
  const word = "expected texts of visible ASCII characters without spaces";
  const faults = faultsOf([
    good,
    { key: "hunter2 b", scopes: ["chek", "hunter2", null, ["read"]], name: "hunter2 name" },
    { scopes: [] },
    { key: "k-three", scopes: "check", tenant: ["t1"], tenants: [] },
    { key: "k-four", scopes: ["check"], tenants: ["*", "t1"], name: null },
    { key: "k-five", scopes: null, tenants: null },
    "hunter2",
    ["hunter2"],
    null,
    { key: "k-one", scopes: ["check"] },
    { key: "k-six", name: "k-six", scopes: ["check"] },
  ]);
  const list = "expected a list of at least one";
  const name = "expected 1 to 64 letters, digits, dots, hyphens and underscores";
  const map = "is not a map, expected one with `key` and `scopes`";
  assert.deepEqual(faults, [
    `[1].key\`: the value is not allowed, ${word}`,
    `[1].name\`: the value is not allowed, ${name}`,
    `[1].scopes[0]\`: the value is not allowed, expected ${scopes} (did you mean \`check\`?)`,
    `[1].scopes[1]\`: the value is not allowed, expected ${scopes}`,
    `[1].scopes[2]\`: the value is not allowed, expected ${scopes}`,
    `[1].scopes[3]\`: the value is not allowed, expected ${scopes}`,
    `[2].key\`: is missing, ${word}`,
    `[2].scopes\`: is empty, ${list}`,
    "[3].tenant`: is none of key, name, scopes, tenants (did you mean `tenants`?)",
    `[3].scopes\`: is no list, ${list}`,
    `[3].tenants\`: is empty, ${list}`,
    `[4].name\`: the value is not allowed, ${name}`,
    "[4].tenants[0]`: the value is not allowed, expected 1 to 64 characters a-z A-Z 0-9 - and comma; all tenants without `tenants`",
    `[5].scopes\`: is no list, ${list}`,
    `[5].tenants\`: is no list, ${list}`,
    `[6]\`: ${map}`,
    `[7]\`: ${map}`,
    `[8]\`: ${map}`,
    "[9].key`: is that of [0], too",
    "[10].name`: is the key itself, which the log would show",
  ]);
  const path = file(t, "authn:\n  preshared:\n    scoped:\n      - {key: k, scopes: [chek]}\n");
  assert.deepEqual(problemsOf({ args: ["-c", path] }), [
    `${path}:4:27: \`${key}[0].scopes[0]\`: the value is not allowed, expected ${scopes} (did you mean \`check\`?)`,
  ]);
});

test("a text that is not a JSON list is reported without its content", (t) => {
  for (const text of [
    "hunter2",
    "{}",
    '{"key": "hunter2"}',
    '[{"key": "hunter2"',
    "[*hunter2, !h x]",
    "k-one,hunter2",
  ]) {
    const [fault = "", ...others] = faultsOf(text);
    assert.deepEqual(others, [], text);
    assert.equal(fault, "`: is not a list in JSON, expected [{...}, ...]");
  }
  const map = file(t, "authn: {preshared: {scoped: {hunter2: [check]}}}");
  assert.deepEqual(problemsOf({ args: ["-c", map] }), [
    `${map}:1:21: \`${key}\`: is not a list in JSON, expected [{...}, ...]`,
  ]);
  // A list that stands in itself has an end.
  const loop = file(t, "authn: {preshared: {scoped: &all [*all]}}");
  assert.equal(problemsOf({ args: ["-c", loop] }).length, 1);
  assert.match(
    faultsOf('[{"key": "hunter2", "key": "b", "scopes": []}]')[0] ?? "",
    /not a list in JSON/,
  );
});

test("a key is either limited or not", () => {
  const env = {
    SERVICE_AUTHN_PRESHARED_KEYS: "hunter2,k-two",
    [variable]: '[{"key": "k-one", "scopes": ["check"]}, {"key": "k-two", "scopes": ["check"]}]',
  };
  assert.deepEqual(problemsOf({ env }), [
    `\`${key}[1].key\`: is one of \`authn.preshared.keys\`, which may do everything`,
  ]);
});

test("a server whose keys are all limited needs no other one", () => {
  const scoped = '[{"key": "k-one", "scopes": ["check"]}]';
  const args = ["--authn-enabled", "--authn-method=preshared", flag, scoped];
  assert.deepEqual(problemsOf({ args }), []);
});

test("limits that have no effect with the method are a warning", () => {
  const scoped = '[{"key": "k-one", "scopes": ["check"]}]';
  const oidc = [
    "--authn-method=oidc",
    "--authn-oidc-issuer=https://issuer.example",
    "--authn-oidc-audience=pemba",
  ];
  const claims = ["--authn-oidc-scope-claim=scope", "--authn-oidc-tenant-claim=tenant"];
  assert.deepEqual(loadedFrom({ args: ["--authn-enabled", ...oidc, ...claims] }).warnings, []);
  assert.deepEqual(loadedFrom({ args: ["--authn-enabled", ...oidc, flag, scoped] }).warnings, [
    "`authn.method`: is oidc, so nothing is protected by `authn.preshared.scoped`",
  ]);
  const preshared = ["--authn-enabled", "--authn-method=preshared", flag, scoped];
  assert.deepEqual(loadedFrom({ args: preshared }).warnings, []);
  assert.deepEqual(loadedFrom({ args: [...preshared, ...claims] }).warnings, [
    "`authn.method`: is preshared, so nothing is protected by `authn.oidc.scope_claim`, `authn.oidc.tenant_claim`",
  ]);
});

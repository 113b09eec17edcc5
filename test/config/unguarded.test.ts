import assert from "node:assert/strict";
import { test } from "node:test";

import { loadedFrom, problemsOf } from "../support/given-config.ts";

const shared = [
  "--database-engine=postgres",
  "--database-uri=postgres://h/x",
  "--distributed-enabled",
  "--distributed-address=a:1",
];
const asking = ["--authn-enabled", "--authn-method=preshared"];

test("instances that ask for tokens need a key that they know each other by", () => {
  const scoped = '--authn-preshared-scoped=[{"key": "k-one", "scopes": ["check"]}]';
  const oidc = [
    "--authn-enabled",
    "--authn-method=oidc",
    "--authn-oidc-issuer=https://issuer.example",
    "--authn-oidc-audience=pemba",
  ];
  for (const clients of [[...asking, scoped], oidc]) {
    assert.deepEqual(problemsOf({ args: [...shared, ...clients] }), [
      "`distributed.preshared.keys`: is empty, expected a key that instances know each other by, here or in `authn.preshared.keys`, since `distributed.enabled` and `authn.enabled` are true",
    ]);
    for (const flag of ["--distributed-preshared-keys=p", "--authn-preshared-keys=p"]) {
      assert.deepEqual(problemsOf({ args: [...shared, ...clients, flag] }), []);
    }
  }
});

test("a port of instances that everybody may ask is a warning, unless only this machine can", () => {
  const warning =
    "`distributed.port`: answers checks of all tenants to every client that reaches it, set `distributed.preshared.keys`";
  const warnings = (...flags: readonly string[]): readonly string[] =>
    loadedFrom({ args: [...shared, ...flags] }).warnings;
  for (const host of ["", "0.0.0.0", "::", "10.0.0.1", "pemba.internal", "127.0.0.1.example"]) {
    assert.deepEqual(warnings(`--server-host=${host}`), [warning], host);
  }
  for (const host of ["127.0.0.1", "127.8.0.1", "::1", "0:0:0:0:0:0:0:1", "localhost"]) {
    assert.deepEqual(warnings(`--server-host=${host}`), [], host);
  }
  assert.deepEqual(warnings("--distributed-preshared-keys=p"), []);
  assert.deepEqual(warnings(...asking, "--authn-preshared-keys=k"), []);
  assert.deepEqual(loadedFrom({}).warnings, []);
});

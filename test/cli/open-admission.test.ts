import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { pino } from "pino";

import { openAdmission } from "../../src/cli/open-admission.ts";
import {
  audience,
  type Issuer,
  makeKey,
  signed,
  type SigningKey,
  startIssuer,
} from "../auth/issuer.ts";
import { configOf } from "../config/given.ts";
import { until } from "../store/open-write.ts";

/*
 * What the keys of OpenID Connect do when they are configured. Their effects in full are held
 * against what the configuration is made into, in test/auth.
 */

interface Scene {
  readonly issuer: Issuer;
  readonly accepts: (key: SigningKey) => Promise<boolean>;
}

/** An admission that is configured for an issuer with this key, and by these flags besides. */
async function open(t: TestContext, key: SigningKey, ...flags: readonly string[]): Promise<Scene> {
  const issuer = await startIssuer(key);
  const config = configOf({
    args: [
      "--authn-enabled",
      "--authn-method=oidc",
      `--authn-oidc-issuer=${issuer.url}`,
      `--authn-oidc-audience=${audience}`,
      ...flags,
    ],
  });
  const opened = openAdmission(config, pino({ level: "silent" }));
  t.after(async () => {
    await opened.close();
    await issuer.close();
  });
  return {
    issuer,
    accepts: async (other) => {
      const token = await signed(other, issuer.url);
      return await opened.admission.authenticate(`Bearer ${token}`).then(
        () => true,
        () => false,
      );
    },
  };
}

test("the keys of the issuer are fetched anew after `authn.oidc.refresh_interval`", async (t) => {
  const key = await makeKey("first");
  const { issuer, accepts } = await open(t, key, "--authn-oidc-refresh-interval=20ms");
  assert.ok(await accepts(key));
  issuer.keys = [(await makeKey("second")).published];
  await until(async () => ((await accepts(key)) ? undefined : true));
});

test("unknown keys cause no second fetch within `authn.oidc.backoff_frequency`", async (t) => {
  const key = await makeKey("first");
  const { issuer, accepts } = await open(t, key, "--authn-oidc-backoff-frequency=1h");
  assert.ok(await accepts(key));
  for (const kid of ["one", "two", "three"]) assert.equal(await accepts({ ...key, kid }), false);
  assert.equal(issuer.asked, 1 + 1);
});

test("they cause `authn.oidc.backoff_max_retries` fetches in `authn.oidc.backoff_interval`", async (t) => {
  const key = await makeKey("first");
  const flags = ["--authn-oidc-backoff-max-retries=2", "--authn-oidc-backoff-interval=1h"];
  const { issuer, accepts } = await open(t, key, ...flags);
  assert.ok(await accepts(key));
  for (const kid of ["one", "two", "three"]) assert.equal(await accepts({ ...key, kid }), false);
  assert.equal(issuer.asked, 1 + 2);
});

test("tokens are signed with one of `authn.oidc.valid_methods`", async (t) => {
  const [curve, rsa] = [await makeKey("curve", "ES256"), await makeKey("rsa", "RS256")];
  const { issuer, accepts } = await open(t, curve, "--authn-oidc-valid-methods=ES256");
  issuer.keys = [curve.published, rsa.published];
  assert.deepEqual([await accepts(curve), await accepts(rsa)], [true, false]);
});

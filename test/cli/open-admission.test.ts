import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { JWTPayload } from "jose";
import { pino } from "pino";

import type { Credential } from "../../src/auth/credential.ts";
import { openAdmission } from "../../src/cli/open-admission.ts";
import {
  audience,
  type Issuer,
  makeKey,
  signed,
  type SigningKey,
  startIssuer,
} from "../auth/issuer.ts";
import { until } from "../store/open-write.ts";
import { configOf } from "../support/given-config.ts";

/*
 * What the keys of OpenID Connect do when they are configured. Their effects in full are held
 * against what the configuration is made into, in test/auth.
 */

interface Scene {
  readonly issuer: Issuer;
  readonly accepts: (key: SigningKey) => Promise<boolean>;
  /** What a token with these claims lets its bearer do. */
  readonly credential: (claims: JWTPayload) => Promise<Credential>;
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
  const opened = await openAdmission(config, pino({ level: "silent" }));
  t.after(async () => {
    await opened.close();
    await issuer.close();
  });
  return {
    issuer,
    credential: async (claims) => {
      const token = await signed(key, issuer.url, claims);
      return await opened.admission.authenticate(`Bearer ${token}`);
    },
    accepts: async (other) => {
      const token = await signed(other, issuer.url);
      return await opened.admission.authenticate(`Bearer ${token}`).then(
        () => true,
        () => false,
      );
    },
  };
}

test("a share of bodies that is smaller than the largest request is warned of", async () => {
  const warningsOf = async (limit: string): Promise<readonly string[]> => {
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
    const config = configOf({ args: [`--server-tenant-body-limit=${limit}`] });
    await (await openAdmission(config, logger)).close();
    return lines;
  };
  assert.deepEqual(await warningsOf("4MiB"), []);
  assert.match(
    (await warningsOf("1MiB")).join(""),
    /`server\.tenant\.body_limit`: is 1048576, so a longer request is never taken/,
  );
});

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

test("`authn.oidc.scope_claim` limits a token to the scopes that it has there", async (t) => {
  const { credential } = await open(t, await makeKey("key"), "--authn-oidc-scope-claim=scope");
  const scopesOf = async (scope: unknown): Promise<string> => {
    // A second time it is known.
    const first = await credential({ scope });
    assert.deepEqual(await credential({ scope }), first);
    return [...(first.scopes ?? assert.fail("it may do everything"))].join(" ");
  };
  assert.equal(await scopesOf("openid write check  email"), "check write");
  assert.equal(await scopesOf(["read", "admin", "watch"]), "read watch");
  // What is not there opens nothing.
  for (const scope of [undefined, null, "", [], "Check", "check,read"]) {
    assert.equal(await scopesOf(scope), "");
  }
  assert.equal((await credential({ scope: "check" })).tenants, undefined);
  for (const scope of [7, { check: true }, [7], [["check"]]]) {
    await assert.rejects(credential({ scope }), {
      message:
        "ERROR_CODE_INVALID_CLAIMS: authorization: the token has a wrong `scope`, expected a text or a list of texts",
    });
  }
});

test("`authn.oidc.tenant_claim` limits a token to the tenants that it has there", async (t) => {
  const claim = "https://pemba.example/tenants";
  const { credential } = await open(t, await makeKey("key"), `--authn-oidc-tenant-claim=${claim}`);
  const tenantsOf = async (tenants: unknown): Promise<readonly string[] | undefined> => {
    const credentials = await credential({ [claim]: tenants });
    return credentials.tenants && [...credentials.tenants];
  };
  assert.deepEqual(await tenantsOf("t1"), ["t1"]);
  assert.deepEqual(await tenantsOf(["t1", "a,b"]), ["t1", "a,b"]);
  assert.equal(await tenantsOf("*"), undefined);
  assert.equal(await tenantsOf(["t1", "*"]), undefined);
  for (const nothing of [undefined, null, []]) assert.deepEqual(await tenantsOf(nothing), []);
  await assert.rejects(tenantsOf(7), /INVALID_CLAIMS/);
  assert.equal((await credential({ [claim]: "t1" })).scopes, undefined);
});

test("without the names of claims, any valid token has all rights", async (t) => {
  const { credential } = await open(t, await makeKey("key"));
  const { scopes, tenants } = await credential({ scope: "check", tenant: "t1" });
  assert.deepEqual([scopes, tenants], [undefined, undefined]);
});

test("a claim that every object has by nature is not there", async (t) => {
  const flag = "--authn-oidc-tenant-claim=constructor";
  const { credential } = await open(t, await makeKey("key"), flag);
  assert.deepEqual((await credential({})).tenants, new Set());
});

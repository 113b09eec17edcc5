import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, test } from "node:test";

import { exportSPKI, importJWK, SignJWT } from "jose";
import { pino } from "pino";

import { type Authenticator, createAdmission } from "../../src/auth/admission.ts";
import { openId } from "../../src/auth/openid.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { until } from "../store/open-write.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { both, guardedBy } from "./guarded.ts";
import { audience, type Issuer, makeKey, signed, type SigningKey, startIssuer } from "./issuer.ts";

const hour = 3_600_000;
const now = Math.floor(Date.now() / 1_000);

/** A token made by hand, with any header, payload and signature. */
function forged(header: object, payload: unknown, sign: (text: string) => string): string {
  const text = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${sign(text)}`;
}

describe("a token of an issuer", () => {
  let issuer: Issuer;
  let authenticator: Authenticator;
  let keys: Readonly<Record<"rsa" | "ec" | "pss" | "foreign", SigningKey>>;
  const lines: string[] = [];
  before(async () => {
    keys = {
      rsa: await makeKey("rsa-1"),
      ec: await makeKey("ec-1", "ES256"),
      pss: await makeKey("pss-1", "PS256"),
      foreign: await makeKey("rsa-1"),
    };
    issuer = await startIssuer(keys.rsa, keys.ec, keys.pss);
    authenticator = openId({
      rules: {
        issuer: issuer.url,
        audience,
        methods: ["RS256", "ES256", "HS256"],
        claims: { scope: "", tenant: "" },
      },
      schedule: {
        refreshInterval: hour,
        backoffInterval: 100,
        backoffFrequency: 0,
        maxRetries: 100,
      },
      logger: pino({ level: "debug" }, { write: (line) => void lines.push(line) }),
    });
    await until(async () =>
      lines.some((line) => line.includes("were fetched")) ? true : undefined,
    );
  });
  after(async () => {
    await authenticator.close();
    await issuer.close();
  });
  const rateLimit = createRateLimit(1_000_000);
  const guarded = guardedBy(() =>
    createAdmission({ rateLimit, intake: usualIntake(), authenticator }),
  );

  async function outcomeOf(token: string): Promise<unknown> {
    return await guarded.ask(`Bearer ${token}`);
  }

  test("it is accepted with every method that is allowed, for one audience or several", async () => {
    for (const claims of [
      {},
      { aud: ["other", audience] },
      { nbf: now - 60 },
      { iat: undefined, sub: undefined },
      // The clocks may differ by a few seconds.
      { nbf: now + 4 },
      { iat: now + 4 },
    ]) {
      const token = await signed(keys.rsa, issuer.url, claims);
      assert.deepEqual(await outcomeOf(token), both("accepted"), JSON.stringify(claims));
    }
    assert.deepEqual(await outcomeOf(await signed(keys.ec, issuer.url)), both("accepted"));
  });

  test("its scheme may be written in any case", async () => {
    const token = await signed(keys.rsa, issuer.url);
    for (const header of [`bearer ${token}`, `BEARER  ${token}`]) {
      assert.deepEqual(await guarded.ask(header), both("accepted"));
    }
  });

  test("without one, no request is accepted", async () => {
    for (const header of [undefined, "Bearer", "Bearer ", "Basic YTpi", "token", "Bearer a b"]) {
      assert.deepEqual(await guarded.ask(header), both("MISSING_BEARER_TOKEN"), header);
    }
  });

  test("it must be valid now", async () => {
    for (const claims of [
      { exp: now - 60 },
      { exp: undefined },
      { exp: "tomorrow" },
      { nbf: now + 60 },
      { nbf: "now" },
      { iat: now + 60 },
      { iat: 1e300 },
      { iat: "now" },
    ]) {
      const token = await signed(keys.rsa, issuer.url, claims);
      assert.deepEqual(
        await outcomeOf(token),
        both("INVALID_BEARER_TOKEN"),
        JSON.stringify(claims),
      );
    }
  });

  test("it must be of this issuer, to the letter", async () => {
    for (const iss of [`${issuer.url}/`, "https://other.example", "", undefined, [issuer.url]]) {
      const token = await signed(keys.rsa, issuer.url, { iss });
      assert.deepEqual(await outcomeOf(token), both("INVALID_ISSUER"), String(iss));
    }
  });

  test("it must be for this audience", async () => {
    for (const aud of ["other", ["other", "more"], [], undefined, `${audience}x`]) {
      const token = await signed(keys.rsa, issuer.url, { aud });
      assert.deepEqual(await outcomeOf(token), both("INVALID_AUDIENCE"), String(aud));
    }
  });

  test("it must be signed with a key that the issuer publishes under the name it gives", async () => {
    const { rsa, ec, foreign } = keys;
    const good = await signed(rsa, issuer.url);
    const [header = "", payload = "", signature = ""] = good.split(".");
    const changed = Buffer.from(
      JSON.stringify({ iss: issuer.url, aud: audience, exp: now + 9_999 }),
    ).toString("base64url");
    for (const token of [
      // Another key of the same name, an unknown name, the name of a key of another type.
      await signed(foreign, issuer.url),
      await signed({ ...rsa, kid: "unknown" }, issuer.url),
      await signed({ ...rsa, kid: "ec-1" }, issuer.url),
      await signed({ ...ec, kid: "rsa-1" }, issuer.url),
      `${header}.${changed}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `${header}.${payload}.`,
    ]) {
      assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"), token);
    }
  });

  test("it has one spelling", async () => {
    const [header = "", payload = "", signature = ""] = (await signed(keys.rsa, issuer.url)).split(
      ".",
    );
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = alphabet.indexOf(signature.at(-1) ?? "");
    for (const token of [
      `${header}.${payload}.${signature}=`,
      `${header}.${payload}.${signature}==`,
      // Of the last character of 256 bytes only the first two bits count.
      `${header}.${payload}.${signature.slice(0, -1)}${alphabet[last + 1]}`,
      `${header}.${payload}=.${signature}`,
      `${header}=.${payload}.${signature}`,
    ]) {
      assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"), token);
    }
    const good = `${header}.${payload}.${signature}`;
    assert.deepEqual(await outcomeOf(good), both("accepted"));
    assert.deepEqual(await outcomeOf(`${good}=`), both("INVALID_BEARER_TOKEN"));
  });

  test("it must name its key", async () => {
    const token = await new SignJWT({ iss: issuer.url, aud: audience, exp: now + 300 })
      .setProtectedHeader({ alg: "RS256" })
      .sign(keys.rsa.secret);
    assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"));
  });

  test("it must be signed with a method that is allowed", async () => {
    // The issuer has this key, but its method is not among those of the configuration.
    const pss = await signed(keys.pss, issuer.url);
    assert.deepEqual(await outcomeOf(pss), both("INVALID_BEARER_TOKEN"));
  });

  test("it is nothing without a signature, however it spells that", async () => {
    const claims = { iss: issuer.url, aud: audience, exp: now + 300 };
    for (const alg of ["none", "None", "NONE", "", "nOnE"]) {
      const token = forged({ alg, kid: "rsa-1" }, claims, () => "");
      assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"), alg);
    }
    const unnamed = forged({ kid: "rsa-1" }, claims, () => "");
    assert.deepEqual(await outcomeOf(unnamed), both("INVALID_BEARER_TOKEN"));
  });

  test("a public key is no secret to sign with", async () => {
    const claims = { iss: issuer.url, aud: audience, exp: now + 300 };
    const published = await importJWK(keys.rsa.published, "RS256", { extractable: true });
    assert.ok(!(published instanceof Uint8Array));
    const pem = await exportSPKI(published);
    for (const secret of [pem, pem.trim(), JSON.stringify(keys.rsa.published), ""]) {
      const token = forged({ alg: "HS256", kid: "rsa-1" }, claims, (text) =>
        createHmac("sha256", secret).update(text).digest("base64url"),
      );
      assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"));
    }
  });

  test("a key that it brings along is not trusted", async () => {
    const { foreign } = keys;
    for (const extra of [{ jwk: foreign.published }, { jku: `${issuer.url}/mine` }]) {
      const token = await new SignJWT({ iss: issuer.url, aud: audience, exp: now + 300 })
        .setProtectedHeader({ alg: "RS256", kid: foreign.kid, ...extra })
        .sign(foreign.secret);
      assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"));
    }
  });

  test("a text that is not a token is refused as an invalid token", async () => {
    for (const token of [
      "x",
      "a.b",
      "a.b.c",
      "..",
      "a.b.c.d.e",
      "eyJ9.eyJ9.eyJ9",
      "a".repeat(4_000),
    ]) {
      assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"), token);
    }
    for (const payload of [[], 1, "text", null]) {
      const token = await tokenOf(payload, keys.rsa);
      assert.deepEqual(await outcomeOf(token), both("INVALID_CLAIMS"), JSON.stringify(payload));
    }
  });

  test("a token that says it needs an extension is refused", async () => {
    const token = await new SignJWT({ iss: issuer.url, aud: audience, exp: now + 300 })
      .setProtectedHeader({ alg: "RS256", kid: "rsa-1", crit: ["later"], later: true })
      .sign(keys.rsa.secret, { crit: { later: true } });
    assert.deepEqual(await outcomeOf(token), both("INVALID_BEARER_TOKEN"));
  });

  test("a shared secret that the issuer publishes signs, and the log warns of it", async () => {
    const secret = {
      kty: "oct",
      kid: "shared",
      alg: "HS256",
      k: "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA",
    };
    issuer.keys.push(secret);
    const sign = (text: string): string =>
      createHmac("sha256", Buffer.from(secret.k, "base64url")).update(text).digest("base64url");
    const claims = { iss: issuer.url, aud: audience, exp: now + 300 };
    const token = forged({ alg: "HS256", kid: "shared" }, claims, sign);
    assert.deepEqual(await outcomeOf(token), both("accepted"));
    const renamed = forged({ alg: "HS256", kid: "rsa-1" }, claims, sign);
    assert.deepEqual(await outcomeOf(renamed), both("INVALID_BEARER_TOKEN"));
    assert.equal(lines.filter((line) => line.includes("publishes a shared secret")).length, 1);
  });

  test("no line of the log has a part of a token", async () => {
    const tokens = [await signed(keys.rsa, issuer.url), await signed(keys.foreign, issuer.url)];
    for (const token of tokens) await outcomeOf(token);
    const log = lines.join("");
    for (const part of tokens.flatMap((token) => token.split("."))) assert.ok(!log.includes(part));
  });
});

/** A payload that is no object, signed well. */
async function tokenOf(payload: unknown, { kid, alg, secret }: SigningKey): Promise<string> {
  const header = { alg, kid };
  const text = [header, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", secret, Buffer.from(text));
  return `${text}.${Buffer.from(signature).toString("base64url")}`;
}

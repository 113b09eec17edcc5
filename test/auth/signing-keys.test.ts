import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { decodeJwt } from "jose";
import { pino } from "pino";

import type { Authenticator } from "../../src/auth/admission.ts";
import { openId } from "../../src/auth/openid.ts";
import type { FetchSchedule } from "../../src/auth/signing-keys.ts";
import { until } from "../store/open-write.ts";
import { audience, type Issuer, makeKey, signed, type SigningKey, startIssuer } from "./issuer.ts";

const hour = 3_600_000;

/** Nothing happens by itself but the first fetch. */
const once: FetchSchedule = {
  refreshInterval: hour,
  backoffInterval: hour,
  backoffFrequency: 0,
  maxRetries: 3,
};

interface Scene {
  readonly key: SigningKey;
  readonly issuer: Issuer;
  readonly authenticator: Authenticator;
  /** The messages that were logged, debug included. */
  readonly log: string[];
  readonly accepts: (key: SigningKey) => Promise<boolean>;
}

async function open(
  t: TestContext,
  {
    schedule = {},
    mode = "answering",
  }: { readonly schedule?: Partial<FetchSchedule>; readonly mode?: Issuer["mode"] } = {},
): Promise<Scene> {
  const key = await makeKey("first");
  const issuer = await startIssuer(key);
  issuer.mode = mode;
  const log: string[] = [];
  const authenticator = openId({
    rules: { issuer: issuer.url, audience, methods: ["RS256"], claims: { scope: "", tenant: "" } },
    schedule: { ...once, ...schedule },
    logger: pino(
      { level: "debug" },
      { write: (line: string) => void log.push(String(JSON.parse(line).msg)) },
    ),
  });
  t.after(async () => {
    await authenticator.close();
    await issuer.close();
  });
  return {
    key,
    issuer,
    authenticator,
    log,
    accepts: async (other) => {
      const token = await signed(other, issuer.url);
      try {
        await authenticator.verify(token);
        return true;
      } catch (error) {
        assert.match(String(error), /ERROR_CODE_INVALID_BEARER_TOKEN: authorization: the token /);
        return false;
      }
    },
  };
}

test("requests that come before the keys wait for them, and share one fetch", async (t) => {
  const { key, issuer, accepts } = await open(t);
  const all = await Promise.all(Array.from({ length: 50 }, async () => await accepts(key)));
  assert.ok(all.every((isAccepted) => isAccepted));
  assert.equal(issuer.asked, 1);
});

test("known keys cause no fetch", async (t) => {
  const { key, issuer, accepts } = await open(t);
  for (let request = 0; request < 20; request++) assert.ok(await accepts(key));
  assert.equal(issuer.asked, 1);
});

test("a new key is fetched when the first token comes that it signed, once for all who bring one", async (t) => {
  const { key, issuer, accepts } = await open(t);
  assert.ok(await accepts(key));
  const next = await makeKey("second");
  issuer.keys = [next.published];
  const all = await Promise.all(Array.from({ length: 50 }, async () => await accepts(next)));
  assert.ok(all.every((isAccepted) => isAccepted));
  assert.equal(issuer.asked, 2);
  // What the issuer no longer publishes is no longer good.
  assert.equal(await accepts(key), false);
});

test("a token that was found good is good no longer than its key", async (t) => {
  const { key, issuer, authenticator, accepts } = await open(t);
  const token = await signed(key, issuer.url);
  for (let request = 0; request < 3; request++) await authenticator.verify(token);
  const next = await makeKey("second");
  issuer.keys = [next.published];
  assert.ok(await accepts(next));
  await assert.rejects(authenticator.verify(token), /INVALID_BEARER_TOKEN/);
  issuer.keys = [{ ...next.published, kid: key.kid }];
  await assert.rejects(authenticator.verify(token), /has a signature that does not match/);
});

test("a token that was found good is good no longer than it says", async (t) => {
  const { key, issuer, authenticator } = await open(t);
  const token = await signed(key, issuer.url);
  for (let request = 0; request < 3; request++) await authenticator.verify(token);
  const { exp } = decodeJwt(token);
  assert.ok(exp !== undefined);
  t.mock.timers.enable({ apis: ["Date"], now: (exp - 1) * 1_000 });
  await authenticator.verify(token);
  t.mock.timers.setTime((exp + 6) * 1_000);
  await assert.rejects(authenticator.verify(token), /the token has expired/);
});

test("a flood of unknown keys causes few fetches, and known keys go on", async (t) => {
  const { key, issuer, accepts } = await open(t, { schedule: { maxRetries: 3 } });
  assert.ok(await accepts(key));
  for (let request = 0; request < 200; request++) {
    assert.equal(await accepts({ ...key, kid: `made-up-${request}` }), false);
  }
  assert.equal(issuer.asked, 1 + 3);
  assert.ok(await accepts(key));
});

test("fetches that unknown keys cause keep their distance", async (t) => {
  const { key, issuer, accepts } = await open(t, { schedule: { backoffFrequency: hour } });
  assert.ok(await accepts(key));
  for (let request = 0; request < 50; request++) {
    assert.equal(await accepts({ ...key, kid: `made-up-${request}` }), false);
  }
  assert.equal(issuer.asked, 1 + 1);
});

test("after the interval unknown keys are asked for again", async (t) => {
  const schedule = { backoffInterval: 200, maxRetries: 1 };
  const { key, issuer, accepts } = await open(t, { schedule });
  assert.ok(await accepts(key));
  assert.equal(await accepts({ ...key, kid: "made-up" }), false);
  const next = await makeKey("second");
  issuer.keys = [next.published];
  await until(async () => ((await accepts(next)) ? true : undefined));
});

test("a token that cannot be good causes no fetch", async (t) => {
  const { key, issuer, authenticator, accepts } = await open(t);
  assert.ok(await accepts(key));
  const other = await makeKey("other", "ES256");
  for (const token of ["a.b.c", await signed(other, issuer.url)]) {
    await assert.rejects(authenticator.verify(token));
  }
  assert.equal(issuer.asked, 1);
});

test("keys are fetched anew by themselves, so that one the issuer withdrew ends", async (t) => {
  const { key, issuer, accepts } = await open(t, { schedule: { refreshInterval: 20 } });
  assert.ok(await accepts(key));
  issuer.keys = [(await makeKey("second")).published];
  await until(async () => ((await accepts(key)) ? undefined : true));
});

for (const mode of ["failing", "garbled", "misnamed"] as const) {
  test(`an issuer that is ${mode} at the start is asked again, and reported once`, async (t) => {
    const schedule = { backoffInterval: 10, maxRetries: 1_000 };
    const { key, issuer, accepts, log } = await open(t, { mode, schedule });
    assert.equal(await accepts(key), false);
    await until(async () =>
      log.filter((line) => line.includes("still")).length > 2 ? true : undefined,
    );
    issuer.mode = "answering";
    await until(async () => ((await accepts(key)) ? true : undefined));
    assert.deepEqual(
      log.filter((line) => !line.includes("still")),
      [
        "the keys of the issuer cannot be fetched, requests are refused until they are",
        "the keys of the issuer were fetched",
      ],
    );
  });
}

test("without traffic an issuer that failed is asked again, later each time, and then at the interval", async (t) => {
  const schedule = { refreshInterval: hour, backoffInterval: 1, maxRetries: 4 };
  const { log } = await open(t, { mode: "failing", schedule });
  await until(async () => (log.length >= 5 ? true : undefined));
  // The next one is due in an hour; were it not, it would be here before this has been accepted.
  const { key, accepts } = await open(t);
  assert.ok(await accepts(key));
  assert.equal(log.length, 5);
});

test("while the issuer is gone, the keys that it gave stay good", async (t) => {
  const schedule = { refreshInterval: 10, backoffInterval: 5 };
  const { key, issuer, accepts, log } = await open(t, { schedule });
  assert.ok(await accepts(key));
  issuer.mode = "failing";
  await until(async () => (log.some((line) => line.includes("still")) ? true : undefined));
  assert.ok(await accepts(key));
  issuer.mode = "answering";
  await until(async () =>
    log.filter((line) => line.includes("were fetched")).length > 1 ? true : undefined,
  );
  assert.deepEqual(
    log.filter((line) => !line.includes("still")),
    [
      "the keys of the issuer were fetched",
      "the keys of the issuer cannot be fetched, those of the last fetch stay valid",
      "the keys of the issuer were fetched",
    ],
  );
});

test("while the issuer says nothing, unknown keys wait for it once, and known keys never", async (t) => {
  const { key, issuer, authenticator, accepts } = await open(t, {
    schedule: { maxRetries: 1_000 },
  });
  assert.ok(await accepts(key));
  issuer.mode = "silent";
  let isAnswered = false;
  const first = accepts({ ...key, kid: "made-up" }).finally(() => (isAnswered = true));
  await until(async () => (issuer.held > 0 ? true : undefined));
  // A token that was not seen before.
  const token = await signed(key, issuer.url, { sub: "bob" });
  await authenticator.verify(token);
  assert.equal(isAnswered, false);
  assert.equal(await first, false);
  const { held } = issuer;
  for (let request = 0; request < 20; request++) {
    assert.equal(await accepts({ ...key, kid: `made-up-${request}` }), false);
    assert.ok(await accepts(key));
  }
  // One that waited would have begun another one for the next.
  assert.ok(issuer.held <= held + 1, `${issuer.held - held} were asked`);
  const next = await makeKey("second");
  issuer.keys.push(next.published);
  issuer.mode = "answering";
  await until(async () => ((await accepts(next)) ? true : undefined));
});

test("an answer of more than 1 MiB is none", async (t) => {
  const { key, issuer, accepts, log } = await open(t, { schedule: { maxRetries: 1_000 } });
  assert.ok(await accepts(key));
  const next = await makeKey("second");
  issuer.keys.push(next.published);
  issuer.padding = 1024 * 1024;
  assert.equal(await accepts(next), false);
  assert.equal(
    log.at(-1),
    "the keys of the issuer cannot be fetched, those of the last fetch stay valid",
  );
  issuer.mode = "endless";
  assert.equal(await accepts(next), false);
  issuer.mode = "answering";
  issuer.padding = 1_000_000;
  await until(async () => ((await accepts(next)) ? true : undefined));
});

test("an issuer that moves its keys is asked where they are", async (t) => {
  const { key, issuer, accepts } = await open(t, {
    schedule: { refreshInterval: 10, backoffInterval: 5 },
  });
  assert.ok(await accepts(key));
  issuer.keysPath = "/moved";
  const next = await makeKey("second");
  issuer.keys = [next.published];
  await until(async () => ((await accepts(next)) ? true : undefined));
});

test("closing waits for no answer of the issuer", async (t) => {
  const { authenticator, issuer } = await open(t, { mode: "silent" });
  await until(async () => (issuer.held > 0 ? true : undefined));
  await authenticator.close();
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { before, describe, test, type TestContext } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { pino } from "pino";

import { createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { buildConsole, consoleFolder } from "../support/console-build.ts";
import { usualIntake } from "../support/usual-intake.ts";

/** Of all that a browser loads before the first view is there, compressed. */
const firstLoadMaxBytes = 400_000;

type Ask = (options: InjectOptions) => Promise<LightMyRequestResponse>;

function serve(t: TestContext, options: { readonly hasConsole?: boolean } = {}): Ask {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1_000, bulkLimit: 100 };
  const admission = createAdmission({
    rateLimit: createRateLimit(1_000),
    intake: usualIntake(),
    authenticator: presharedKeys(["secret"]),
  });
  const app = buildHttpServer({
    service,
    admission,
    logger: pino({ level: "silent" }),
    hasConsole: true,
    ...options,
  });
  t.after(async () => {
    await app.close();
    await store.close();
  });
  return async (request) => await app.inject(request);
}

/** The addresses in the page, relative to it. */
function addressesIn(page: string): readonly string[] {
  return [...page.matchAll(/(?:href|src|data-\w+)="(?<address>[^"]*)"/g)]
    .map(({ groups }) => groups?.["address"] ?? "")
    .filter((address) => address !== "data:,");
}

describe("the console", () => {
  before(buildConsole);

  test("its page and all files of it are open, while every call needs a token", async (t) => {
    const ask = serve(t);
    const page = await ask({ url: "/console" });
    assert.equal(page.statusCode, 200);
    assert.match(String(page.headers["content-type"]), /^text\/html/);
    const addresses = addressesIn(page.body);
    assert.equal(addresses.length, 4);
    for (const address of addresses) {
      const file = await ask({ url: `/${address}` });
      assert.equal(file.statusCode, 200, address);
    }
    const call = await ask({ method: "POST", url: "/v1/tenants/list", payload: {} });
    assert.equal(call.statusCode, 401);
  });

  test("its policy allows scripts and styles of files alone, and no other site", async (t) => {
    const ask = serve(t);
    const page = await ask({ url: "/console" });
    const [, ...assets] = addressesIn(page.body);
    for (const url of ["/console", ...assets.map((address) => `/${address}`)]) {
      const { headers } = await ask({ url });
      const policy = String(headers["content-security-policy"]);
      assert.match(policy, /^default-src 'none'; script-src 'self';/);
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["referrer-policy"], "no-referrer");
    }
  });

  test("a file is sent in the coding that the client takes, and kept for ever", async (t) => {
    const ask = serve(t);
    const page = await ask({ url: "/console" });
    assert.equal(page.headers["cache-control"], "no-cache");
    const [style = ""] = addressesIn(page.body);
    const as = async (header: string): Promise<LightMyRequestResponse> =>
      await ask({ url: `/${style}`, headers: { "accept-encoding": header } });
    const plain = await as("identity");
    assert.equal(plain.headers["content-encoding"], undefined);
    assert.match(String(plain.headers["cache-control"]), /immutable/);
    assert.equal(plain.headers["vary"], "accept-encoding");
    const small = await as("gzip, deflate, br");
    assert.equal(small.headers["content-encoding"], "br");
    assert.equal(brotliDecompressSync(small.rawPayload).toString(), plain.body);
    const older = await as("gzip, br;q=0");
    assert.equal(older.headers["content-encoding"], "gzip");
    assert.equal(gunzipSync(older.rawPayload).toString(), plain.body);
  });

  test("no other file is served from its folder", async (t) => {
    const ask = serve(t);
    const names = ["missing.js", "..%2Findex.html", "..%2f..%2f..%2fpackage.json", "style.css.br"];
    for (const name of names) {
      const answer = await ask({ url: `/console/assets/${name}` });
      assert.equal(answer.statusCode, 404, name);
      assert.match(answer.body, /ERROR_CODE_NOT_FOUND/);
    }
  });

  test("it is not there when it is switched off", async (t) => {
    const ask = serve(t, { hasConsole: false });
    const answer = await ask({ url: "/console", headers: { authorization: "Bearer secret" } });
    assert.equal(answer.statusCode, 404);
  });

  test("what a browser loads first has less than 400 kB", async (t) => {
    const page = (await serve(t)({ url: "/console" })).body;
    const folder = join(consoleFolder, "assets");
    const loaded = new Set(addressesIn(page).map((address) => basename(address)));
    // A set goes on with what is added meanwhile.
    for (const name of loaded) {
      if (!name.endsWith(".js")) continue;
      const script = readFileSync(join(folder, name), "utf8");
      for (const [, other = ""] of script.matchAll(/\b(?:from|import)"\.\/([^"]+)"/g))
        loaded.add(other);
    }
    const sizes = [...loaded].map((name) => statSync(join(folder, `${name}.gz`)).size);
    const sum = sizes.reduce((one, other) => one + other, 0);
    assert.ok(sum < firstLoadMaxBytes, `${sum} bytes`);
    assert.ok(
      loaded.size < readdirSync(folder).length / 3,
      "what is rarely needed is loaded later",
    );
  });

  test("its scripts build no code from texts", () => {
    const folder = join(consoleFolder, "assets");
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".js"))) {
      const script = readFileSync(join(folder, name), "utf8");
      assert.doesNotMatch(script, /(?<![.\w}])eval\(|\bFunction\(/, name);
    }
  });
});

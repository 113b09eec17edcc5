import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { pino } from "pino";

import { type Admission, createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import type { CorsRules } from "../../src/http/cors.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";
import { usualIntake } from "../support/usual-intake.ts";

const everyone: CorsRules = { origins: ["*"], headers: ["*"] };
const list = "/v1/tenants/list";

type Ask = (options: InjectOptions) => Promise<LightMyRequestResponse>;

/** The headers that concern browsers, of a reply. */
function corsOf({ headers }: LightMyRequestResponse): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.startsWith("access-control-")),
  );
}

function serve(t: TestContext, cors: CorsRules, admission: Admission = admitAll): Ask {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const service = { store, health: createHealth(store), maxDataPerWrite: 1_000, bulkLimit: 100 };
  const app = buildHttpServer({ service, admission, logger: pino({ level: "silent" }), cors });
  t.after(async () => {
    await app.close();
    await store.close();
  });
  return async (options) => await app.inject(options);
}

function preflight(origin: string, path = list): InjectOptions {
  return {
    method: "OPTIONS",
    url: path,
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type",
    },
  };
}

function post(origin: string): InjectOptions {
  return { method: "POST", url: list, headers: { origin }, payload: {} };
}

test("a page of any site may ask when the origins are `*`, but without credentials", async (t) => {
  const ask = serve(t, everyone);
  const answer = await ask(post("https://a.example"));
  assert.equal(answer.statusCode, 200);
  assert.deepEqual(corsOf(answer), { "access-control-allow-origin": "*" });
  const before = await ask(preflight("https://a.example"));
  assert.deepEqual([before.statusCode, before.body], [204, ""]);
  assert.deepEqual(corsOf(before), {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, HEAD, PATCH, DELETE, PUT",
    "access-control-allow-headers": "authorization,content-type",
  });
});

test("a site that is named may ask with credentials, and no other one may", async (t) => {
  const ask = serve(t, { origins: ["https://a.example", "http://b.example:8080"], headers: ["*"] });
  for (const origin of ["https://a.example", "http://b.example:8080"]) {
    const answer = await ask(post(origin));
    assert.deepEqual(corsOf(answer), {
      "access-control-allow-origin": origin,
      "access-control-allow-credentials": "true",
    });
    assert.match(String(answer.headers["vary"]), /\bOrigin\b/);
  }
  // A proxy could cache an answer without an origin and give it to a page.
  const other = await ask({ method: "POST", url: list, payload: {} });
  assert.deepEqual(corsOf(other), {});
  assert.match(String(other.headers["vary"]), /\bOrigin\b/);
  for (const origin of ["https://b.example", "https://a.example:444", "null"]) {
    assert.equal(corsOf(await ask(post(origin)))["access-control-allow-origin"], undefined);
    const refused = await ask(preflight(origin));
    assert.equal(corsOf(refused)["access-control-allow-origin"], undefined);
  }
});

test("the description varies with the site and with the form that is asked for", async (t) => {
  const ask = serve(t, { origins: ["https://a.example"], headers: ["*"] });
  for (const url of ["/openapi.json", "/openapi.yaml"]) {
    const { headers } = await ask({ method: "GET", url, headers: { origin: "https://a.example" } });
    assert.equal(headers["vary"], "Origin, pemba-json");
  }
});

test("pages may send the headers that are named, and no others", async (t) => {
  const ask = serve(t, { origins: ["*"], headers: ["authorization", "x-request-id"] });
  const answer = await ask(preflight("https://a.example"));
  assert.equal(corsOf(answer)["access-control-allow-headers"], "authorization, x-request-id");
});

test("without origins no page is allowed, and a preflight is a method like others", async (t) => {
  const ask = serve(t, { origins: [], headers: ["*"] });
  assert.deepEqual(corsOf(await ask(post("https://a.example"))), {});
  const answer = await ask(preflight("https://a.example"));
  assert.deepEqual([answer.statusCode, corsOf(answer)], [405, {}]);
});

test("a preflight needs no token and takes none of the rate limit; an error can be read", async (t) => {
  const admission = createAdmission({
    rateLimit: createRateLimit(1, () => 0),
    intake: usualIntake(),
    authenticator: presharedKeys(["k-one"]),
  });
  const ask = serve(t, everyone, admission);
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await ask(preflight("https://a.example"))).statusCode, 204);
  }
  const statuses: number[] = [];
  for (let turn = 0; turn < 2; turn++) {
    const answer = await ask(post("https://a.example"));
    statuses.push(answer.statusCode);
    assert.equal(answer.headers["access-control-allow-origin"], "*");
  }
  assert.deepEqual(statuses, [401, 429]);
});

test("an OPTIONS that is no preflight is refused as any method that a path does not have", async (t) => {
  const ask = serve(t, everyone);
  const answer = await ask({ method: "OPTIONS", url: list });
  assert.deepEqual([answer.statusCode, answer.headers["allow"]], [405, "GET, POST"]);
  assert.equal((await ask({ method: "OPTIONS", url: "/nowhere" })).statusCode, 404);
});

test("a stream can be read by pages, too, and so can a path that there is not", async (t) => {
  const ask = serve(t, everyone);
  const schema = "entity user {} entity doc { relation owner @user permission view = owner }";
  await ask({ method: "POST", url: "/v1/tenants/t1/schemas/write", payload: { schema } });
  const stream = await ask({
    method: "POST",
    url: "/v1/tenants/t1/permissions/lookup-entity-stream",
    headers: { origin: "https://a.example" },
    payload: {
      metadata: {},
      entity_type: "doc",
      permission: "view",
      subject: { type: "user", id: "1" },
    },
  });
  assert.deepEqual([stream.statusCode, stream.headers["access-control-allow-origin"]], [200, "*"]);
  const nowhere = await ask({ url: "/nowhere", headers: { origin: "https://a.example" } });
  assert.deepEqual(
    [nowhere.statusCode, nowhere.headers["access-control-allow-origin"]],
    [404, "*"],
  );
});

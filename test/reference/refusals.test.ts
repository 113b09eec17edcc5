/** The example of every refusal that the description has is how a server refuses. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { pino } from "pino";

import { createAdmission } from "../../src/auth/admission.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import type { TenantId } from "../../src/base/tuple.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { storageError } from "../../src/store/postgres/connect/driver-error.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { descriptionOf, type Description } from "./description.ts";

/** A change under the precondition that a tuple exists, which does not. */
const changeOfMissing = {
  preconditions: [
    {
      tuple: {
        entity: { type: "document", id: "plan" },
        relation: "viewer",
        subject: { type: "user", id: "ada" },
      },
      exists: true,
    },
  ],
  delete: { entities: [{ type: "user", id: "ada" }] },
};

const stream = "/v1/tenants/{tenant_id}/permissions/lookup-entity-stream";

describe("the refusals of the description", () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  const rateLimit = createRateLimit(100, () => 0);
  const credential = { name: "limited", scopes: new Set(["read"] as const), tenants: undefined };
  const authenticator = presharedKeys(["good"], [{ key: "limited", credential }]);
  let fault: Error | undefined;
  let app: HttpApp;
  let description: Description;
  before(async () => {
    const service: Service = {
      store: {
        ...store,
        ping: async () => await store.ping(),
        tenants: {
          ...store.tenants,
          create: async (tenant) => await store.tenants.create(tenant),
          list: async () => await Promise.reject(fault),
        },
      },
      health: createHealth(store),
      maxDataPerWrite: 1_000,
      bulkLimit: 100,
    };
    app = buildHttpServer({
      service,
      admission: createAdmission({ rateLimit, intake: usualIntake(), authenticator }),
      logger: pino({ level: "silent" }),
    });
    const { body } = await app.inject({ method: "GET", url: "/openapi.json" });
    description = descriptionOf(body);
  });
  after(async () => {
    await app.close();
    await store.close();
  });

  /** Asks an operation, and answers what is not as described, or not as its example. */
  async function faultOf(
    status: number,
    [method, path, body, token = "good"]: readonly [string, string, unknown, string?],
  ): Promise<string> {
    const answer = await app.inject({
      method: method as "POST",
      url: path.replace("{tenant_id}", status === 404 ? "missing" : "t1"),
      ...(token !== "" && { headers: { authorization: `Bearer ${token}` } }),
      payload: JSON.stringify(body),
    });
    const operation = description.operations.find(
      (one) => one.method === method && one.path === path,
    );
    assert.ok(operation !== undefined, `${method} ${path}`);
    assert.equal(answer.statusCode, status, answer.body);
    const type = String(answer.headers["content-type"]);
    const came: unknown = JSON.parse(answer.body);
    const problem = description.answerFault(operation, { status, contentType: type, body: came });
    if (problem !== "") return problem;
    assert.deepEqual(came, operation.answers.get(status)?.get("application/json")?.example);
    return "";
  }

  test("400, 401, 403, 404, 409, 412, 413 and 501 are as their examples", async () => {
    await store.schemas.write("t1" as TenantId, {
      text: "entity user {} entity document { relation viewer @user }",
    });
    const reading = "/v1/tenants/{tenant_id}/schemas/read";
    for (const [status, asked] of [
      [400, ["POST", reading, {}]],
      [401, ["POST", reading, {}, ""]],
      [403, ["POST", "/v1/tenants/{tenant_id}/permissions/check", {}, "limited"]],
      [404, ["POST", "/v1/tenants/{tenant_id}/schemas/list", {}]],
      [409, ["POST", "/v1/tenants/create", { id: "t1", name: "" }]],
      [412, ["POST", "/v1/tenants/{tenant_id}/data/change", changeOfMissing]],
      [413, ["POST", reading, " ".repeat(4 * 1024 * 1024)]],
      [501, ["POST", "/v1/tenants/{tenant_id}/watch", {}]],
    ] as const) {
      assert.equal(await faultOf(status, asked), "", `${status}`);
    }
  });

  test("500, 503 and 504 are as their examples", async () => {
    for (const [status, error] of [
      [500, new Error("a fault")],
      [503, storageError(Object.assign(new Error("refused"), { code: "ECONNREFUSED" }))],
      [504, storageError(Object.assign(new Error("cancelled"), { code: "57014" }))],
    ] as const) {
      fault = error;
      assert.equal(await faultOf(status, ["POST", "/v1/tenants/list", {}]), "");
    }
  });

  test("the first error of a stream stands in the place of an item, as described", async () => {
    assert.equal(await faultOf(400, ["POST", stream, {}]), "");
    assert.equal(await faultOf(401, ["POST", stream, {}, ""]), "");
    assert.equal(await faultOf(403, ["POST", stream, {}, "limited"]), "");
    assert.equal(await faultOf(413, ["POST", stream, " ".repeat(4 * 1024 * 1024)]), "");
  });

  test("the page and the description need no token, and are counted", async () => {
    const get = async (url: string) => await app.inject({ method: "GET", url });
    const page = await get("/docs");
    assert.equal(page.statusCode, 200);
    assert.match(String(page.headers["content-security-policy"]), /^default-src 'none';/);
    const assets = [...page.body.matchAll(/(?:src|href)="(?<url>[^"]+)"/g)]
      .map(({ groups }) => groups?.["url"] ?? "")
      .filter((url) => !url.startsWith("data:"));
    const names = ["swagger-ui.css", "page.css", "swagger-ui-bundle.js", "start.js"];
    assert.deepEqual(
      assets,
      names.map((name) => `docs/${name}`),
    );
    for (const asset of [...assets, "openapi.json", "openapi.yaml"]) {
      const { statusCode, body } = await get(`/${asset}`);
      assert.equal(statusCode, 200, asset);
      assert.ok(body.length > 0, asset);
    }
    const { body: start } = await get("/docs/start.js");
    assert.match(start, /url: "openapi\.json"/);
    while (rateLimit.take());
    for (const url of ["/docs", "/openapi.json", "/docs/start.js"]) {
      assert.equal((await get(url)).statusCode, 429, url);
    }
    // The clock of this limit stands still, so that it stays so.
    assert.equal(await faultOf(429, ["POST", "/v1/tenants/list", {}]), "");
    assert.equal(await faultOf(429, ["POST", stream, {}]), "");
  });
});

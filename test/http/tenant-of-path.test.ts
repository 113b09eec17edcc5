import assert from "node:assert/strict";
import { test } from "node:test";

import { fastify } from "fastify";

import { tenantOfPath } from "../../src/http/tenant-of-path.ts";

test("all spellings of a path that the router takes name the tenant that it finds", async (t) => {
  const app = fastify();
  t.after(async () => await app.close());
  app.post("/v1/tenants/:tenant/:rest", async ({ params }) => params);
  const spellings = [
    ["/v1/tenants/t1/schemas", "t1"],
    ["/v1/tenants/%741/schemas", "t1"],
    ["/v1/tenants/t%31/schemas?a=b", "t1"],
    ["/v1/%74enants/t1/schemas", "t1"],
    ["/%76%31/tenants/%74%31/schemas", "t1"],
    ["/v1/tenants/a%2Cb/schemas", "a,b"],
    ["/v1/tenants/a%2fb/schemas", "a/b"],
    ["/v1/tenants/a%2541/schemas", "a%41"],
    ["/v1/tenants/%C3%A4/schemas", "ä"],
  ] as const;
  for (const [url, tenant] of spellings) {
    assert.equal(tenantOfPath(url), tenant, url);
    const answer = await app.inject({ method: "POST", url });
    assert.equal(answer.json<{ readonly tenant: string }>().tenant, tenant, url);
  }
});

test("a path ends before its query, and may stand behind the name of a host", () => {
  for (const url of [
    "/v1/tenants/t1",
    "/v1/tenants/t1?x=/v1",
    "/v1/tenants/t1#x",
    "http://localhost:3476/v1/tenants/t1/schemas",
    "HTTPS://localhost/v1/tenants/%741/schemas",
  ]) {
    assert.equal(tenantOfPath(url), "t1", url);
  }
});

test("a wrong escape stays as it is", () => {
  assert.equal(tenantOfPath("/v1/tenants/%zz/schemas"), "%zz");
  assert.equal(tenantOfPath("/v1/tenants/%C3/schemas"), "%C3");
  assert.equal(tenantOfPath("/v1/tenants/a%/schemas"), "a%");
  assert.equal(tenantOfPath("/v1/%zz/t1/schemas"), undefined);
});

test("other paths name no tenant", () => {
  for (const url of ["", "*", "/", "/healthz", "/v1/tenants", "/v1/tenants/", "/v1%2Ftenants/t1"]) {
    assert.equal(tenantOfPath(url), undefined, url);
  }
  assert.equal(tenantOfPath(undefined), undefined);
  assert.equal(tenantOfPath(`/v1/tenants/${"a".repeat(1_000)}/schemas`)?.length, 128);
});

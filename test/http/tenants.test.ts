import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

for (const engine of engines) {
  describe(`tenants on ${engine.name}`, () => {
    let app: TestApp;
    before(async () => (app = await engine.start()));
    after(async () => await app.close());

    test("a tenant with id t1 exists at the start", async () => {
      const { status, body } = await app.post("/v1/tenants/list", {});
      assert.equal(status, 200);
      assert.match(JSON.stringify(body), /"id":"t1"/);
    });

    test("a created tenant is given back with the time in ISO 8601", async () => {
      const { status, body } = await app.post("/v1/tenants/create", { id: "acme,1", name: "Acme" });
      assert.equal(status, 200);
      const shape =
        /^{"tenant":{"id":"acme,1","name":"Acme","created_at":"\d{4}-\d\d-\d\dT[\d:.]+Z"}}$/;
      assert.match(JSON.stringify(body), shape);
      assert.equal((await app.send("DELETE", "/v1/tenants/acme,1")).status, 200);
    });

    test("an id that is taken gives 409, and the tenant stays as it is", async () => {
      await app.post("/v1/tenants/create", { id: "taken", name: "first" });
      const again = await app.post("/v1/tenants/create", { id: "taken", name: "second" });
      assert.equal(again.status, 409);
      assert.match(again.message, /^ERROR_CODE_UNIQUE_CONSTRAINT: /);
      const { body } = await app.post("/v1/tenants/list", {});
      assert.match(JSON.stringify(body), /"id":"taken","name":"first"/);
    });

    test("a deleted tenant is gone with its schema, and its id can be used anew", async () => {
      const path = await app.tenant("entity user {}");
      const id = path.slice("/v1/tenants/".length);
      const deleted = await app.send("DELETE", path);
      assert.deepEqual([deleted.status, deleted.body], [200, { tenant_id: id }]);
      const gone = await app.post(`${path}/schemas/read`, { metadata: {} });
      assert.equal(gone.status, 404);
      assert.match(gone.message, /^ERROR_CODE_TENANT_NOT_FOUND: /);
      assert.equal((await app.post("/v1/tenants/create", { id, name: "" })).status, 200);
      const fresh = await app.post(`${path}/schemas/list`, {});
      assert.deepEqual(fresh.body, { head: "", schemas: [], continuous_token: "" });
    });

    test("deleting a tenant that does not exist gives 404", async () => {
      const { status, message } = await app.send("DELETE", "/v1/tenants/missing");
      assert.equal(status, 404);
      assert.match(message, /^ERROR_CODE_TENANT_NOT_FOUND: /);
    });

    test("pages hold every tenant once, in order, and only the last has no token", async () => {
      for (const id of ["page-a", "page-b", "page-c"]) {
        await app.post("/v1/tenants/create", { id, name: "" });
      }
      const all = ids((await app.post("/v1/tenants/list", {})).body);
      assert.deepEqual(all, all.toSorted());
      const paged: string[] = [];
      let token = "";
      do {
        const page = await app.post("/v1/tenants/list", { page_size: 1, continuous_token: token });
        const found = ids(page.body);
        assert.equal(found.length, 1);
        paged.push(...found);
        token = page.text("continuous_token");
      } while (token !== "");
      assert.deepEqual(paged, all);
    });

    test("the list answers GET with the same fields as query or body", async () => {
      const posted = await app.post("/v1/tenants/list", { page_size: 1 });
      const queried = await app.send("GET", "/v1/tenants/list?page_size=1");
      assert.deepEqual(queried.body, posted.body);
      const bodied = await app.send("GET", "/v1/tenants/list", { page_size: 1 });
      assert.deepEqual(bodied.body, posted.body);
      assert.deepEqual(
        (await app.send("GET", "/v1/tenants/list")).body,
        (await app.post("/v1/tenants/list")).body,
      );
    });
  });
}

function ids(body: unknown): readonly string[] {
  assert.ok(typeof body === "object" && body !== null && "tenants" in body);
  assert.ok(Array.isArray(body.tenants));
  return body.tenants.map((tenant: { readonly id: string }) => tenant.id);
}

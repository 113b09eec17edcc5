/** Whose shares a request takes from, when its token is for some tenants alone, or is slow to verify. */
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";

import { status } from "@grpc/grpc-js";

import type { Authenticator } from "../../src/auth/admission.ts";
import { fullCredential } from "../../src/auth/credential.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { PermissionCheckRequestSchema } from "../../src/gen/base/v1/permission_pb.ts";
import { until } from "../store/open-write.ts";
import { type Engine, engines } from "../support/engines.ts";
import { askRest, check, idOf, schema, serve } from "./served.ts";
import { answerOn, callOn, endOf, headOf, messageHead, messageOf } from "./wire.ts";

for (const engine of engines) {
  describe(`tokens and shares of tenants on ${engine.name}`, () => suite(engine));
}

const path = "/base.v1.Permission/Check";

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** An instance with a key for all tenants, and one for the first of two tenants alone. */
async function serveTwo(t: TestContext, engine: Engine, limits: Parameters<typeof serve>[2]) {
  const tenants = new Set<string>();
  const bound = { name: "bound", scopes: undefined, tenants };
  const authenticator = presharedKeys(["all"], [{ key: "bound", credential: bound }]);
  const served = await serve(t, engine, limits, authenticator);
  const [own, other] = [await served.app.tenant(schema), await served.app.tenant(schema)];
  tenants.add(idOf(own));
  const session = await served.openSession();
  return { served, own, other, session };
}

function suite(engine: Engine): void {
  test("a token is told that a tenant is not its own, however much that tenant has under way", async (t) => {
    const { served, own, other, session } = await serveTwo(t, engine, { requestsOfTenant: 1 });
    const held = served.holdChecks(idOf(other));
    const first = askRest(served, other, { headers: bearer("all") });
    await until(async () => (held.count === 1 ? true : undefined));

    const overRest = async (key: string, tenant: string) =>
      (await askRest(served, tenant, { headers: bearer(key) })).status;
    assert.equal(await overRest("all", other), 429);
    assert.equal(await overRest("bound", other), 403);
    assert.equal(await overRest("bound", own), 200);

    const overGrpc = async (key: string, tenant: string): Promise<number> => {
      const call = callOn(session, { path, headers: bearer(key) });
      call.end(messageOf(PermissionCheckRequestSchema, { tenantId: idOf(tenant), ...check }));
      return (await endOf(call)).status;
    };
    assert.equal(await overGrpc("all", other), status.RESOURCE_EXHAUSTED);
    assert.equal(await overGrpc("bound", other), status.PERMISSION_DENIED);
    assert.equal(await overGrpc("bound", own), status.OK);
    held.letGo();
    assert.equal((await first).status, 200);
  });

  test("large bodies take nothing from the share of a tenant that their token is not for", async (t) => {
    const { served, other, session } = await serveTwo(t, engine, { bytesOfTenant: 1_000_000 });
    // The bodies do not come, so the server goes on to wait for what it would discard.
    for (let nth = 0; nth < 3; nth++) {
      const socket = await served.open();
      socket.write(headOf(other, 900_000, { headers: "authorization: Bearer bound\r\n" }));
      assert.match(await answerOn(socket), / 403 /);
      const call = callOn(session, { path, headers: bearer("bound") });
      call.write(messageHead(idOf(other), 900_000));
      assert.equal((await endOf(call)).status, status.PERMISSION_DENIED);
    }
    const large = "x".repeat(900_000);
    const body = JSON.stringify({ ...check, context: { data: { large } } });
    const url = `${served.url}${other}/permissions/check`;
    const init = { method: "POST", body, headers: bearer("all") };
    assert.equal((await fetch(url, init)).status, 200);
    const call = callOn(session, { path, headers: bearer("all") });
    call.end(
      messageOf(PermissionCheckRequestSchema, {
        tenantId: idOf(other),
        ...check,
        context: { data: { large } },
      }),
    );
    assert.equal((await endOf(call)).status, status.OK);
  });

  test("a request whose client leaves while its token is verified takes nothing", async (t) => {
    const verified = Promise.withResolvers<void>();
    let verifying = 0;
    const authenticator: Authenticator = {
      verify: async (token) => {
        if (token === "slow") {
          verifying += 1;
          await verified.promise;
        }
        return fullCredential();
      },
      close: async () => undefined,
    };
    const served = await serve(t, engine, { requestsOfTenant: 1 }, authenticator);
    const tenant = await served.app.tenant(schema);
    const session = await served.openSession();
    const leaving = new AbortController();
    const request = askRest(served, tenant, { headers: bearer("slow"), signal: leaving.signal });
    const call = callOn(session, { path, headers: bearer("slow") });
    call.end(messageOf(PermissionCheckRequestSchema, { tenantId: idOf(tenant), ...check }));
    await until(async () => (verifying === 2 ? true : undefined));
    leaving.abort();
    await assert.rejects(request);
    call.destroy();
    const ask = async () => (await askRest(served, tenant, { headers: bearer("fast") })).status;
    // The server has seen the end of both before it answers what came later on the same connection.
    await new Promise((resolve) => session.ping(resolve));
    assert.equal(await ask(), 200);
    verified.resolve();
    await until(async () => ((await ask()) === 200 ? true : undefined));
    assert.equal(await ask(), 200);
  });
}

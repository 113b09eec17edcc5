import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { startPemba, type StartedPemba } from "../../src/testing/start-pemba.ts";
import { connectGrpc } from "../support/grpc.ts";

const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const plan = { type: "doc", id: "plan" };
const ada = { type: "user", id: "ada", relation: "" };
const question = { metadata: {}, entity: plan, permission: "view", subject: ada };

describe("a server in the process of a test", () => {
  let pemba: StartedPemba;

  before(async () => {
    pemba = await startPemba();
  });

  after(async () => await pemba.stop());

  test("answers over REST and over gRPC", async (t) => {
    const tenant = await pemba.createTenant(schema);
    await writeTuple(pemba, tenant);
    assert.equal(await check(pemba, tenant), "RESULT_ALLOWED");
    const client = connectGrpc(pemba.getGrpcAddress());
    t.after(() => client.close());
    const { can } = await client.call(Permission.method.check, { tenantId: tenant, ...question });
    assert.equal(can, CheckResult.ALLOWED);
  });

  test("gives each test a tenant of its own", async () => {
    const [one, other] = await Promise.all([
      pemba.createTenant(schema),
      pemba.createTenant(schema),
    ]);
    assert.notEqual(one, other);
    await writeTuple(pemba, one);
    assert.equal(await check(pemba, one), "RESULT_ALLOWED");
    assert.equal(await check(pemba, other), "RESULT_DENIED");
  });

  test("says what is wrong with a schema", async () => {
    await assert.rejects(pemba.createTenant("entity user { relation a @b }"), /400 .*SCHEMA_/);
  });
});

test("several servers run in one process, and each has its own data", async () => {
  await using one = await startPemba();
  await using other = await startPemba();
  const tenant = await one.createTenant(schema);
  assert.equal(await check(one, tenant), "RESULT_DENIED");
  await assert.rejects(check(other, tenant), /404/);
});

test("a server that has stopped answers no more, and can be stopped again", async () => {
  const pemba = await startPemba();
  const url = pemba.getRestUrl();
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  await pemba.stop();
  await pemba.stop();
  await assert.rejects(fetch(`${url}/healthz`));
});

test("with keys, tenants are made with the first of them, and others must send one", async () => {
  const config = {
    "authn.enabled": true,
    "authn.method": "preshared",
    "authn.preshared.keys": ["one", "two"],
  };
  await using pemba = await startPemba({ config });
  const tenant = await pemba.createTenant(schema);
  await assert.rejects(check(pemba, tenant), /401/);
});

test("a wrong configuration is refused by its name, and what surrounds the process has no part in it", async (t) => {
  const misspelt: object = { "server.rate_limt": 5 };
  await assert.rejects(startPemba({ config: misspelt }), /`server\.rate_limt` is not a key/);
  const fixed: object = { "server.http.port": 3476 };
  await assert.rejects(startPemba({ config: fixed }), /`server\.http\.port` cannot be chosen/);
  await assert.rejects(
    startPemba({ config: { "logger.level": "loud" } }),
    /`logger\.level`: `loud` is not allowed/,
  );
  const folder = mkdtempSync(join(tmpdir(), "pemba-project-"));
  const home = process.cwd();
  mkdirSync(join(folder, "config"));
  writeFileSync(join(folder, "config/config.yaml"), "logger: {level: loud}");
  process.env["SERVICE_LOG_LEVEL"] = "loud";
  process.chdir(folder);
  t.after(() => {
    process.chdir(home);
    delete process.env["SERVICE_LOG_LEVEL"];
    rmSync(folder, { recursive: true });
  });
  await using pemba = await startPemba();
  assert.equal((await fetch(`${pemba.getRestUrl()}/healthz`)).status, 200);
});

async function writeTuple(pemba: StartedPemba, tenant: string): Promise<void> {
  const tuple = { entity: plan, relation: "viewer", subject: ada };
  await post(pemba, `${tenant}/data/write`, { metadata: {}, tuples: [tuple] });
}

async function check(pemba: StartedPemba, tenant: string): Promise<unknown> {
  return (await post(pemba, `${tenant}/permissions/check`, question))["can"];
}

async function post(
  pemba: StartedPemba,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const url = `${pemba.getRestUrl()}/v1/tenants/${path}`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 200, `${answer.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { makeKey, signed, startIssuer } from "../auth/issuer.ts";
import { until } from "../store/open-write.ts";
import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";
import { runCommand } from "../support/commands-process.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { runPemba, startServing } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

const list = { method: "POST" } as const;

test("keys of the configuration guard both transports, and no log line has one", async (t) => {
  const env = {
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "preshared",
    SERVICE_AUTHN_PRESHARED_KEYS: "first-key,second-key",
    SERVICE_LOG_LEVEL: "debug",
  };
  const { url, grpc, stop, finished } = await serveHere(t, [], env);
  for (const key of ["first-key", "second-key"]) {
    const authorization = `Bearer ${key}`;
    const answer = await fetch(`${url}/v1/tenants/list`, { ...list, headers: { authorization } });
    assert.equal(answer.status, 200);
    const client = connectGrpc(grpc, { authorization });
    t.after(() => client.close());
    assert.equal((await client.call(Tenancy.method.list, {})).tenants.length, 1);
  }
  assert.equal((await fetch(`${url}/v1/tenants/list`, list)).status, 401);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  const stranger = connectGrpc(grpc, { authorization: "Bearer third-key" });
  t.after(() => stranger.close());
  const { code } = await failure(stranger.call(Tenancy.method.list, {}));
  assert.equal(code, status.UNAUTHENTICATED);
  assert.equal((await stranger.call(Health.method.check, {})).status, 1);
  stop();
  const log = await finished;
  assert.match(log, /request answered/);
  assert.doesNotMatch(log, /(first|second|third)-key/);
});

test("a limited key does what it may over both transports, and the log has its name alone", async (t) => {
  const env = {
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "preshared",
    SERVICE_AUTHN_PRESHARED_KEYS: "full-secret",
    SERVICE_AUTHN_PRESHARED_SCOPED: JSON.stringify([
      { key: "shop-secret", name: "shop", scopes: ["read"], tenants: ["t1"] },
      { key: "other-secret", scopes: ["schema"] },
    ]),
    SERVICE_LOG_LEVEL: "debug",
    SERVICE_LOG_OUTPUT: "json",
  };
  const { url, grpc, stop, finished } = await serveHere(t, [], env);
  const ask = async (path: string, key: string): Promise<string> => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${url}/v1/tenants/${path}`, { ...list, headers, body: "{}" });
    return `${answer.status} ${await answer.text()}`;
  };
  assert.match(await ask("t1/schemas/list", "shop-secret"), /^200 /);
  assert.match(await ask("t1/data/write", "shop-secret"), /^403 .*INSUFFICIENT_SCOPE.*`write`/);
  assert.match(await ask("t2/schemas/list", "shop-secret"), /^403 .*TENANT_NOT_ALLOWED.*`t2`/);
  assert.match(await ask("t2/schemas/list", "other-secret"), /^403 .*INSUFFICIENT_SCOPE.*`read`/);
  assert.match(await ask("t2/schemas/list", "full-secret"), /^404 /);
  const client = connectGrpc(grpc, { authorization: "Bearer shop-secret" });
  t.after(() => client.close());
  assert.equal((await client.call(Tenancy.method.list, {})).tenants.length, 1);
  const refused = await failure(client.call(Tenancy.method.create, { id: "t3", name: "" }));
  assert.deepEqual(
    [refused.code, refused.details],
    [
      status.PERMISSION_DENIED,
      "ERROR_CODE_INSUFFICIENT_SCOPE: authorization: the token lacks the scope `tenant`",
    ],
  );
  stop();
  const log = await finished;
  assert.doesNotMatch(log, /-secret/);
  const callers = [...log.matchAll(/^.*"request answered".*$/gm)].map(([line]) => {
    const { caller, status: ended } = JSON.parse(line);
    return `${caller} ${ended}`;
  });
  assert.deepEqual(callers, [
    "shop 200",
    "shop 403",
    "shop 403",
    "authn.preshared.scoped[1] 403",
    "authn.preshared.keys[0] 404",
    "shop 0",
    "shop 7",
  ]);
});

test("the start log warns of a port of instances that is open to everybody", async (t) => {
  const serving = startServing([
    "--server-host=0.0.0.0",
    "--database-engine=postgres",
    "--database-uri=postgres://127.0.0.1:1/none",
    "--distributed-enabled",
    "--distributed-address=static:///127.0.0.1:1",
    "--distributed-port=0",
  ]);
  t.after(() => serving.process.kill("SIGKILL"));
  await serving.listening;
  serving.process.kill("SIGTERM");
  const { stdout } = await serving.finished;
  assert.match(stdout, /WARN.*`distributed.port`: answers checks of all tenants to every client/);
});

test("it starts while the issuer is gone, refuses requests, and takes them once it is back", async (t) => {
  const key = await makeKey("key");
  const issuer = await startIssuer(key);
  t.after(async () => await issuer.close());
  issuer.mode = "failing";
  const env = {
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "oidc",
    SERVICE_AUTHN_OIDC_ISSUER: issuer.url,
    SERVICE_AUTHN_OIDC_AUDIENCE: "pemba",
    SERVICE_AUTHN_OIDC_BACKOFF_INTERVAL: "10ms",
    SERVICE_AUTHN_OIDC_BACKOFF_MAX_RETRIES: "1000",
  };
  const { url, stop, finished } = await serveHere(t, [], env);
  const authorization = `Bearer ${await signed(key, issuer.url)}`;
  const ask = async (): Promise<Response> =>
    await fetch(`${url}/v1/tenants/list`, { ...list, headers: { authorization } });
  const refused = await ask();
  assert.deepEqual([refused.status, refused.headers.get("www-authenticate")], [401, "Bearer"]);
  assert.match(await refused.text(), /the keys of its issuer cannot be fetched/);
  issuer.mode = "answering";
  await until(async () => ((await ask()).status === 200 ? true : undefined));
  stop();
  assert.match(
    await finished,
    /WARN.*the keys of the issuer cannot be fetched, requests are refused until they are/,
  );
});

test("the rate of the configuration holds for both transports together", async (t) => {
  const perSecond = 20;
  const words = ["--server-rate-limit", String(perSecond)];
  const { url, grpc, stop, finished } = await serveHere(t, words);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const start = performance.now();
  const asked = await Promise.all(
    Array.from({ length: 8 * perSecond }, async () => [
      (await fetch(`${url}/v1/tenants/list`, list)).status === 200,
      await client.call(Tenancy.method.list, {}).then(
        () => true,
        (error: unknown) => {
          assert.match(
            String(error),
            /RATE_LIMIT_EXCEEDED: too many requests, .*`server\.rate_limit`/,
          );
          return false;
        },
      ),
    ]),
  );
  const seconds = (performance.now() - start) / 1_000;
  const taken = asked.flat().filter((isTaken) => isTaken).length;
  // However long it takes: two limits of their own would let in twice as many.
  const most = perSecond * (1 + seconds);
  assert.ok(taken >= perSecond && taken <= most, `${taken} were let in, expected at most ${most}`);
  stop();
  assert.match(
    await finished,
    /INFO: at most 20 requests a second are taken \(`server\.rate_limit`\)\n/,
  );
});

test("both listeners speak TLS with the certificates of the configuration", async (t) => {
  const made = await makeCertificate();
  const { cert, key } = certificateFolder(t, made);
  const env = {
    SERVICE_HTTP_TLS_ENABLED: "true",
    SERVICE_HTTP_TLS_CERT_PATH: cert,
    SERVICE_HTTP_TLS_KEY_PATH: key,
    SERVICE_GRPC_TLS_ENABLED: "true",
    SERVICE_GRPC_TLS_CERT_PATH: cert,
    SERVICE_GRPC_TLS_KEY_PATH: key,
  };
  const { url, grpc } = await serveHere(t, [], env);
  assert.match(url, /^https:/);
  const port = grpc.slice(grpc.lastIndexOf(":"));
  const client = connectGrpc(`localhost${port}`, { root: Buffer.from(made.cert) });
  t.after(() => client.close());
  assert.equal((await client.call(Tenancy.method.list, {})).tenants.length, 1);
  // A separate program, which gets its trusted certificate at the start.
  const file = `${cert}.txt`;
  writeFileSync(file, "doc:1#viewer@user:1\n");
  const imported = await runPemba(["import", file, "--url", url, "--tenant", "missing"], {
    env: { NODE_EXTRA_CA_CERTS: cert },
  });
  assert.match(imported.stderr, /tenant `missing`/);
});

test("a certificate that cannot be read is one line and status 1, for each listener", async () => {
  for (const listener of ["http", "grpc"]) {
    const { status: ended, stderr } = await runCommand([
      "serve",
      `--${listener}-tls-enabled`,
      `--${listener}-tls-cert-path=/nowhere/tls.crt`,
      `--${listener}-tls-key-path=/nowhere/tls.key`,
    ]);
    assert.equal(ended, 1);
    assert.match(
      stderr,
      new RegExp(
        String.raw`^pemba: server\.${listener}\.tls\.cert: cannot read \`/nowhere/tls\.crt\`: ENOENT[^\n]*\n$`,
      ),
    );
  }
});

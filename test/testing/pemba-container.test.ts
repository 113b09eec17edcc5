import assert from "node:assert/strict";
import { connect } from "node:net";
import { constants } from "node:os";
import { before, describe, test } from "node:test";

import { PostgreSqlContainer } from "@testcontainers/postgresql";
import { getContainerRuntimeClient, Network, type StartedTestContainer } from "testcontainers";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission, CheckResult } from "../../src/gen/base/v1/permission_pb.ts";
import { PembaContainer, type StartedPembaContainer } from "../../src/testing/pemba-container.ts";
import { makeCertificate } from "../support/certificate-files.ts";
import { connectGrpc } from "../support/grpc.ts";
import { pembaImage, whyNoContainers } from "../support/image.ts";

/** Found out before any test begins, since the run ends with the last test that it knows of. */
const noContainers = await whyNoContainers();

/** To build an image fetches every package; in milliseconds. */
const patience = 900_000;

const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const plan = { type: "doc", id: "plan" };
const ada = { type: "user", id: "ada", relation: "" };
const question = { metadata: {}, entity: plan, permission: "view", subject: ada };

/*
 * The image as it is built, and the class by which other projects start it, against a container
 * engine where there is one.
 */
describe("a container", { skip: noContainers ?? false, timeout: patience }, () => {
  let image = "";

  before(
    async () => {
      image = await pembaImage();
    },
    { timeout: patience },
  );

  test("answers over REST and over gRPC from memory", async (t) => {
    await using pemba = await new PembaContainer(image).start();
    await writeSchema(pemba);
    const client = connectGrpc(pemba.getGrpcAddress());
    t.after(() => client.close());
    const tuple = { entity: plan, relation: "viewer", subject: ada };
    await client.call(Data.method.write, { tenantId: "t1", metadata: {}, tuples: [tuple] });
    assert.equal(await check(pemba), "RESULT_ALLOWED");
    const { can } = await client.call(Permission.method.check, { tenantId: "t1", ...question });
    assert.equal(can, CheckResult.ALLOWED);
  });

  test("keeps its data in a database, past its own end", async () => {
    await using network = await new Network().start();
    await using postgres = await new PostgreSqlContainer("postgres:18-alpine")
      .withNetwork(network)
      .withNetworkAliases("db")
      .withDatabase("pemba")
      .start();
    const uri = `postgres://${postgres.getUsername()}:${postgres.getPassword()}@db:5432/pemba`;
    const start = async (): Promise<StartedPembaContainer> =>
      await new PembaContainer(image).withNetwork(network).withDatabase(uri).start();
    {
      await using first = await start();
      await writeSchema(first);
      await writeTuple(first);
    }
    await using second = await start();
    assert.equal(await check(second), "RESULT_ALLOWED");
    const { output, exitCode } = await second.exec(["pemba", "migrate", "status"]);
    assert.equal(exitCode, 0, output);
    assert.doesNotMatch(output, /pending/);
  });

  test("lets in who has a key, and says itself that it serves", async () => {
    await using pemba = await new PembaContainer(image).withPresharedKeys("one", "two").start();
    const list = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${pemba.getRestUrl()}/v1/tenants/list`, { method: "POST", headers })).status;
    assert.equal(await list({}), 401);
    assert.equal(await list({ authorization: "Bearer two" }), 200);
    assert.deepEqual(await outcome(pemba, "pemba health"), [0, "the server is ready"]);
  });

  test("is ready with TLS, and with gRPC alone", async () => {
    const made = await makeCertificate();
    const content = [
      { content: made.cert, target: "/tls/tls.crt", mode: 0o644 },
      { content: made.private, target: "/tls/tls.key", mode: 0o644 },
    ];
    const tls = (listener: "http" | "grpc"): object => ({
      [`server.${listener}.tls.enabled`]: true,
      [`server.${listener}.tls.cert`]: "/tls/tls.crt",
      [`server.${listener}.tls.key`]: "/tls/tls.key",
    });
    const rest = new PembaContainer(image).withCopyContentToContainer(content);
    await using secure = await rest.withConfig(tls("http")).start();
    assert.match(secure.getRestUrl(), /^https:/);
    const alone = new PembaContainer(image).withCopyContentToContainer(content);
    await using grpc = await alone
      .withConfig({ ...tls("grpc"), "server.http.enabled": false })
      .start();
    for (const pemba of [secure, grpc]) {
      assert.deepEqual(await outcome(pemba, "pemba health"), [0, "the server is ready"]);
    }
  });

  test("that cannot start says why", async () => {
    const refused = new PembaContainer(image).withConfig({ "logger.level": "loud" });
    await assert.rejects(refused.start(), /`logger\.level`: `loud` is not allowed/);
  });

  test("is asked for keys that there are", () => {
    // As a caller in JavaScript may spell it.
    const misspelt: object = { "server.rate_limt": 5 };
    assert.throws(() => new PembaContainer(image).withConfig(misspelt), /`server\.rate_limt`/);
  });

  test("runs without rights and without tools to change itself", async () => {
    const confined = new PembaContainer(image)
      .withDroppedCapabilities("ALL")
      .withSecurityOpt("no-new-privileges");
    await using pemba = await confined.start();
    assert.deepEqual(await outcome(pemba, "id -u"), [0, "1000"]);
    const changes = ["touch /app/dist/main.js", "touch /app/new", "npm --version", "npx --version"];
    for (const command of changes) {
      const [status] = await outcome(pemba, command);
      assert.notEqual(status, 0, command);
    }
    for (const name of ["typescript", "testcontainers", "oxlint"]) {
      assert.deepEqual(await outcome(pemba, `ls /app/node_modules | grep -x ${name}`), [1, ""]);
    }
    assert.deepEqual(await outcome(pemba, "find /app -name '*.map' | head -n 1"), [0, ""]);
  });

  test("ends with status 0 when it is asked to stop, and knows how its health is asked", async () => {
    const pemba = await new PembaContainer(image).start();
    const runtime = await getContainerRuntimeClient();
    const container = runtime.container.getById(pemba.getId());
    await pemba.stop({ remove: false, timeout: 30_000 });
    const { State, Config } = await container.inspect();
    assert.equal(State.ExitCode, 0);
    assert.deepEqual(Config.Healthcheck?.Test, ["CMD", "pemba", "health"]);
    await container.remove();
  });

  test("ends at once at a second signal, although it is the first process", async () => {
    const pemba = await new PembaContainer(image)
      .withConfig({ "server.grace_period": "1h" })
      .start();
    const runtime = await getContainerRuntimeClient();
    const container = runtime.container.getById(pemba.getId());
    const { hostname, port } = new URL(pemba.getRestUrl());
    const socket = connect(Number(port), hostname);
    socket.write("POST /v1/tenants/create HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{");
    // The server has the head of this request when it has answered a later one.
    await (await fetch(`${pemba.getRestUrl()}/healthz`)).text();
    await container.kill({ signal: "SIGTERM" });
    for await (const line of (await pemba.logs()).setEncoding("utf8")) {
      if (String(line).includes("stopping")) break;
    }
    await container.kill({ signal: "SIGTERM" });
    await container.wait();
    const { State } = await container.inspect();
    assert.equal(State.ExitCode, 128 + constants.signals.SIGTERM);
    socket.destroy();
    await container.remove();
  });
});

async function outcome(
  container: StartedTestContainer,
  command: string,
): Promise<readonly [number, string]> {
  const { exitCode, stdout } = await container.exec(["sh", "-c", command]);
  return [exitCode, stdout.trim()];
}

async function post(pemba: StartedPembaContainer, path: string, body: object): Promise<unknown> {
  const url = `${pemba.getRestUrl()}/v1/tenants/t1/${path}`;
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text);
}

async function writeSchema(pemba: StartedPembaContainer): Promise<void> {
  await post(pemba, "schemas/write", { schema });
}

async function writeTuple(pemba: StartedPembaContainer): Promise<void> {
  const tuple = { entity: plan, relation: "viewer", subject: ada };
  await post(pemba, "data/write", { metadata: {}, tuples: [tuple] });
}

async function check(pemba: StartedPembaContainer): Promise<unknown> {
  const answer = await post(pemba, "permissions/check", question);
  return typeof answer === "object" && answer !== null ? Reflect.get(answer, "can") : undefined;
}

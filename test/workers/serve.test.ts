import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";

import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { until } from "../store/open-write.ts";
import { createTestDatabase } from "../support/database.ts";
import { connectGrpc } from "../support/grpc.ts";
import { startServing } from "../support/pemba.ts";
import { openStream } from "../support/text-stream.ts";
import { hasTwoProcessors, startByTwo, type WorkingInstance } from "./instance.ts";

const skip = hasTwoProcessors ? false : "there is one processor";

const schema = "entity user {} entity document { relation owner @user permission edit = owner }";
const names = ["one", "two", "three", "four", "five", "six"];
const ada = { type: "user", id: "ada" };
const plan = { type: "document", id: "plan" };

/** A request over a connection of its own. */
async function post(url: string, path: string, body: object): Promise<string> {
  const response = await fetch(`${url}/v1/tenants/${path}`, {
    method: "POST",
    headers: { connection: "close" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

async function writePlan({ url }: WorkingInstance): Promise<void> {
  await post(url, "t1/schemas/write", { schema });
  const tuples = [{ entity: plan, relation: "owner", subject: ada }];
  await post(url, "t1/data/write", { metadata: {}, tuples });
}

/** Whether both workers have logged that they answered a request of the route. */
function bothAnswered(log: string, route: string): boolean {
  return [1, 2].every((worker) =>
    log
      .split("\n")
      .some((line) =>
        [`"worker":${worker},`, `"route":"${route}"`, '"msg":"request answered"'].every((part) =>
          line.includes(part),
        ),
      ),
  );
}

/** A request whose body does not come: it is under way until its worker ends. */
async function halfRequest(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    "POST /v1/tenants/list HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n",
  );
  // The worker has asked for the body.
  await once(socket, "data");
  return socket;
}

/** Sends the body, and resolves to the status of the answer: 0 when the connection ends without one. */
async function statusOn(socket: Socket): Promise<number> {
  if (socket.closed) return 0;
  const { promise, resolve } = Promise.withResolvers<number>();
  socket.once("data", (chunk) => resolve(Number(/^HTTP\/1\.1 (\d+) /.exec(String(chunk))?.[1])));
  socket.once("close", () => resolve(0));
  socket.write("{}");
  return await promise;
}

/** What comes on a connection of its own, which asks whether the instance is there, until it is closed. */
async function textOn(t: TestContext, url: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  // It may be reset.
  socket.on("error", () => {});
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("close", () => resolve());
  await promise;
  return text;
}

describe("an instance with two workers", { skip }, () => {
  let instance: WorkingInstance;
  let kills = 0;
  before(async () => {
    // Its database is empty: the first worker migrates it before the second one looks at it.
    instance = await startByTwo(["--server-grace-period=1h", "--service-watch-enabled"]);
    await writePlan(instance);
  });
  after(async () => await instance.end());

  test("connections of both transports spread over the workers, which give the same answers", async (t) => {
    const question = { metadata: {}, entity: plan, permission: "edit" };
    const askBoth = async (): Promise<void> => {
      const client = connectGrpc(instance.grpc, { isAlone: true });
      t.after(() => client.close());
      for (const [id, can, result] of [
        ["ada", CheckResult.ALLOWED, "RESULT_ALLOWED"],
        ["bob", CheckResult.DENIED, "RESULT_DENIED"],
      ] as const) {
        const asked = { ...question, subject: { type: "user", id } };
        const overGrpc = await client.call(Permission.method.check, { tenantId: "t1", ...asked });
        assert.equal(overGrpc.can, can);
        const overRest = await post(instance.url, "t1/permissions/check", asked);
        assert.match(overRest, new RegExp(`"can":"${result}"`));
      }
    };
    const routes = ["/v1/tenants/:tenant_id/permissions/check", "/base.v1.Permission/Check"];
    // A busy worker may be passed over: how many connections it takes until both have one is not fixed.
    while (!routes.every((route) => bothAnswered(instance.log(), route))) await askBoth();
  });

  test("a schema that one worker has written is the head of the other at once", async (t) => {
    const clients = [0, 1].map(() => connectGrpc(instance.grpc, { isAlone: true }));
    t.after(() => clients.forEach((client) => client.close()));
    for (const [nth, name] of names.entries()) {
      const [writer, reader] = nth % 2 === 0 ? clients : clients.toReversed();
      assert.ok(writer !== undefined && reader !== undefined);
      await writer.call(Schema.method.write, {
        tenantId: "t1",
        schema: `entity user {} entity document { relation owner @user permission ${name} = owner }`,
      });
      const question = {
        tenantId: "t1",
        metadata: {},
        entity: plan,
        permission: name,
        subject: ada,
      };
      const { can } = await reader.call(Permission.method.check, question);
      assert.equal(can, CheckResult.ALLOWED);
    }
  });

  test("a worker that is killed is replaced, and the requests of the other one go on", async (t) => {
    for (let isShown = false; !isShown;) {
      const sockets = [];
      for (let nth = 0; nth < 4; nth++) sockets.push(await halfRequest(t, instance.url));
      const [, killed] = await instance.workers();
      assert.ok(killed !== undefined);
      const atKill = instance.log().length;
      process.kill(killed, "SIGKILL");
      kills++;
      await instance.logs(/a worker has ended, another process takes its place/, atKill);
      // What the killed one has logged is there.
      const atEnd = instance.log().length;
      // From now on no request is refused, whether its place is taken already or not.
      for (let nth = 0; nth < 50; nth++) await post(instance.url, "list", {});
      const statuses = await Promise.all(sockets.map(statusOn));
      while (!bothAnswered(instance.log().slice(atEnd), "/v1/tenants/list")) {
        await post(instance.url, "list", {});
      }
      const workers = await instance.workers();
      assert.equal(workers.length, 2);
      assert.ok(!workers.includes(killed));
      // A worker may have had none of the requests: then the kill has shown nothing.
      isShown = statuses.includes(0) && statuses.includes(200);
    }
  });

  test("a connection that was handed to a worker that dies before it has it is closed", async (t) => {
    const [held] = await instance.workers();
    assert.ok(held !== undefined);
    const atKill = instance.log().length;
    // It takes one connection of the port, and never says that it has it.
    process.kill(held, "SIGSTOP");
    const answers: string[] = [];
    const othersAnswered = Promise.withResolvers<void>();
    const asking = Array.from({ length: 4 }, async () => {
      answers.push((await textOn(t, instance.url)).slice(0, 12));
      if (answers.length === 3) othersAnswered.resolve();
    });
    await othersAnswered.promise;
    process.kill(held, "SIGKILL");
    kills++;
    await Promise.all(asking);
    const answer = "HTTP/1.1 200";
    assert.deepEqual(answers, [answer, answer, answer, ""]);
    await instance.logs(/rest listens on/, atKill);
  });

  test("requests under way in all workers go on to their end after a signal, also one to all processes", async (t) => {
    const sockets = [await halfRequest(t, instance.url), await halfRequest(t, instance.url)];
    const client = connectGrpc(instance.grpc);
    t.after(() => client.close());
    await client.call(Tenancy.method.list, {});
    const watch = await openStream(`${instance.url}/v1/tenants/t1/watch`, {
      method: "POST",
      body: {},
    });
    for (const worker of await instance.workers()) process.kill(worker, "SIGINT");
    instance.process.kill("SIGINT");
    await instance.logs(/"msg":"stopping"/);
    // A stream of changes ends, and says where to go on.
    while ((await watch.next()) !== undefined);
    assert.deepEqual(await Promise.all(sockets.map(statusOn)), [200, 200]);
    const { status, stdout, stderr } = await instance.finished;
    assert.deepEqual([status, stderr], [0, ""]);
    assert.doesNotMatch(stdout, /cut off|did not end in time/);
    assert.deepEqual(await instance.workers(), []);
  });

  test("what concerns the instance is told once", () => {
    for (const line of [
      /"msg":"2 workers serve/g,
      /"msg":"ready"/g,
      /"msg":"stopping"/g,
      /"msg":"stopped"/g,
    ]) {
      assert.equal(instance.log().match(line)?.length, 1, String(line));
    }
    // Of the first worker, and of those that replaced another one.
    for (const line of [/grpc listens on/g, /rest listens on/g, /requests a second are taken/g]) {
      assert.equal(instance.log().match(line)?.length, 1 + kills, String(line));
    }
  });
});

describe("a start with two workers that fails", { skip }, () => {
  const on = (url: string): readonly string[] => [
    "--server-workers=2",
    "--database-engine=postgres",
    `--database-uri=${url}`,
  ];

  test("a port in use is told once, and the status is 1", async (t) => {
    const database = await createTestDatabase();
    t.after(database.drop);
    const other = createServer().listen(0, "127.0.0.1");
    t.after(() => other.close());
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : assert.fail();
    const serving = startServing([...on(database.url), `--http-port=${port}`]);
    t.after(() => serving.process.kill("SIGKILL"));
    const { status, stderr } = await serving.finished;
    assert.equal(status, 1);
    assert.equal(
      stderr,
      `pemba: server.http.port: cannot listen on 127.0.0.1:${port}: the port is in use\n`,
    );
  });

  test("a database that is never there is told once, and the status is 1", async (t) => {
    const words = [...on("postgres://someone@127.0.0.1:1/none"), "--database-start-timeout=300ms"];
    const serving = startServing(words);
    t.after(() => serving.process.kill("SIGKILL"));
    const { status, stderr } = await serving.finished;
    assert.equal(status, 1);
    assert.match(stderr, /^pemba: the database does not answer: [^\n]*\n$/);
  });

  test("a signal ends the wait for the database at once", async (t) => {
    const words = [...on("postgres://someone@127.0.0.1:1/none"), "--database-start-timeout=1h"];
    const serving = startServing(words);
    t.after(() => serving.process.kill("SIGKILL"));
    const { url } = await serving.listening;
    assert.equal((await fetch(`${url}/livez`)).status, 200);
    assert.equal((await fetch(`${url}/healthz`)).status, 503);
    serving.process.kill("SIGTERM");
    const { status, stderr } = await serving.finished;
    assert.deepEqual([status, stderr], [0, ""]);
  });
});

test("a worker outlives that the log file is moved while it starts", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-log-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "log");
  const { process: supervisor, finished } = startServing([
    "--server-workers=2",
    "--database-engine=postgres",
    "--database-uri=postgres://someone@127.0.0.1:1/none",
    "--database-start-timeout=1h",
    `--log-file=${file}`,
  ]);
  t.after(() => supervisor.kill("SIGKILL"));
  const hasLogged = (text: string): boolean =>
    existsSync(file) && readFileSync(file, "utf8").includes(text);
  await until(async () => (hasLogged("2 workers serve") ? true : undefined));
  await until(async () => {
    supervisor.kill("SIGHUP");
    return supervisor.exitCode !== null || hasLogged("rest listens") ? true : undefined;
  });
  supervisor.kill("SIGTERM");
  const { status, stderr } = await finished;
  assert.deepEqual([status, stderr], [0, ""]);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { constants } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { connectGrpc } from "../support/grpc.ts";
import { servePemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";
import { openStream } from "../support/text-stream.ts";

/** More than what lies between a server and a client that does not read. */
const documents = 20_000;
const idOf = (number: number): string => `${String(number).padStart(6, "0")}${"x".repeat(120)}`;

const subject = { type: "user", id: "ada" };
const question = { metadata: {}, entity_type: "document", permission: "owner", subject };

async function post(url: string, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/v1/tenants/t1/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.text());
}

async function writeDocuments(url: string): Promise<void> {
  await post(url, "schemas/write", {
    schema: "entity user {} entity document { relation owner @user }",
  });
  for (let start = 0; start < documents; start += 1_000) {
    const tuples = Array.from({ length: 1_000 }, (_, index) => ({
      entity: { type: "document", id: idOf(start + index) },
      relation: "owner",
      subject,
    }));
    await post(url, "data/write", { metadata: {}, tuples });
  }
}

/** A request whose body does not come. */
async function halfRequest(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {});
  socket.write("POST /v1/tenants/create HTTP/1.1\r\nhost: x\r\ncontent-length: 20\r\n\r\n{");
  // The server has the head of this request when it has answered a later one.
  await (await fetch(`${url}/healthz`)).text();
  return socket;
}

test("streams of a lookup that are read go on to their end after the signal", async (t) => {
  const { url, grpc, stop, finished } = await serveHere(t, ["--server-grace-period", "1h"]);
  await writeDocuments(url);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const overRest = await openStream(`${url}/v1/tenants/t1/permissions/lookup-entity-stream`, {
    method: "POST",
    body: question,
  });
  const overGrpc = client.stream(Permission.method.lookupEntityStream, {
    tenantId: "t1",
    metadata: {},
    entityType: "document",
    permission: "owner",
    subject,
  });
  await overRest.next();
  await overGrpc.next();
  stop();
  let [lines, messages] = [1, 1];
  while ((await overRest.next()) !== undefined) lines++;
  for await (const { entityId } of overGrpc) {
    assert.equal(entityId, idOf(messages));
    messages++;
  }
  assert.deepEqual([lines, messages], [documents, documents]);
  assert.doesNotMatch(await finished, /cut off/);
});

test("clients that never read are cut off at the end of the grace period", async (t) => {
  const { url, grpc, stop, finished } = await serveHere(t, ["--server-grace-period", "1s"]);
  await writeDocuments(url);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const overRest = await openStream(`${url}/v1/tenants/t1/permissions/lookup-entity-stream`, {
    method: "POST",
    body: question,
  });
  const overGrpc = client.stream(Permission.method.lookupEntityStream, {
    tenantId: "t1",
    metadata: {},
    entityType: "document",
    permission: "owner",
    subject,
  });
  await Promise.all([overRest.next(), overGrpc.next()]);
  stop();
  assert.match(await finished, /WARN: requests were cut off at the end of the grace period/);
  overRest.leave();
});

test("a connection of gRPC that is only kept open does not delay the end", async (t) => {
  const { grpc, stop, finished } = await serveHere(t, ["--server-grace-period=1h"]);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  await client.call(Tenancy.method.list, {});
  stop();
  assert.doesNotMatch(await finished, /cut off/);
});

test("a second signal ends the process at once", async (t) => {
  const words = ["--server-grace-period", "1h"];
  const { url, process: server, finished } = await servePemba(t, words);
  const socket = await halfRequest(url);
  t.after(() => socket.destroy());
  server.kill("SIGTERM");
  await hears(server.stdout, "stopping");
  server.kill("SIGTERM");
  assert.equal((await finished).status, 128 + constants.signals.SIGTERM);
});

test("without a grace period, a request in progress is cut off", async (t) => {
  const { url, stop, finished } = await serveHere(t, ["--server-grace-period", "0s"]);
  const socket = await halfRequest(url);
  const closed = once(socket, "close");
  stop();
  await closed;
  await finished;
});

test("signals that are no request to end neither open a debugger nor end the process", async (t) => {
  const { url, process: server, finished } = await servePemba(t);
  server.kill("SIGUSR1");
  server.kill("SIGUSR2");
  await (await fetch(`${url}/healthz`)).text();
  server.kill("SIGTERM");
  const { status, stderr } = await finished;
  assert.deepEqual([status, stderr], [0, ""]);
});

test("what starts the server has Node open no debugger, not even before the server listens to signals", () => {
  const root = join(import.meta.dirname, "../..");
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  assert.match(scripts["start"] ?? "", /\bnode --disable-sigusr1\b/);
  const image = readFileSync(join(root, "Dockerfile"), "utf8");
  assert.match(image, /^ENV .*\bNODE_OPTIONS=--disable-sigusr1\b/m);
});

async function hears(stream: NodeJS.ReadableStream | null, text: string): Promise<void> {
  assert.ok(stream !== null);
  for (;;) {
    const [chunk] = (await once(stream, "data")) as [Buffer];
    if (chunk.toString().includes(text)) return;
  }
}

/** How many connections an instance keeps, and which one makes room for another. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";

import { must } from "../../src/base/assert.ts";
import { PermissionCheckRequestSchema } from "../../src/gen/base/v1/permission_pb.ts";
import { until } from "../store/open-write.ts";
import { engines } from "../support/engines.ts";
import { askGrpc, check, idOf, schema, serve, type Served } from "./served.ts";
import { answerOn, callOn, endingOf, endOf, headOf, messageOf } from "./wire.ts";

// Connections are the same on all engines.
const memory = must(engines[0], "there is an engine");

/** A check on a connection of its own, as bytes. */
function requestOf(tenant: string): string {
  const body = JSON.stringify(check);
  return `${headOf(tenant, body.length, { path: "permissions/check" })}${body}`;
}

function openRaw(t: TestContext, port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  return socket;
}

async function isAnswered(served: Served, request: string): Promise<Socket> {
  const socket = await served.open();
  socket.write(request);
  assert.match(await answerOn(socket), /^HTTP\/1\.1 200 /);
  return socket;
}

test("a connection of REST above the limit is refused while all others are busy", async (t) => {
  const served = await serve(t, memory, { connections: 2 });
  const tenant = await served.app.tenant(schema);
  const held = served.holdChecks(idOf(tenant));
  const busy = [await served.open(), await served.open()];
  for (const socket of busy) socket.write(requestOf(tenant));
  await until(async () => (held.count === 2 ? true : undefined));
  assert.match(
    await answerOn(await served.open()),
    /^HTTP\/1\.1 429 .*2 connections are open \(`server\.connection_limit`\)/s,
  );
  busy[0]?.destroy();
  const answers: Promise<string>[] = [];
  await until(async () => {
    const socket = await served.open();
    socket.write(requestOf(tenant));
    const answer = answerOn(socket);
    answers.push(answer);
    const isRefused = answer.then(() => true);
    const isHeld = until(async () => (held.count === 3 ? true : undefined)).then(() => undefined);
    return (await Promise.race([isRefused, isHeld])) === true ? undefined : true;
  });
  held.letGo();
  assert.match(must(await answers.at(-1), "one was asked"), /^HTTP\/1\.1 200 /);
});

test("a connection of gRPC above the limit is refused while all others are busy", async (t) => {
  const served = await serve(t, memory, { connections: 2 });
  const tenant = await served.app.tenant(schema);
  const held = served.holdChecks(idOf(tenant));
  const message = messageOf(PermissionCheckRequestSchema, { tenantId: idOf(tenant), ...check });
  for (let nth = 1; nth <= 2; nth++) {
    const session = await served.openSession();
    callOn(session, { path: "/base.v1.Permission/Check" }).resume().end(message);
    await until(async () => (held.count === nth ? true : undefined));
  }
  const raw = openRaw(t, served.grpc.port);
  assert.match(await answerOn(raw), /2 connections are open \(`server\.connection_limit`\)/);
});

test("the connection of REST that is idle for longest makes room, even if nothing was asked on it", async (t) => {
  const served = await serve(t, memory, { connections: 2 });
  const request = requestOf(await served.app.tenant(schema));
  const unused = (await served.open()).resume();
  const used = await isAnswered(served, request);
  for (const idle of [unused, used]) {
    const closed = endingOf(idle);
    await isAnswered(served, request);
    await closed;
  }
});

test("the connection of gRPC that is idle for longest makes room, even if nothing was asked on it", async (t) => {
  const served = await serve(t, memory, { connections: 2 });
  const tenant = await served.app.tenant(schema);
  const first = await served.openSession();
  const silent = openRaw(t, served.grpc.port);
  await once(silent, "data");
  const closed = [endingOf(first), endingOf(silent)];
  await served.openSession();
  await askGrpc(served, tenant);
  await Promise.all(closed);
});

test("a connection of gRPC is told how many calls may be open on it", async (t) => {
  const served = await serve(t, memory, { callsOfConnection: 7 });
  const session = await served.openSession();
  assert.equal(session.remoteSettings.maxConcurrentStreams, 7);
});

test("calls that a client opens before it knows how many may be open are refused as not begun", async (t) => {
  const served = await serve(t, memory, { callsOfConnection: 2 });
  const tenant = await served.app.tenant(schema);
  const held = served.holdChecks(idOf(tenant));
  const session = connectHttp2(`http://127.0.0.1:${served.grpc.port}`);
  t.after(() => session.destroy());
  const message = messageOf(PermissionCheckRequestSchema, { tenantId: idOf(tenant), ...check });
  const calls = Array.from({ length: 5 }, () => {
    const call = callOn(session, { path: "/base.v1.Permission/Check" });
    call.end(message);
    return call;
  });
  await Promise.all(calls.slice(2).map(endingOf));
  await until(async () => (held.count === 2 ? true : undefined));
  const refused = constants.NGHTTP2_REFUSED_STREAM;
  assert.deepEqual(
    calls.slice(2).map(({ rstCode }) => rstCode),
    [refused, refused, refused],
  );
  held.letGo();
  const ends = await Promise.all(calls.slice(0, 2).map(endOf));
  assert.deepEqual(
    ends.map((end) => end.status),
    [0, 0],
  );
});

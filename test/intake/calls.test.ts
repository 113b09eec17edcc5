/** What calls of gRPC may hold before anything is known of them but their heads. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { status } from "@grpc/grpc-js";

import { must } from "../../src/base/assert.ts";
import { loopRound } from "../../src/base/loop-round.ts";
import { PermissionCheckRequestSchema } from "../../src/gen/base/v1/permission_pb.ts";
import { HealthCheckRequestSchema } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { limitCalls } from "../../src/grpc/limit-calls.ts";
import { UncountedCalls } from "../../src/grpc/uncounted-calls.ts";
import { Connections } from "../../src/intake/connections.ts";
import type { MakeShares } from "../../src/intake/intake.ts";
import { OwnShares } from "../../src/intake/shares.ts";
import { until } from "../store/open-write.ts";
import { engines } from "../support/engines.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { askGrpc, check, idOf, schema, serve } from "./served.ts";
import { callOn, endingOf, endOf, messageOf } from "./wire.ts";

// Calls are the same on all engines.
const memory = must(engines[0], "there is an engine");

const healthPath = "/grpc.health.v1.Health/Check";

test("of the calls that come at once, a few begin in a round of the event loop", async (t) => {
  const rounds: number[] = [];
  const server = createServer();
  server.on("stream", (stream: ServerHttp2Stream) => {
    rounds.push(loopRound());
    stream.respond({ ":status": 200 }, { endStream: true });
  });
  limitCalls(server, {
    connections: new Connections(10),
    intake: usualIntake(),
    uncounted: new UncountedCalls(1_000),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sessions = Array.from({ length: 2 }, () => connect(`http://127.0.0.1:${port}`));
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  const streams = sessions.flatMap((session) =>
    Array.from({ length: 200 }, () => session.request({ ":method": "POST" }, { endStream: true })),
  );
  await Promise.all(streams.map((stream) => once(stream, "response")));
  const inRound = Map.groupBy(rounds, (round) => round);
  assert.equal(rounds.length, 400);
  for (const begun of inRound.values()) assert.ok(begun.length <= 128, `${begun.length} begin`);
});

test("a call that its client resets together with its head does not end the process", async (t) => {
  const server = createServer();
  limitCalls(server, {
    connections: new Connections(10),
    intake: usualIntake(),
    uncounted: new UncountedCalls(1_000),
  });
  const reset = Promise.withResolvers<void>();
  // As when the reset is read before the call is given to its listeners, which happens over TLS.
  server.prependListener("stream", (stream: ServerHttp2Stream) => {
    stream.once("close", () => reset.resolve());
    stream.destroy(new Error("reset"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t.after(() => {
    session.destroy();
    server.close();
  });
  session.request({ ":method": "POST" }).on("error", () => undefined);
  await reset.promise;
});

test("a call whose headers are too large is refused, and others of its connection are not", async (t) => {
  const served = await serve(t, memory, {});
  const tenant = await served.app.tenant(schema);
  const session = await served.openSession();
  const path = "/base.v1.Permission/Check";
  const ask = async (bytes: number) => {
    const call = callOn(session, { path, headers: { "x-filler": "x".repeat(bytes) } });
    call.end(messageOf(PermissionCheckRequestSchema, { tenantId: idOf(tenant), ...check }));
    return await endOf(call);
  };
  assert.deepEqual(await ask(20_000), {
    status: status.INVALID_ARGUMENT,
    message: "ERROR_CODE_VALIDATION: metadata: is too large, expected at most 16 KiB",
  });
  assert.equal((await ask(15_000)).status, status.OK);
});

test("of the calls that send nothing, those that were opened first are closed when they are too many", async (t) => {
  // Twice as many calls may use no share.
  const served = await serve(t, memory, { connections: 2 });
  const tenant = await served.app.tenant(schema);
  const session = await served.openSession();
  const calls = Array.from({ length: 7 }, () => callOn(session, { path: healthPath }));
  const closed = calls.slice(0, 3);
  await Promise.all(closed.map((call) => endingOf(call)));
  for (const call of closed) assert.equal(call.rstCode, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const others = calls.slice(3);
  // A call whose message comes with its head takes no place of theirs.
  await askGrpc(served, tenant);
  assert.ok(others.every((call) => !call.closed));
  for (const call of others) call.close();
});

test("a client that opens many calls has its own closed, and not an older one of another client", async (t) => {
  const served = await serve(t, memory, { connections: 3 });
  const honest = callOn(await served.openSession(), { path: "/grpc.health.v1.Health/Watch" });
  honest.end(messageOf(HealthCheckRequestSchema, {}));
  await once(honest, "data");
  const session = await served.openSession();
  const calls = Array.from({ length: 20 }, () => callOn(session, { path: healthPath }));
  await Promise.all(calls.slice(0, 15).map((call) => endingOf(call)));
  assert.equal(honest.closed, false);
  for (const call of [honest, ...calls]) call.close();
});

test("calls whose message has come are not closed for those that send nothing", async (t) => {
  const served = await serve(t, memory, { connections: 2 });
  const tenant = await served.app.tenant(schema);
  const held = served.holdChecks(idOf(tenant));
  const asked = askGrpc(served, tenant);
  const session = await served.openSession();
  const calls = Array.from({ length: 10 }, () => callOn(session, { path: healthPath }));
  await Promise.all(calls.slice(0, 6).map((call) => endingOf(call)));
  held.letGo();
  await asked;
  for (const call of calls) call.close();
});

/** Shares that are asked for elsewhere, as in an instance of several processes. */
const askedShares: MakeShares = (_name, ofTenant, resource) => {
  const shares = new OwnShares(ofTenant, resource);
  return {
    take: async (tenant, amount) => shares.take(tenant, amount),
    giveBack: (tenant, amount) => shares.giveBack(tenant, amount),
  };
};

test("calls that are refused when their share was asked for are among those that use none", async (t) => {
  const limits = { connections: 2, requestsOfTenant: 1, makeShares: askedShares };
  const served = await serve(t, memory, limits);
  const tenant = await served.app.tenant(schema);
  const held = served.holdChecks(idOf(tenant));
  const asked = askGrpc(served, tenant);
  await until(async () => (held.count === 1 ? true : undefined));
  const session = await served.openSession();
  const calls = Array.from({ length: 10 }, () => {
    const call = callOn(session, { path: "/base.v1.Permission/Check" });
    call.write(messageOf(PermissionCheckRequestSchema, { tenantId: idOf(tenant), ...check }));
    return call;
  });
  // The first ones, though their clients have not ended them.
  await Promise.all(calls.slice(0, 6).map((call) => endingOf(call)));
  held.letGo();
  await asked;
  for (const call of calls) call.close();
});

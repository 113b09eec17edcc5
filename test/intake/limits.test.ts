import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";

import { status } from "@grpc/grpc-js";

import { Data, DataWriteRequestSchema } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { until } from "../store/open-write.ts";
import { type Engine, engines } from "../support/engines.ts";
import { failure } from "../support/grpc.ts";
import { askGrpc, askRest, check, idOf, schema, serve, type Served } from "./served.ts";
import { answerOn, callOn, endOf, expectContinue, headOf, messageHead, messageOf } from "./wire.ts";

for (const engine of engines) {
  describe(`the limits of what is taken in on ${engine.name}`, () => suite(engine));
}

function suite(engine: Engine): void {
  test("a tenant that has too many requests under way is refused, and its neighbour is not", async (t) => {
    const served = await serve(t, engine, { requestsOfTenant: 2 });
    const [tenant, other] = [await served.app.tenant(schema), await served.app.tenant(schema)];
    const held = served.holdChecks(idOf(tenant));
    const leaving = new AbortController();
    const first = askRest(served, tenant, { signal: leaving.signal });
    const second = askGrpc(served, tenant);
    await until(async () => (held.count === 2 ? true : undefined));

    const refused = await askRest(served, tenant);
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.match(
      await refused.text(),
      /CONCURRENCY_LIMIT_EXCEEDED: the tenant has too many requests under way, expected at most 2 \(`server\.tenant\.request_limit`\)/,
    );
    const { code, details } = await failure(askGrpc(served, tenant));
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.match(details, /`server\.tenant\.request_limit`/);
    assert.equal((await askRest(served, other)).status, 200);
    await askGrpc(served, other);

    leaving.abort();
    await assert.rejects(first);
    // The request of the client that left no longer counts.
    const third = until(async () =>
      (await askRest(served, tenant)).status === 200 ? true : undefined,
    );
    await until(async () => (held.count === 3 ? true : undefined));
    held.letGo();
    await Promise.all([second, third]);
  });

  test("a body that is too much for its tenant is refused before it has come", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 1_000_000 });
    const [tenant, other] = [await served.app.tenant(schema), await served.app.tenant(schema)];
    const slow = await served.open();
    // Its head alone takes the place of its body, and has been looked at when the body may come.
    slow.write(headOf(tenant, 900_000, { headers: expectContinue }));
    await once(slow, "data");
    const socket = await served.open();
    socket.write(headOf(tenant, 200_000));
    const refused = await answerOn(socket);
    assert.match(refused, /^HTTP\/1\.1 429 /);
    assert.match(refused, /\r\nretry-after: 1\r\n/i);
    assert.match(
      refused,
      /too many bytes of bodies in memory, expected at most 1000000 \(`server\.tenant\.body_limit`\)/,
    );

    const body = JSON.stringify({ ...check, filler: "x".repeat(200_000) });
    const ask = async (of: string) =>
      await fetch(`${served.url}${of}/permissions/check`, { method: "POST", body });
    assert.equal((await ask(other)).status, 200);
    slow.destroy();
    await until(async () => ((await ask(tenant)).status === 200 ? true : undefined));
  });

  test("a body whose length is not announced counts as it comes", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 200_000 });
    const tenant = await served.app.tenant(schema);
    const socket = await served.open();
    const answer = answerOn(socket);
    socket.write(
      `POST ${tenant}/data/write HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    const chunk = `${(50_000).toString(16)}\r\n${"x".repeat(50_000)}\r\n`;
    for (let sent = 0; sent < 8; sent++) socket.write(chunk);
    assert.match(await answer, /^HTTP\/1\.1 429 .*server\.tenant\.body_limit/s);
  });

  test("a body whose client leaves before it has come no longer counts", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 200_000, requestsOfTenant: 1 });
    const tenant = await served.app.tenant(schema);
    const socket = await served.open();
    socket.write(
      `POST ${tenant}/data/write HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    socket.write(`${(150_000).toString(16)}\r\n${"x".repeat(150_000)}\r\n`);
    await until(async () => ((await askRest(served, tenant)).status === 429 ? true : undefined));
    socket.destroy();
    const body = JSON.stringify({ ...check, filler: "x".repeat(150_000) });
    await until(async () => {
      const url = `${served.url}${tenant}/permissions/check`;
      return (await fetch(url, { method: "POST", body })).status === 200 ? true : undefined;
    });
  });

  test("a message that is too much for its tenant is refused when its first bytes have come", async (t) => {
    const served = await serve(t, engine, { bytesOfTenant: 1_000_000 });
    const [tenant, other] = [await served.app.tenant(schema), await served.app.tenant(schema)];
    const session = await served.openSession();
    const begin = (of: string, length: number) => {
      const stream = callOn(session);
      stream.write(messageHead(idOf(of), length));
      return stream;
    };
    const slow = begin(tenant, 900_000);
    // Until the server has read the beginning of the first, the others are taken in and malformed.
    const refused = await until(async () => {
      const stream = begin(tenant, 200_000);
      stream.end(Buffer.alloc(200_000));
      const end = await endOf(stream);
      stream.destroy();
      return end.status === status.RESOURCE_EXHAUSTED ? end : undefined;
    });
    assert.match(refused.message, /server\.tenant\.body_limit/);
    const tuples = Array.from({ length: 900 }, (_, nth) => ({
      entity: check.entity,
      relation: "viewer",
      subject: { type: "user", id: nth === 0 ? "ada" : `${nth}`.padEnd(128, "x") },
    }));
    const write = callOn(session);
    write.end(messageOf(DataWriteRequestSchema, { tenantId: idOf(tenant), metadata: {}, tuples }));
    assert.equal((await endOf(write)).status, status.RESOURCE_EXHAUSTED);

    const large = "x".repeat(200_000);
    const ask = async (of: string) =>
      await served.grpc.client.call(Permission.method.check, {
        tenantId: idOf(of),
        ...check,
        context: { data: { large } },
      });
    await ask(other);
    // Though the whole message of the write has come, it was not made.
    assert.match(await (await askRest(served, tenant)).text(), /RESULT_DENIED/);
    slow.close();
    await until(
      async () =>
        await ask(tenant).then(
          () => true,
          () => undefined,
        ),
    );
  });

  test("a body of too many keys and values is refused", async (t) => {
    const served = await serve(t, engine, { values: 20_000 });
    const tenant = await served.app.tenant(schema);
    const contextOf = (keys: number) => ({
      data: Object.fromEntries(Array.from({ length: keys }, (_, nth) => [`key_${nth}`, nth])),
    });
    const ask = async (keys: number) =>
      await fetch(`${served.url}${tenant}/permissions/check`, {
        method: "POST",
        body: JSON.stringify({ ...check, context: contextOf(keys) }),
      });
    const askCall = async (keys: number) =>
      await served.grpc.client.call(Permission.method.check, {
        tenantId: idOf(tenant),
        ...check,
        context: contextOf(keys),
      });
    assert.equal((await ask(4_900)).status, 200);
    await askCall(4_900);
    const refused = await ask(20_000);
    assert.equal(refused.status, 413);
    assert.match(
      await refused.text(),
      /PAYLOAD_TOO_LARGE: body: holds too many keys and values, expected at most 20000 \(`server\.value_limit`\)/,
    );
    const { code, details } = await failure(askCall(20_000));
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.match(details, /`server\.value_limit`/);
  });

  test("a tenant has a limit of streams of changes, and one that has ended no longer counts", async (t) => {
    const served = await serve(t, engine, { streamsOfTenant: 2 });
    const [tenant, other] = [await served.app.tenant(schema), await served.app.tenant(schema)];
    const watch = async (of: string, signal?: AbortSignal) =>
      await fetch(`${served.url}${of}/watch`, { method: "POST", ...(signal && { signal }) });
    const snapToken = await writeOne(served, tenant, "1");
    await writeOne(served, tenant, "2");
    const watchCall = (signal: AbortSignal) =>
      served.grpc.client.stream(
        Watch.method.watch,
        { tenantId: idOf(tenant), snapToken },
        { signal },
      );
    const [leaving, leavingCall] = [new AbortController(), new AbortController()];
    assert.equal((await watch(tenant, leaving.signal)).status, 200);
    const call = watchCall(leavingCall.signal);
    await call.next();

    const refused = await watch(tenant);
    assert.equal(refused.status, 429);
    assert.match(
      await refused.text(),
      /too many streams of changes, expected at most 2 \(`server\.tenant\.stream_limit`\)/,
    );
    const { code, details } = await failure(watchCall(leavingCall.signal).next());
    assert.equal(code, status.RESOURCE_EXHAUSTED);
    assert.match(details, /`server\.tenant\.stream_limit`/);
    assert.equal((await watch(other)).status, 200);

    leaving.abort();
    leavingCall.abort();
    for (let nth = 0; nth < 2; nth++) {
      await until(async () => ((await watch(tenant)).status === 200 ? true : undefined));
    }
  });

  test("a write of many tuples in a large body is read as any other", async (t) => {
    const served = await serve(t, engine, {});
    const tenant = await served.app.tenant(schema);
    const tuples = Array.from({ length: 900 }, (_, nth) => ({
      entity: { type: "doc", id: `${nth}` },
      relation: "viewer",
      subject: { type: "user", id: "ada" },
    }));
    assert.equal(
      (await served.app.post(`${tenant}/data/write`, { metadata: {}, tuples })).status,
      200,
    );
    await served.grpc.client.call(Data.method.write, {
      tenantId: idOf(tenant),
      metadata: {},
      tuples: tuples.map((tuple) => ({
        ...tuple,
        subject: { type: "user", id: "bob".repeat(40) },
      })),
    });
    assert.equal((await askRest(served, tenant)).status, 200);
  });
}

/** Returns the snap token of the write. */
async function writeOne({ app }: Served, tenant: string, id: string): Promise<string> {
  const tuples = [{ ...check, entity: { type: "doc", id }, relation: "viewer" }];
  return (await app.post(`${tenant}/data/write`, { metadata: {}, tuples })).text("snap_token");
}

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { constants } from "node:os";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { expectContinue, headOf } from "../intake/wire.ts";
import { connectGrpc, type GrpcClient } from "../support/grpc.ts";
import { hasTwoProcessors, startByTwo, type WorkingInstance } from "./instance.ts";

const skip = hasTwoProcessors ? false : "there is one processor";
const tenant = "/v1/tenants/t1";

/** A request whose body has not come. */
interface BegunRequest {
  readonly socket: Socket;
  /** Of the answer; pending as long as the request is under way. */
  readonly status: Promise<number>;
  /** Sends the body. */
  readonly finish: () => void;
}

/** Begins a request over a connection of its own. Connections go to the workers in turn. */
async function begin(
  { url }: WorkingInstance,
  { of = tenant, bytes = 100 }: { readonly of?: string; readonly bytes?: number } = {},
): Promise<BegunRequest> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(headOf(of, bytes, { path: "schemas/list" }));
  return {
    socket,
    status: statusOn(socket),
    finish: () => void socket.write("{}".padEnd(bytes)),
  };
}

/** A request of which a worker has the head: it has asked for the body, which does not come. */
async function underWay({ url }: WorkingInstance, of: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(headOf(of, 2, { path: "schemas/list", headers: expectContinue }));
  await once(socket, "data");
  return socket;
}

/** 0 when the connection ends, or has ended, without an answer. */
async function statusOn(socket: Socket): Promise<number> {
  if (socket.closed) return 0;
  const { promise, resolve } = Promise.withResolvers<number>();
  socket.once("data", (chunk) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1])));
  socket.once("close", () => resolve(0));
  return await promise;
}

/** Waits until so many requests are refused. The others are under way. */
async function refusedOf(
  requests: readonly BegunRequest[],
  count: number,
): Promise<readonly BegunRequest[]> {
  const refused = new Set<BegunRequest>();
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const request of requests) {
    void request.status.then((status) => {
      if (status === 429) refused.add(request);
      if (refused.size === count || status !== 429) resolve();
    });
  }
  await promise;
  assert.equal(refused.size, count);
  return [...refused];
}

/**
 * Sends the bodies of those that are not refused, and ends all connections. Whether each of them was taken.
 */
async function finished(
  requests: readonly BegunRequest[],
  refused: readonly BegunRequest[],
): Promise<boolean> {
  const taken = requests.filter((each) => !refused.includes(each));
  for (const { finish } of taken) finish();
  const statuses = await Promise.all(taken.map(async ({ status }) => await status));
  assert.ok(
    statuses.every((status) => [200, 429].includes(status)),
    statuses.join(),
  );
  for (const { socket } of requests) socket.destroy();
  return statuses.every((status) => status === 200);
}

/**
 * Tries until all that may be taken is. A worker that is late to give back what it does not hold keeps it for a
 * while, so that fewer are taken, and never more.
 */
async function untilAllTaken(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt())) await wait(20);
}

/**
 * Begins requests until three are under way and the fourth is refused. What was cut off may hold its share for
 * a while, and a worker that was refused something does not ask again for ten milliseconds. A connection to a worker
 * that is ended has no answer.
 */
async function holdAll(instance: WorkingInstance): Promise<readonly BegunRequest[]> {
  for (;;) {
    const all: BegunRequest[] = [];
    for (let nth = 0; nth < 4; nth++) all.push(await begin(instance));
    const answered = all.map(async ({ status }, nth) => ({ nth, status: await status }));
    const first = await Promise.race(answered);
    if (first.status === 429 && first.nth === 3) return all;
    assert.ok([429, 0].includes(first.status), String(first.status));
    for (const { socket } of all) socket.destroy();
    await wait(20);
  }
}

async function isAccepted(client: GrpcClient): Promise<boolean> {
  return await client.call(Tenancy.method.list, {}).then(
    () => true,
    (error: unknown) => {
      assert.match(String(error), /ERROR_CODE_RATE_LIMIT_EXCEEDED/);
      return false;
    },
  );
}

describe("shares of tenants in an instance with two workers", { skip }, () => {
  let instance: WorkingInstance;
  before(async () => {
    instance = await startByTwo([
      "--server-tenant-request-limit=3",
      "--server-tenant-body-limit=1000000",
      "--server-tenant-stream-limit=2",
      "--server-grace-period=1h",
      "--service-watch-enabled",
    ]);
  });
  after(async () => await instance.end());

  test("requests of a tenant are as many as the instance takes, over connections to both workers", async () => {
    const attempt = async (): Promise<boolean> => {
      const all = [];
      for (let nth = 0; nth < 6; nth++) all.push(await begin(instance));
      const refused = await refusedOf(all, 3);
      const neighbour = await begin(instance, { of: "/v1/tenants/t2" });
      neighbour.finish();
      // There is no such tenant, but it has a share of its own.
      assert.equal(await neighbour.status, 404);
      neighbour.socket.destroy();
      return await finished(all, refused);
    };
    // What the first ones held is free again.
    for (let round = 0; round < 2; round++) await untilAllTaken(attempt);
  });

  test("large bodies of a tenant hold as many bytes in both workers as the instance lets them", async () => {
    await untilAllTaken(async () => {
      const all = [];
      for (let nth = 0; nth < 3; nth++) all.push(await begin(instance, { bytes: 400_000 }));
      return await finished(all, await refusedOf(all, 1));
    });
  });

  test("streams of a tenant are as many as the instance lets it have", async (t) => {
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    const follow = async (): Promise<number> => {
      const answer = await fetch(`${instance.url}${tenant}/watch`, {
        method: "POST",
        headers: { connection: "close" },
        body: "{}",
        signal: leaving.signal,
      });
      return answer.status;
    };
    const statuses = [await follow(), await follow(), await follow(), await follow()];
    assert.deepEqual(statuses, [200, 200, 429, 429]);
  });

  test("what a killed worker held is free again", async () => {
    // Connections are not always taken in turn: the killed worker may have had none of them.
    for (let cut = 0; cut === 0;) {
      const held = await holdAll(instance);
      const [first] = await instance.workers();
      assert.ok(first !== undefined);
      const before = instance.log().length;
      process.kill(first, "SIGKILL");
      await instance.logs(/a worker has ended/, before);
      for (const { finish } of held) finish();
      const statuses = await Promise.all(held.map(async ({ status }) => await status));
      cut = statuses.filter((status) => status === 0).length;
      for (const { socket } of held) socket.destroy();
      // Without it the next one to be killed may be the last that listens.
      await instance.logs(/rest listens/, before);
    }
    await untilAllTaken(async () => {
      const held = await holdAll(instance);
      return await finished(held, held.slice(-1));
    });
  });

  test("a second signal ends all processes at once, with requests under way", async () => {
    // Each is of a tenant of its own, so that none of them is refused.
    const held = [];
    for (const id of ["t2", "t3", "t4"]) held.push(await underWay(instance, `/v1/tenants/${id}`));
    instance.process.kill("SIGTERM");
    await instance.logs(/"msg":"stopping"/);
    instance.process.kill("SIGTERM");
    assert.equal((await instance.finished).status, 128 + constants.signals.SIGTERM);
    const statuses = await Promise.all(held.map(async (socket) => await statusOn(socket)));
    assert.deepEqual(statuses, [0, 0, 0]);
  });
});

describe("the rate of an instance with two workers", { skip }, () => {
  test("one connection gets all of it, and all connections together no more", async (t) => {
    const perSecond = 40;
    const instance = await startByTwo([`--server-rate-limit=${perSecond}`]);
    t.after(instance.end);
    const clients = [0, 1].map(() => connectGrpc(instance.grpc, { isAlone: true }));
    t.after(() => clients.forEach((client) => client.close()));
    const began = performance.now();
    const accepted: number[] = [];
    for (const client of clients) {
      const asked = Array.from({ length: 2 * perSecond }, async () => await isAccepted(client));
      accepted.push((await Promise.all(asked)).filter(Boolean).length);
    }
    const seconds = (performance.now() - began) / 1_000;
    const [ofOne = 0, ofOther = 0] = accepted;
    assert.ok(ofOne >= perSecond, `${ofOne} of one connection`);
    // As many come back meanwhile, and each worker may have one ahead.
    assert.ok(
      ofOne + ofOther <= perSecond * (1 + seconds) + 2,
      `${ofOne} and ${ofOther} in ${seconds} s`,
    );
  });
});

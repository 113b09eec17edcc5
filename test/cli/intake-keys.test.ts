import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";

import { answerOn, expectContinue, headOf, openSession } from "../intake/wire.ts";
import { serveHere } from "../support/serve-here.ts";

/* What the keys of what is taken in do to a whole server. What each limit means is in test/intake. */

const tenant = "/v1/tenants/t1";

async function open(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** A request that is under way, since its body does not come. */
async function begin(t: TestContext, url: string, path: string): Promise<void> {
  const socket = await open(t, url);
  socket.write(headOf(path, 100, { headers: expectContinue }));
  await once(socket, "data");
}

test("requests of a tenant and connections are as many as the configuration says", async (t) => {
  const { url } = await serveHere(t, [
    "--server-tenant-request-limit=1",
    "--server-connection-limit=2",
  ]);
  await begin(t, url, tenant);
  const second = await open(t, url);
  second.write(headOf(tenant, 100));
  assert.match(
    await answerOn(second),
    /^HTTP\/1\.1 429 .*expected at most 1 \(`server\.tenant\.request_limit`\)/s,
  );
  second.destroy();
  await begin(t, url, "/v1/tenants/t2");
  assert.match(
    await answerOn(await open(t, url)),
    /^HTTP\/1\.1 429 .*2 connections are open \(`server\.connection_limit`\)/s,
  );
});

test("bodies, their values, streams and calls are as many as the configuration says", async (t) => {
  const { url, grpc } = await serveHere(t, [
    "--server-tenant-body-limit=100KiB",
    "--server-value-limit=1000",
    "--database-max-data-per-write=60",
    "--server-tenant-stream-limit=1",
    "--grpc-stream-limit=7",
    "--service-watch-enabled",
  ]);
  const post = async (path: string, body: string): Promise<Response> =>
    await fetch(`${url}${tenant}/${path}`, { method: "POST", body });
  const blank = " ".repeat(70 * 1_024);
  const many = (count: number): string => `{"a":[${"1,".repeat(count)}1]}${blank}`;
  const refusalOf = async (answer: Response): Promise<string> =>
    `${answer.status} ${await answer.text()}`;
  assert.match(
    await refusalOf(await post("data/write", " ".repeat(101 * 1_024))),
    /^429 .*expected at most 102400 \(`server\.tenant\.body_limit`\)/,
  );
  // As many as a write may hold of tuples are taken in, though the key says less.
  assert.equal((await post("schemas/list", many(1_100))).status, 200);
  assert.match(
    await refusalOf(await post("schemas/list", many(1_300))),
    /^413 .*expected at most 1200 \(`server\.value_limit`\)/,
  );
  assert.equal((await post("watch", "{}")).status, 200);
  assert.match(
    await refusalOf(await post("watch", "{}")),
    /^429 .*expected at most 1 \(`server\.tenant\.stream_limit`\)/,
  );
  const session = await openSession(Number(grpc.split(":").at(-1)));
  t.after(() => session.destroy());
  assert.equal(session.remoteSettings.maxConcurrentStreams, 7);
});

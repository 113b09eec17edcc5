import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createMigratedDatabase } from "../support/database.ts";
import { servePemba } from "../support/pemba.ts";

/** A proxy to the database that can be cut and restored. */
interface Line {
  readonly port: number;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

async function lineTo(t: TestContext, host: string, port: number): Promise<Line> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((near) => {
    const far = connect(port, host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => other.destroy());
      socket.pipe(other);
    }
  });
  const listen = async (at: number): Promise<number> => {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    return address.port;
  };
  const cut = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await closed;
  };
  const chosen = await listen(0);
  t.after(cut);
  return { port: chosen, cut, mend: async () => void (await listen(chosen)) };
}

async function answerOf(url: string, body?: object): Promise<{ status: number; text: string }> {
  const response = await fetch(url, body && { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

test("while the database is gone requests get 503, and once it is back they are answered", async (t) => {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const direct = new URL(database.url);
  const line = await lineTo(t, direct.hostname, Number(direct.port));
  const uri = new URL(database.url);
  uri.hostname = "127.0.0.1";
  uri.port = String(line.port);
  const {
    url,
    process: server,
    finished,
  } = await servePemba(t, ["--database-connect-timeout", "2s"], {
    env: { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: uri.href },
  });
  const list = `${url}/v1/tenants/list`;
  assert.equal((await answerOf(list, {})).status, 200);

  await line.cut();
  const { status, text } = await answerOf(list, {});
  assert.equal(status, 503, text);
  assert.match(text, /^{"code":14,"message":"ERROR_CODE_UNAVAILABLE: /);
  assert.doesNotMatch(text, /127\.0\.0\.1|ECONN/);
  const health = await answerOf(`${url}/healthz`);
  assert.deepEqual([health.status, health.text], [503, '{"status":"NOT_SERVING"}']);

  await line.mend();
  while ((await answerOf(`${url}/healthz`)).status !== 200) await wait(20);
  assert.equal((await answerOf(list, {})).status, 200);

  server.kill("SIGTERM");
  const { stdout } = await finished;
  assert.match(stdout, /WARN.*: request failed: the database does not answer/);
  assert.doesNotMatch(stdout, /ERROR|^ +at /m);
});

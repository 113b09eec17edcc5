/** What a client gets to read that is still sending when its request is refused. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test, type TestContext } from "node:test";

import { engines, type TestApp } from "../support/engines.ts";

const [memory] = engines;
const mib = 1024 * 1024;
const path = "/v1/tenants/t1/schemas/list";

describe("a body that is too large", () => {
  let app: TestApp;
  let port: number;
  const connections = new Set<Socket>();
  before(async () => {
    app = (await memory?.start()) ?? assert.fail();
    app.app.server.on("connection", (socket: Socket) => connections.add(socket));
    port = Number(new URL(await app.app.listen({ port: 0, host: "127.0.0.1" })).port);
  });
  after(async () => {
    app.app.server.closeAllConnections();
    await app.close();
  });

  async function open(t: TestContext, header: string): Promise<Socket> {
    const socket = connect(port, "127.0.0.1");
    t.after(() => socket.destroy());
    await once(socket, "connect");
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\n\r\n`);
    return socket;
  }

  for (const [name, header, piece, end] of [
    ["whose length is said", `content-length: ${32 * mib}`, Buffer.alloc(mib, " "), ""],
    [
      "that comes in chunks",
      "transfer-encoding: chunked",
      Buffer.from(`${mib.toString(16)}\r\n${" ".repeat(mib)}\r\n`),
      "0\r\n\r\n",
    ],
  ] as const) {
    test(`${name} is refused after all of it has been sent`, { timeout: 20_000 }, async (t) => {
      const socket = await open(t, header);
      // Nothing is read before the last byte is out, as simple clients do it.
      for (let sent = 0; sent < 32; sent++) {
        if (!socket.write(piece)) await once(socket, "drain");
      }
      socket.write(end);
      const answer = await text(socket);
      assert.match(answer, /^HTTP\/1\.1 413 /);
      assert.match(answer, /\r\nconnection: close\r\n/i);
      const [head = "", body = ""] = answer.split("\r\n\r\n");
      assert.match(body, /^\{"code":8,"message":"ERROR_CODE_PAYLOAD_TOO_LARGE: /);
      assert.match(head, new RegExp(`\r\ncontent-length: ${body.length}\r\n`, "i"));
    });

    test(`${name} may end with its client, and the server serves on`, async (t) => {
      const socket = await open(t, header);
      socket.on("error", () => undefined);
      const answered = once(socket, "data");
      for (let sent = 0; sent < 5; sent++) socket.write(piece);
      const [answer] = (await answered) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
      const connection = connectionOf(socket);
      const left = new Promise((resolve) => connection.once("close", resolve));
      socket.resetAndDestroy();
      await left;
      assert.equal((await app.send("POST", path, "{}")).status, 200);
    });
  }

  /** The side of the server. */
  function connectionOf(socket: Socket): Socket {
    return (
      [...connections].find(({ remotePort }) => remotePort === socket.localPort) ?? assert.fail()
    );
  }

  test("is answered before it ends, and a client that does not go on is not waited for", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const socket = await open(t, `content-length: ${5 * mib}`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 413 .*"details":\[\]\}$/s);
    let hasEnded = false;
    const ended = once(socket, "end").then(() => (hasEnded = true));
    t.mock.timers.tick(4_999);
    // An earlier end would have been reported before this is answered.
    const other = await open(t, "content-length: 0\r\nconnection: close");
    assert.match(await text(other), /^HTTP\/1\.1 200 /);
    assert.equal(hasEnded, false);
    t.mock.timers.tick(1);
    await ended;
  });

  test("that is sent to no path, or by no method of it, is refused without being read", async () => {
    const body = " ".repeat(5 * mib);
    assert.equal((await app.send("POST", "/nowhere", body)).status, 404);
    assert.equal((await app.send("PUT", path, body)).status, 405);
  });
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";

import { pino } from "pino";

import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { admitAll } from "../support/admit-all.ts";

const get = "GET /healthz HTTP/1.1\r\n";
const end = "connection: close\r\n\r\n";

describe("what Node refuses by itself has the body of an error", () => {
  const store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  let server: HttpApp;
  let port: number;
  before(async () => {
    server = buildHttpServer({
      service: { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 },
      admission: admitAll,
      logger: pino({ level: "silent" }),
    });
    port = Number(new URL(await server.listen({ host: "127.0.0.1", port: 0 })).port);
    server.server.headersTimeout = 200;
  });
  after(async () => {
    await server.close();
    await store.close();
  });

  /** What comes back until the server closes the connection. */
  async function answerTo(sent: string): Promise<string> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(sent);
    return await text(socket);
  }

  test("a method that Node does not know, or does not answer, is no method of a path", async () => {
    for (const [line, status, allow] of [
      ["FETCH /healthz?x=1", 405, "GET, HEAD"],
      ["GRAB /v1/tenants/t1", 405, "DELETE"],
      ["FETCH /nowhere", 404, undefined],
      ["CONNECT /healthz", 405, "GET, HEAD"],
      ["CONNECT pemba.example:443", 404, undefined],
    ] as const) {
      const [head = "", body = ""] = (await answerTo(`${line} HTTP/1.1\r\nhost: x\r\n\r\n`)).split(
        "\r\n\r\n",
        2,
      );
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), line);
      assert.equal(/\r\nallow: (.*)\r\n/.exec(head)?.[1], allow);
      const code = status === 405 ? "METHOD_NOT_ALLOWED" : "NOT_FOUND";
      assert.match(body, new RegExp(`"message":"ERROR_CODE_${code}: `));
    }
  });

  test("what is no HTTP after an answer has begun gets no other answer", async () => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("POST /nowhere HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    const [begun] = await once(socket, "data");
    assert.match(String(begun), /^HTTP\/1\.1 404 /);
    socket.write("no length\r\n");
    assert.doesNotMatch(await text(socket), /HTTP/);
  });

  for (const [about, sent, status, message] of [
    ["headers that are too large", `${get}host: x\r\nx: ${"a".repeat(20_000)}\r\n`, 431, "headers"],
    ["a control character in a header", `${get}host: x\r\nx: \u0001\r\n${end}`, 400, "the request"],
    ["what is no HTTP", "nonsense\r\n\r\n", 400, "the request is not valid HTTP"],
    ["what follows a request", `${get}host: x\r\n\r\nFETCH / HTTP/1.1\r\n${end}`, 400, "the req"],
    ["a request without a host", `${get}${end}`, 400, "host: is missing"],
    ["an expectation that is not known", `${get}host: x\r\nexpect: x\r\n${end}`, 417, "expect"],
    ["headers that never end", `${get}host: x\r\n`, 408, "the request was not received in time"],
  ] as const) {
    test(about, { timeout: 30_000 }, async () => {
      const [head = "", body = ""] = (await answerTo(sent)).split("\r\n\r\n", 2);
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(head, /\r\nx-request-id: [\da-f-]{36}/i);
      const parsed = JSON.parse(body) as { readonly message: string };
      assert.deepEqual({ ...parsed, message: "" }, { code: 3, message: "", details: [] });
      assert.match(parsed.message, new RegExp(`^ERROR_CODE_VALIDATION: ${message}`));
    });
  }
});

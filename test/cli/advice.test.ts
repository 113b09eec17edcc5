import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test, type TestContext } from "node:test";

import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";
import { runCommand } from "../support/commands-process.ts";
import { runPemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

/** A server that gives each connection the same answer, or ends it for "". */
async function answering(t: TestContext, answer: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

const commands = [["tenant", "list"], ["watch"]] as const;

test("a URL of another port or protocol is told from a server that is away", async (t) => {
  const { cert, key } = certificateFolder(t, await makeCertificate());
  const tls = ["http", "grpc"].flatMap((server) => [
    `--${server}-tls-enabled`,
    `--${server}-tls-cert-path=${cert}`,
    `--${server}-tls-key-path=${key}`,
  ]);
  const { url, grpc } = await serveHere(t, tls);
  for (const [wrong, expected] of [
    [`https://${grpc}`, /: the server does not speak HTTP\/1\.1 there, expected the port of REST /],
    [url.replace("https:", "http:"), /: if the server has TLS, the URL begins with https\n$/],
    [`http://${grpc}`, /: if the server has TLS, the URL begins with https\n$/],
  ] as const) {
    for (const words of commands) {
      const { status, stderr } = await runPemba([...words, "--ca", cert, "--url", wrong]);
      assert.equal(status, 1);
      assert.match(stderr, expected, wrong);
      assert.doesNotMatch(stderr, /SSL routines/);
    }
  }
});

test("where no server runs, the flag and the variable are named", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  server.close();
  await once(server, "close");
  for (const words of commands) {
    const url = `http://127.0.0.1:${address.port}`;
    const { status, stderr } = await runCommand([...words, "--url", url]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /: connect ECONNREFUSED \S+: does a server run there\? `--url`, PEMBA_URL or a context names the server\n$/,
    );
  }
});

test("an answer of another program says so, and one that may be of a proxy asks for it", async (t) => {
  const foreign = await answering(t, "HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n");
  const files = await answering(t, "HTTP/1.1 501 No\r\ncontent-length: 3\r\n\r\nno\n");
  const proxy = await answering(t, "HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n");
  for (const words of commands) {
    for (const [url, said] of [
      [foreign, /status 405, which is not from Pemba: `--url`, PEMBA_URL or /],
      [files, /status 501, which is not from Pemba: `--url`, PEMBA_URL or /],
      [proxy, /status 502, which is not from Pemba: does a proxy reach the server\? `--url`, /],
    ] as const) {
      assert.match((await runCommand([...words, "--url", url])).stderr, said);
    }
  }
});

test("a missing token and an unknown tenant say what gives one", async (t) => {
  const { url: open } = await serveHere(t);
  const env = {
    SERVICE_AUTHN_ENABLED: "true",
    SERVICE_AUTHN_METHOD: "preshared",
    SERVICE_AUTHN_PRESHARED_KEYS: "secret-key",
  };
  const { url } = await serveHere(t, [], env);
  const refused = await runCommand(["tenant", "list", "--url", url]);
  assert.equal(
    refused.stderr,
    "pemba: authorization: is missing, expected `Bearer <token>`: `--token`, PEMBA_TOKEN or a context gives the token\n",
  );
  const words = ["schema", "list", "--url", open, "--tenant", "nosuch"];
  assert.equal(
    (await runCommand(words)).stderr,
    "pemba: no tenant `nosuch`: `pemba tenant list` shows those that there are\n",
  );
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { test, type TestContext } from "node:test";

import { certificateFolder, makeCertificate } from "../support/certificate-files.ts";
import { runCommand } from "../support/commands-process.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { freePort } from "../support/free-ports.ts";
import { openLine } from "../support/line.ts";
import { type Addresses, runPemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

const serves = { status: 0, stdout: "the server is ready\n", stderr: "" };

test("a server is asked over REST, without a token", async (t) => {
  const guarded = ["--authn-enabled", "--authn-method=preshared", "--authn-preshared-keys=key"];
  const words = portsOf(await serveHere(t, guarded));
  assert.deepEqual(await runPemba(["health", ...words, ...guarded]), serves);
});

test("a server without REST is asked over gRPC", async (t) => {
  const words = portsOf(await serveHere(t, ["--http-enabled=false"]));
  assert.deepEqual(await runCommand(["health", "--http-enabled=false", ...words]), serves);
});

test("a server with TLS is asked over TLS, with any certificate", async (t) => {
  const { cert, key } = certificateFolder(t, await makeCertificate());
  const rest = ["--http-tls-enabled", "--http-tls-cert-path", cert, "--http-tls-key-path", key];
  const grpc = ["--grpc-tls-enabled", "--grpc-tls-cert-path", cert, "--grpc-tls-key-path", key];
  const words = [...rest, ...grpc, ...portsOf(await serveHere(t, [...rest, ...grpc]))];
  assert.deepEqual(await runCommand(["health", ...words]), serves);
  assert.deepEqual(await runCommand(["health", ...words, "--http-enabled=false"]), serves);
});

test("a server that is not ready is status 1", async (t) => {
  const server = createHttpServer((_request, response) => response.writeHead(503).end());
  assert.deepEqual(await runPemba(["health", "--http-port", await portOf(t, server)]), {
    status: 1,
    stdout: "",
    stderr: "pemba: the server is not ready\n",
  });
});

test("clusters that do not answer are named, over REST and over gRPC", async (t) => {
  const [a, b] = [await createMigratedDatabase(), await createMigratedDatabase()];
  t.after(async () => {
    await a.drop();
    await b.drop();
  });
  const line = await openLine(t, b.url);
  const clusters = JSON.stringify([
    { name: "a", uri: a.url },
    { name: "b", uri: line.url },
  ]);
  const flags = ["--database-engine=postgres", `--database-clusters=${clusters}`];
  const words = [...flags, ...portsOf(await serveHere(t, flags))];
  for (const over of [[], ["--http-enabled=false"]]) {
    assert.deepEqual(await runCommand(["health", ...words, ...over]), serves);
  }
  await line.cut();
  const stdout = "the server is ready, clusters that do not answer: `b`\n";
  for (const over of [[], ["--http-enabled=false"]]) {
    assert.deepEqual(await runCommand(["health", ...words, ...over]), { ...serves, stdout });
  }
});

test("if no server listens, the line names the address", async () => {
  const port = String(await freePort());
  for (const words of [
    ["--http-port", port],
    ["--http-enabled=false", "--grpc-port", port],
  ]) {
    const { status, stdout, stderr } = await runCommand(["health", ...words]);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(
      stderr,
      new RegExp(`^pemba: no server answers on 127\\.0\\.0\\.1:${port}: [^\\n]+\\n$`),
    );
  }
});

test("a server that accepts and never answers is not waited for without end", async (t) => {
  const port = await portOf(t, createServer());
  const { status, stderr } = await runCommand(["health", "--http-port", port]);
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: no server answers on [^\n]+\n$/);
});

test("a port that only the server knows cannot be asked", async () => {
  assert.deepEqual(await runCommand(["health", "--http-port=0"]), {
    status: 1,
    stdout: "",
    stderr: "pemba: `server.http.port`: is 0, expected the port to ask\n",
  });
});

/** The flags by which the server is found. */
function portsOf({ url, grpc }: Addresses): readonly string[] {
  const ports = ["--grpc-port", grpc.split(":").at(-1) ?? ""];
  if (url !== "") ports.push("--http-port", new URL(url).port);
  return ["--server-host", "127.0.0.1", ...ports];
}

async function portOf(t: TestContext, server: Server): Promise<string> {
  t.after(() => server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return String(address.port);
}

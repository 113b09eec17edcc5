import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { runCommand } from "../support/commands-process.ts";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-ports.ts";
import { runPemba, servePemba, startPemba } from "../support/pemba.ts";
import { serveHere } from "../support/serve-here.ts";

const onFreePorts = ["serve", "--server-host", "127.0.0.1", "--http-port", "0", "--grpc-port", "0"];

test("without any configuration it serves from memory", async (t) => {
  const { url, process: server, finished } = await servePemba(t);
  const health = await fetch(`${url}/healthz`);
  assert.deepEqual([health.status, await health.text()], [200, '{"status":"SERVING"}']);
  server.kill("SIGTERM");
  const { status, stdout, stderr } = await finished;
  assert.equal(status, 0);
  assert.match(stdout, /stopped/);
  assert.equal(stderr, "");
});

test("SIGINT ends it as SIGTERM does", async (t) => {
  const { process: server, finished } = await servePemba(t);
  server.kill("SIGINT");
  assert.equal((await finished).status, 0);
});

test("a request in progress when the server is stopped is answered", async (t) => {
  const { url, stop, finished } = await serveHere(t, ["--server-grace-period=1h"]);
  const { port } = new URL(url);
  const body = '{"id":"late","name":""}';
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(
    `POST /v1/tenants/create HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body.slice(0, 5));
  // The server has the head of this request when it has answered a later one.
  await fetch(`${url}/healthz`).then(async (response) => await response.text());
  stop();
  await refused(Number(port));
  socket.end(body.slice(5));
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /connection: close/i);
  await finished;
});

test("a connection that is only kept open does not delay the end", async (t) => {
  const { url, stop, finished } = await serveHere(t, ["--server-grace-period=1h"]);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(socket, "data");
  const closed = once(socket, "close");
  stop();
  await closed;
  await finished;
});

test("a taken port is one line and status 1", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const address = other.address();
  assert.ok(typeof address === "object" && address !== null);
  const port = String(address.port);
  const words = ["serve", "--server-host", "127.0.0.1", "--http-port", port, "--grpc-port", "0"];
  const { status, stderr } = await runCommand(words);
  assert.equal(status, 1);
  assert.equal(
    stderr,
    `pemba: server.http.port: cannot listen on 127.0.0.1:${port}: the port is in use\n`,
  );
});

test("a taken port of gRPC is one line and status 1 too", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const address = other.address();
  assert.ok(typeof address === "object" && address !== null);
  const port = String(address.port);
  const words = ["serve", "--server-host", "127.0.0.1", "--http-port", "0", "--grpc-port", port];
  const { status, stderr } = await runCommand(words);
  assert.equal(status, 1);
  assert.equal(
    stderr,
    `pemba: server.grpc.port: cannot listen on 127.0.0.1:${port}: the port is in use\n`,
  );
});

test("every fault of the configuration is a line, and the status is 1", async () => {
  const words = ["serve", "--http-prot", "--database-engine=postgres", "now", "please"];
  const { status, stdout, stderr } = await runCommand(words, {
    env: { SERVICE_LOG_LEVEL: "loud", SERVICE_NOTHING: "1" },
  });
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.equal(
    stderr,
    "pemba: --http-prot: no such flag (did you mean `--http-port`?)\n" +
      "pemba: serve: `now` is not understood\n" +
      "pemba: serve: `please` is not understood\n" +
      "pemba: SERVICE_NOTHING: no key of the configuration has this variable\n" +
      "pemba: SERVICE_LOG_LEVEL: `logger.level`: `loud` is not allowed, expected error, warn, info or debug\n" +
      "pemba: `database.uri`: is empty, expected a URI, or clusters in `database.clusters`, since `database.engine` is `postgres`\n",
  );
});

test("a log file that cannot be written is one line with its key, and status 1", async () => {
  const { status, stderr } = await runCommand(["serve", "--log-file", "/nowhere/pemba.log"]);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^pemba: logger\.file: cannot write to `\/nowhere\/pemba\.log`: ENOENT[^\n]*\n$/,
  );
});

test("a database that does not answer is one line and status 1", async () => {
  const words = [...onFreePorts, "--database-engine", "postgres", "--database-start-timeout", "0s"];
  const { status, stderr } = await runCommand(words, {
    env: { SERVICE_DATABASE_URI: "postgres://someone:hunter2@127.0.0.1:1/none" },
  });
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: [^\n]+\n$/);
  assert.doesNotMatch(stderr, /hunter2/);
});

test("a database that lacks migrations is one line and status 1 when they are not applied", async (t) => {
  const database = await createTestDatabase();
  t.after(database.drop);
  const { status, stderr } = await runCommand([...onFreePorts, "--database-auto-migrate=false"], {
    env: { SERVICE_DATABASE_URI: database.url, SERVICE_DATABASE_ENGINE: "postgres" },
  });
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: [^\n]*migrate[^\n]*\n$/);
});

test("the file config/config.yaml of the working folder is read", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "pemba-serve-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "config"));
  writeFileSync(join(folder, "config/config.yaml"), "logger:\n  level: loud\n");
  const { status, stderr } = await runCommand(["serve"], { cwd: folder });
  assert.equal(status, 1);
  assert.match(stderr, /^pemba: config\/config\.yaml:2:3: `logger\.level`: `loud` is not allowed/);
});

test("the log goes to a file as JSON when that is configured, without secrets", async (t) => {
  const database = await createTestDatabase();
  t.after(database.drop);
  const folder = mkdtempSync(join(tmpdir(), "pemba-serve-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "pemba.log");
  const uri = new URL(database.url);
  // A server that asks for none takes any.
  uri.password ||= "hunter2";
  const port = await freePort();
  const { process: server, finished } = startPemba(["serve", "--log-level", "debug"], {
    env: {
      SERVICE_SERVER_HOST: "127.0.0.1",
      SERVICE_HTTP_PORT: String(port),
      SERVICE_GRPC_PORT: "0",
      SERVICE_LOG_OUTPUT: "json",
      SERVICE_LOG_FILE: file,
      SERVICE_DATABASE_ENGINE: "postgres",
      SERVICE_DATABASE_URI: uri.href,
    },
  });
  t.after(() => server.kill("SIGKILL"));
  const headers = { authorization: "Bearer hunter3" };
  await answered(`http://127.0.0.1:${port}/v1/tenants/list`, { headers });
  server.kill("SIGTERM");
  const { status, stdout } = await finished;
  assert.deepEqual([status, stdout], [0, ""]);
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  assert.ok(lines.length >= 3);
  const text = readFileSync(file, "utf8");
  assert.match(text, /"route":"\/v1\/tenants\/list","status":200/);
  assert.doesNotMatch(text, /hunter/);
});

test("the commands and their flags are shown on demand", async () => {
  const overview = await runPemba(["help"]);
  assert.equal(overview.status, 0);
  for (const name of ["serve", "migrate", "import", "version"]) {
    assert.match(overview.stdout, new RegExp(`^  ${name} `, "m"));
    const help = await runCommand([name, "--help"]);
    assert.equal(help.status, 0);
    assert.match(help.stdout, new RegExp(`^usage: pemba ${name}`));
  }
  assert.match((await runCommand(["version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  assert.deepEqual(await runCommand(["version", "extra", "--bogus"]), {
    status: 1,
    stdout: "",
    stderr: "pemba: --bogus: no such flag\npemba: version: `extra` is not understood\n",
  });
  const unknown = await runCommand(["fly"]);
  assert.deepEqual([unknown.status, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /^pemba: `fly` is not a command/);
  for (const words of [
    ["help", "sql", "statu"],
    ["sql", "statu", "--help"],
    ["sql", "statu"],
  ]) {
    const wrong = await runCommand(words);
    assert.deepEqual([wrong.status, wrong.stdout], [1, ""]);
    assert.match(wrong.stderr, /^pemba: sql: expected enable, [^\n]*\(did you mean `status`\?\)/);
  }
  assert.match((await runCommand(["sql"])).stderr, /^pemba: sql: expected enable, [^\n`]*\n/);
});

/** Resolves when the request has been answered well, by a server that may still be starting. */
async function answered(url: string, init: RequestInit): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(url, init);
      await response.text();
      if (response.status === 200) return;
    } catch {
      // It does not listen yet.
    }
    await wait(20);
  }
}

/** Resolves when nothing listens on the port any more. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    try {
      await once(socket, "connect");
      socket.destroy();
    } catch {
      return;
    }
  }
}

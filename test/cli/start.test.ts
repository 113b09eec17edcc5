import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";

import postgres from "postgres";

import {
  Health,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { runCommand } from "../support/commands-process.ts";
import { createTestDatabase } from "../support/database.ts";
import { connectGrpc } from "../support/grpc.ts";
import { openLine } from "../support/line.ts";
import { type Finished, flagsOfServer, startServing } from "../support/pemba.ts";
import { startPostgresBinaries } from "../support/postgres-binaries.ts";
import { serverSettings } from "../support/postgres-settings.ts";
import { serveHere } from "../support/serve-here.ts";

const secret = "hunter2";
const serveWords = ["serve", ...flagsOfServer([])];

function on(uri: string): { readonly env: Readonly<Record<string, string>> } {
  return { env: { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: uri } };
}

/** Status 1 and one line without secrets, which says what the expression says. */
function assertRefused({ status, stdout, stderr }: Finished, expected: RegExp): void {
  assert.equal(status, 1, stdout + stderr);
  assert.match(stderr, /^pemba: [^\n]+\n$/);
  assert.match(stderr, expected);
  assert.doesNotMatch(stdout + stderr, new RegExp(secret));
}

describe("a start without its database", () => {
  test("it waits, lives but does not serve, and serves when the database is there", async (t) => {
    const database = await createTestDatabase();
    t.after(database.drop);
    const line = await openLine(t, database.url);
    await line.cut();
    const serving = startServing([], on(line.url));
    t.after(() => serving.process.kill("SIGKILL"));
    const { url, grpc } = await serving.listening;
    const client = connectGrpc(grpc);
    t.after(() => client.close());

    const health = await fetch(`${url}/healthz`);
    assert.deepEqual([health.status, await health.text()], [503, '{"status":"NOT_SERVING"}']);
    assert.equal((await client.call(Health.method.check, {})).status, ServingStatus.NOT_SERVING);
    const life = await fetch(`${url}/livez`);
    assert.deepEqual([life.status, await life.text()], [200, '{"status":"ALIVE"}']);
    const early = await fetch(`${url}/v1/tenants/list`, { method: "POST" });
    assert.equal(early.status, 503);
    assert.equal(early.headers.get("retry-after"), "1");
    assert.match(await early.text(), /ERROR_CODE_UNAVAILABLE: the server is starting/);

    await line.mend();
    await serving.addresses;
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    assert.equal((await client.call(Health.method.check, {})).status, ServingStatus.SERVING);
    serving.process.kill("SIGTERM");
    const { status, stdout } = await serving.finished;
    assert.equal(status, 0);
    assert.match(
      stdout,
      /WARN: waiting for the database \(`database\.start_timeout`\): the database does not answer: /,
    );
  });

  test("a signal ends the wait at once, with status 0", async (t) => {
    const words = ["--database-start-timeout", "1h"];
    const serving = startServing(words, on(`postgres://someone:${secret}@127.0.0.1:1/none`));
    t.after(() => serving.process.kill("SIGKILL"));
    await serving.listening;
    serving.process.kill("SIGTERM");
    const { status, stdout, stderr } = await serving.finished;
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /stopped/);
    assert.doesNotMatch(stdout, new RegExp(secret));
  });

  test("it waits no longer than configured, and then ends with status 1", async () => {
    const words = [...serveWords, "--database-start-timeout", "1s"];
    const uri = `postgres://someone:${secret}@127.0.0.1:1/none`;
    assertRefused(
      await runCommand(words, on(uri)),
      /the database does not answer: .*127\.0\.0\.1:1/,
    );
  });
});

describe("a start that time does not heal", () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  before(async () => {
    database = await createTestDatabase();
  });
  after(async () => await database.drop());

  test("a wrong password", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "pemba-hba-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const rules = join("/tmp", `${folder.split("/").at(-1)}.conf`);
    writeFileSync(
      rules,
      "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
      { mode: 0o644 },
    );
    t.after(() => rmSync(rules));
    const server = await startPostgresBinaries([...serverSettings, `hba_file=${rules}`]);
    t.after(server.stop);
    const sql = postgres(server.url, { max: 1 });
    await sql`create role someone login password 'right'`;
    await sql.end();
    const uri = new URL(server.url);
    uri.username = "someone";
    uri.password = secret;
    assertRefused(
      await runCommand(serveWords, on(uri.href)),
      /`database\.uri`: the database refuses the connection: password authentication failed/,
    );
  });

  test("a database that there is not", async () => {
    const uri = new URL(database.url);
    uri.pathname = "/nowhere";
    assertRefused(
      await runCommand(serveWords, on(uri.href)),
      /`database\.uri`: the database refuses the connection: database "nowhere" does not exist/,
    );
  });

  test("a migration that fails", async (t) => {
    const other = await createTestDatabase();
    t.after(other.drop);
    const sql = postgres(other.url, { max: 1 });
    await sql`create table tenants (mine integer)`;
    await sql.end();
    assertRefused(
      await runCommand(serveWords, on(other.url)),
      /migrating up failed and changed nothing: .*"tenants" already exists/,
    );
  });

  test("a Postgres that is too old", async (t) => {
    const uri = await tellAnotherVersion(t, database.url);
    assertRefused(
      await runCommand(serveWords, on(uri)),
      /the database is Postgres \S+, expected 14 or newer/,
    );
  });
});

test("instances that start at the same time migrate once", async (t) => {
  const database = await createTestDatabase();
  t.after(database.drop);
  const { env } = on(database.url);
  const both = await Promise.all([serveHere(t, [], env), serveHere(t, [], env)]);
  for (const { url } of both) assert.equal((await fetch(`${url}/healthz`)).status, 200);
  const sql = postgres(database.url, { max: 1 });
  const [row] = await sql<{ all: number; names: number }[]>`
    select count(*)::integer as all, count(distinct name)::integer as names from pemba_migrations
  `;
  await sql.end();
  assert.ok(row !== undefined && row.all > 0);
  assert.equal(row.all, row.names);
  for (const { stop } of both) stop();
  const logs = await Promise.all(both.map(async ({ finished }) => await finished));
  const migrating = logs.filter((log) => /INFO: applied `0001_tables`, /.test(log));
  assert.equal(migrating.length, 1);
  assert.match(migrating.join(""), /INFO: the database lacks `0001_tables`, .*: applying them/);
});

test("an uncaught error is one line, and status 1", async () => {
  for (const fault of ["throw new Error('broken')", "Promise.reject(new Error('broken'))"]) {
    const module = `data:text/javascript,process.on("SIGUSR2",()=>{${fault}})`;
    const {
      process: server,
      finished,
      addresses,
    } = startServing([], {
      env: { NODE_OPTIONS: `--import=${module.replaceAll(" ", "%20").replaceAll('"', "%22")}` },
    });
    await addresses;
    server.kill("SIGUSR2");
    const { status, stderr } = await finished;
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^pemba: pemba ended because of a fault in the program: Error: broken at [^\n]+\n$/,
    );
  }
});

/** A proxy on which the server claims an older version than any that is supported. */
async function tellAnotherVersion(t: TestContext, url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const sql = postgres(url, { max: 1 });
  const [row] = await sql<{ number: string }[]>`
    select current_setting('server_version_num') as number
  `;
  await sql.end();
  const number = row?.number ?? assert.fail("no version");
  const old = `13${"0".repeat(number.length - 2)}`;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far);
    far.on("data", (bytes: Buffer) =>
      near.write(Buffer.from(bytes.toString("latin1").replaceAll(number, old), "latin1")),
    );
    for (const socket of [near, far]) {
      socket.on("error", () => {});
      socket.on("close", () => [near, far].forEach((end) => end.destroy()));
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  const changed = new URL(url);
  changed.hostname = "127.0.0.1";
  changed.port = String(address.port);
  return changed.href;
}

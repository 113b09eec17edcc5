import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { status } from "@grpc/grpc-js";
import type postgres from "postgres";

import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { connect, until } from "../store/open-write.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { connectGrpc, failure } from "../support/grpc.ts";
import { type Line, openLine } from "../support/line.ts";
import { serveHere } from "../support/serve-here.ts";

/*
 * Requests to a Postgres that lets in and says nothing, in each state of its connections: they end
 * within the times that are set. How soon after these is held by test/store/limit-time.test.ts; here
 * it must be before the connection is taken to be dead, which takes five seconds more.
 */

const limitMs = 500;
/** For what must be seen to wait before its time is over. */
const longLimitMs = 4_000;
const limits = limitsOf(limitMs);
const longLimits = limitsOf(longLimitMs);
/** After the limit. */
const soonMs = 4_000;

const schema = "entity user {} entity doc { relation viewer @user permission view = viewer }";
const subject = { type: "user", id: "ada" };

function limitsOf(ms: number): readonly string[] {
  return [`--database-read-timeout=${ms}ms`, `--database-write-timeout=${ms}ms`];
}

interface Scene {
  readonly line: Line;
  readonly sql: postgres.Sql;
  /** The same request over both transports: the numbers of their statuses, and what was said. */
  readonly check: () => Promise<readonly Said[]>;
  readonly write: (id: string) => Promise<readonly Said[]>;
  readonly writeOver: Readonly<Record<"rest" | "grpc", (id: string) => Promise<Said>>>;
  /** A write over REST with a header `Grpc-Timeout`. */
  readonly writeWithin: (timeout: string, id: string) => Promise<Said>;
}

interface Said {
  readonly code: number;
  readonly message: string;
}

async function openScene(t: TestContext, ...words: readonly string[]): Promise<Scene> {
  const database = await createMigratedDatabase();
  t.after(database.drop);
  const sql = connect(database.url, 1);
  t.after(async () => await sql.end({ timeout: 1 }));
  const line = await openLine(t, database.url);
  const env = { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: line.url };
  const { url, grpc } = await serveHere(t, [...limits, ...words], env);
  const client = connectGrpc(grpc);
  t.after(() => client.close());
  const post = async (path: string, body: object, timeout = "1H"): Promise<Said> => {
    const response = await fetch(`${url}/v1/tenants/t1/${path}`, {
      method: "POST",
      headers: { "Grpc-Timeout": timeout },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (response.ok) return { code: 0, message: text };
    assert.equal(response.status, 504, text);
    return JSON.parse(text) as Said;
  };
  const over = async (call: Promise<unknown>): Promise<Said> => {
    const isAnswered = await call.then(
      () => true,
      () => false,
    );
    if (isAnswered) return { code: 0, message: "" };
    const { code, details } = await failure(call);
    return { code, message: details };
  };
  await answered(async () => [await post("schemas/write", { schema })]);
  const question = (id: string): object => ({ entity: { type: "doc", id }, permission: "view" });
  const written = (id: string): object => ({
    metadata: {},
    tuples: [{ entity: { type: "doc", id }, relation: "viewer", subject }],
    attributes: [],
  });
  const writeOver: Scene["writeOver"] = {
    rest: async (id) => await post("data/write", written(id)),
    grpc: async (id) =>
      await over(client.call(Data.method.write, { tenantId: "t1", ...written(id) })),
  };
  return {
    line,
    sql,
    check: async () =>
      await Promise.all([
        post("permissions/check", { metadata: {}, ...question("rest"), subject }),
        over(
          client.call(Permission.method.check, {
            tenantId: "t1",
            metadata: {},
            ...question("grpc"),
            subject,
          }),
        ),
      ]),
    write: async (id) =>
      await Promise.all([writeOver.rest(`${id}-rest`), writeOver.grpc(`${id}-grpc`)]),
    writeOver,
    writeWithin: async (timeout, id) => await post("data/write", written(id), timeout),
  };
}

/** Fails when it takes so long that the connection may have been taken to be dead. */
async function soon<T>(work: Promise<T>, ofMs = limitMs): Promise<T> {
  const ending = new AbortController();
  const late = wait(ofMs + soonMs, undefined, { signal: ending.signal }).then(() =>
    assert.fail("still waits"),
  );
  late.catch(() => undefined);
  return await Promise.race([work, late]).finally(() => ending.abort());
}

/** Until everything is answered. The first requests may take a busy machine longer than the limits. */
async function allAnswer({ check, write }: Scene, id: string): Promise<void> {
  await answered(async () => [...(await check()), ...(await write(id))]);
}

async function answered(ask: () => Promise<readonly Said[]>): Promise<void> {
  await until(async () => ((await ask()).every(({ code }) => code === 0) ? true : undefined));
}

/** When the connection works again, everything is answered without a restart. */
async function allAnswerAgain(scene: Scene): Promise<void> {
  await scene.line.mend();
  await allAnswer(scene, "late");
}

async function writtenIds({ sql }: Scene): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`select entity_id as id from relationships order by 1`;
  return rows.map(({ id }) => id);
}

const readWaited = /^ERROR_CODE_DEADLINE_EXCEEDED: .*\(`database\.read_timeout`/;
const writeLate = /^ERROR_CODE_DEADLINE_EXCEEDED: .*\(`database\.write_timeout`/;
const mayBeMade =
  /^ERROR_CODE_DEADLINE_EXCEEDED: .*\(`database\.write_timeout`\): the change may be made or may not/;
const isNotMade =
  /^ERROR_CODE_DEADLINE_EXCEEDED: .*\(`database\.write_timeout`.* the change (is not made|was undone|was given up)/;

function assertLate(said: readonly Said[], message: RegExp): void {
  for (const one of said) {
    assert.equal(one.code, status.DEADLINE_EXCEEDED, one.message);
    assert.match(one.message, message);
  }
}

/** As many as the requests of a test need at once, all made and idle. */
async function openConnections({ line }: Scene, count: number): Promise<void> {
  await until(async () => (line.connections() >= count ? true : undefined));
}

/**
 * Until so many statements wait for a table that is locked. Other tests have locks on the same server; and
 * within a transaction, the list of what runs is always that of the first look.
 */
async function untilAtLock(holder: postgres.TransactionSql, count: number): Promise<void> {
  await until(async () => {
    const waiting = await holder`
      select from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where datname = current_database() and not granted`;
    return waiting.length === count ? true : undefined;
  });
}

const severalOpen = ["--database-min-connections=6"];

test("a connection that is silent when it is asked holds no request, and a write says that it may be made", async (t) => {
  const scene = await openScene(t, ...severalOpen);
  await allAnswer(scene, "first");
  await openConnections(scene, 6);
  scene.line.silence("present");
  const [checks, writes] = await soon(Promise.all([scene.check(), scene.write("lost")]));
  assertLate(checks, readWaited);
  assertLate(writes, mayBeMade);
  await allAnswerAgain(scene);
  assert.ok(!(await writtenIds(scene)).some((id) => id.startsWith("lost")));
});

for (const transport of ["rest", "grpc"] as const) {
  test(`a connection that falls silent before it answers a commit holds no request, and what may be made is, over ${transport}`, async (t) => {
    const scene = await openScene(t, "--database-max-connections=1");
    const write = scene.writeOver[transport];
    // What is prepared is sent as a whole, without waiting for a first answer.
    for (const id of ["1", "2", "3"]) await answered(async () => [await write(id)]);
    scene.line.silence("present", "answers");
    assertLate([await soon(write("4"))], mayBeMade);
    assert.deepEqual(await writtenIds(scene), ["1", "2", "3", "4"]);
  });
}

test("a connection that falls silent in the middle of a statement holds no request", async (t) => {
  const scene = await openScene(t, ...severalOpen, ...longLimits);
  await allAnswer(scene, "first");
  await openConnections(scene, 6);
  const answers = await scene.sql.begin(async (holder) => {
    await holder`lock table relationships in access exclusive mode`;
    const asked = Promise.all([scene.check(), scene.write("held")]);
    await untilAtLock(holder, 4);
    scene.line.silence("all");
    return await soon(asked, longLimitMs);
  });
  assertLate(answers[0], readWaited);
  assertLate(answers[1], mayBeMade);
});

test("while a connection is being made to a server that is silent, no request waits longer, and a write is not made", async (t) => {
  const scene = await openScene(t, "--database-max-connection-idle-time=1ms");
  await allAnswer(scene, "first");
  // That of the health checks is closed as well.
  await until(async () => (scene.line.connections() === 0 ? true : undefined));
  scene.line.silence("new");
  const [checks, writes] = await soon(Promise.all([scene.check(), scene.write("lost")]));
  assertLate(checks, readWaited);
  assertLate(writes, isNotMade);
});

test("who waits for a connection that others hold waits no longer, and a write is not made", async (t) => {
  const scene = await openScene(t, "--database-max-connections=1", ...longLimits);
  await allAnswer(scene, "first");
  const said = await scene.sql.begin(async (holder) => {
    await holder`lock table relationships in access exclusive mode`;
    const first = scene.write("held");
    await untilAtLock(holder, 1);
    const [checks, ...writes] = await soon(
      Promise.all([scene.check(), scene.write("more"), scene.write("most"), first]),
      longLimitMs,
    );
    assertLate(checks, readWaited);
    assertLate(writes.flat(), writeLate);
    return writes.flat();
  });
  await allAnswer(scene, "last");
  // One that got the connection at its last moment may be made, and says so.
  const names = ["more-rest", "more-grpc", "most-rest", "most-grpc", "held-rest", "held-grpc"];
  const unmade = names.filter((_, index) => isNotMade.test(said[index]?.message ?? ""));
  assert.ok(unmade.length > 3, said.map(({ message }) => message).join("\n"));
  const ids = await writtenIds(scene);
  assert.deepEqual(
    unmade.filter((name) => ids.includes(name)),
    [],
  );
  for (const name of ["first-grpc", "first-rest", "last-grpc", "last-rest"]) {
    assert.ok(ids.includes(name), name);
  }
});

test("while a connection is renewed, and the new one is silent, no request waits longer", async (t) => {
  const scene = await openScene(
    t,
    "--database-max-connections=1",
    "--database-max-connection-lifetime=1ms",
    "--database-connect-timeout=5s",
  );
  await allAnswer(scene, "first");
  scene.line.silence("all");
  const [checks, writes] = await soon(Promise.all([scene.check(), scene.write("lost")]));
  assertLate(checks, readWaited);
  assertLate(writes, writeLate);
  await allAnswerAgain(scene);
});

test("a write whose own deadline passes while Postgres is silent says that it may be made", async (t) => {
  const scene = await openScene(t, ...severalOpen, "--database-write-timeout=1h");
  await allAnswer(scene, "first");
  await openConnections(scene, 6);
  scene.line.silence("present", "answers");
  const { code, message } = await soon(scene.writeWithin("300m", "late"));
  assert.equal(code, status.DEADLINE_EXCEEDED);
  assert.match(message, /`grpc-timeout` is over: the change may be made or may not/);
});

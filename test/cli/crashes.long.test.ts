import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { JsonObject } from "@bufbuild/protobuf";
import postgres from "postgres";

import { DataChange_Operation as Operation, Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { freePorts } from "../support/free-ports.ts";
import { connectGrpc } from "../support/grpc.ts";
import { type Addresses, type Running, startServing } from "../support/pemba.ts";
import { type RestartableServer, startRestartablePostgres } from "../support/postgres-binaries.ts";
import { openStream } from "../support/text-stream.ts";
import {
  type ApiClient,
  grpcClient,
  objectOf,
  type Outcome,
  restClient,
} from "../transport/client.ts";

/*
 * Postgres and Pemba are killed, restarted and paused again and again while some write and others watch,
 * over both transports. What was acknowledged must be there in the end, whole and once, and so must it
 * have been delivered to each who watched.
 */

const writesWanted = 5_000;
const writesBetween = 200;
const writersPerTransport = 4;
const usersPerDoc = 3;

const schema =
  "entity user {} entity doc { relation viewer @user attribute open boolean permission view = viewer }";

/** What a lost process may cost is what it had in memory alone: the commit is in the hands of the system. */
const postgresSettings = ["max_connections=200", "fsync=off"];

interface Instance extends Addresses {
  /** Kills it and starts it again at the same addresses. */
  readonly kill: () => Promise<void>;
}

async function startInstance(t: TestContext, url: string): Promise<Instance> {
  const [http, grpc] = await freePorts(2);
  const words = [
    `--http-port=${http}`,
    `--grpc-port=${grpc}`,
    "--service-watch-enabled",
    // What is paused is found out while it is.
    "--database-read-timeout=2s",
    "--database-write-timeout=2s",
  ];
  const env = { SERVICE_DATABASE_ENGINE: "postgres", SERVICE_DATABASE_URI: url };
  let serving: Running;
  const start = async (): Promise<void> => {
    const started = startServing(words, { env });
    serving = started;
    await started.addresses;
  };
  const end = async (): Promise<void> => {
    serving.process.kill("SIGKILL");
    await serving.finished;
  };
  await start();
  t.after(end);
  return {
    url: `http://127.0.0.1:${http}`,
    grpc: `127.0.0.1:${grpc}`,
    kill: async () => {
      await end();
      await start();
    },
  };
}

/** What has been done so far. */
interface Story {
  acknowledged: number;
  /** Of each instance. */
  readonly acknowledgedBy: number[];
  /** How many requests were made again, since nothing or no success was heard of them. */
  repeated: number;
  /** How often an error said that a change may have been made. */
  unsure: number;
  /** All disasters are over. */
  isThrough: boolean;
  /** No more of it is needed, mostly because a fault was found. */
  isOver: boolean;
  /** Of each document the token of its write. */
  readonly tokens: Map<string, string>;
  readonly deleted: Set<string>;
}

/** Resolves when the condition holds; how long that takes is for the limit of the test to say. */
async function since(story: Story, holds: () => boolean): Promise<void> {
  while (!holds()) {
    if (story.isOver) return;
    await wait(10);
  }
}

/** Calls until it succeeds: a client repeats after no answer, or after an error of the server. */
async function insist(story: Story, call: () => Promise<Outcome>): Promise<JsonObject> {
  for (;;) {
    if (story.isOver) throw new Error("the test is over");
    // A connection that is refused or cut gives no outcome.
    const outcome = await call().catch((error: unknown) => String(error));
    if (typeof outcome === "object" && outcome.kind === "answer") {
      return objectOf(outcome.body);
    }
    if (typeof outcome === "object") {
      // CANCELLED, DEADLINE_EXCEEDED, ABORTED and UNAVAILABLE alone: nothing else may come of a crash.
      assert.ok([1, 4, 10, 14].includes(outcome.code), outcome.message);
      if (outcome.message.includes("may be made or")) story.unsure++;
    }
    story.repeated++;
    await wait(10);
  }
}

function write(id: string): JsonObject {
  const entity = { type: "doc", id };
  const tuples = Array.from({ length: usersPerDoc }, (_, user) => ({
    entity,
    relation: "viewer",
    subject: { type: "user", id: String(user) },
  }));
  const value = { "@type": "type.googleapis.com/base.v1.BooleanValue", data: true };
  return { metadata: {}, tuples, attributes: [{ entity, attribute: "open", value }] };
}

function removal(id: string): JsonObject {
  const entity = { type: "doc", ids: [id] };
  return { tuple_filter: { entity }, attribute_filter: { entity } };
}

/** Writes documents of its own one after the other, and deletes each tenth of them again. */
async function keepWriting(
  story: Story,
  instance: number,
  name: string,
  client: ApiClient,
): Promise<void> {
  const acknowledged = (): void => {
    story.acknowledged++;
    story.acknowledgedBy[instance] = (story.acknowledgedBy[instance] ?? 0) + 1;
  };
  for (let number = 0; story.acknowledged < writesWanted || !story.isThrough; number++) {
    const id = `${name}-${number}`;
    const { snap_token: token } = await insist(story, () =>
      client.call("data write", "t1", write(id)),
    );
    assert.ok(typeof token === "string");
    story.tokens.set(id, token);
    acknowledged();
    if (number % 10 !== 9) continue;
    await insist(story, () => client.call("data delete", "t1", removal(id)));
    story.deleted.add(id);
    acknowledged();
  }
}

interface Delivered {
  readonly token: string;
  /** `create rest-0-1 2`, or `delete rest-0-1 open`: of all changes of one message, as `spelled` has them. */
  readonly changes: readonly string[];
}

interface WatchedElement {
  readonly entity?: { readonly id: string } | undefined;
  readonly subject?: { readonly id: string } | undefined;
}

function spelled(isCreate: boolean, { entity, subject }: WatchedElement): string {
  return `${isCreate ? "create" : "delete"} ${entity?.id} ${subject?.id ?? "open"}`;
}

async function* watchRest(
  url: string,
  token: string,
  signal: AbortSignal,
): AsyncGenerator<Delivered> {
  const path = `/v1/tenants/t1/watch?snap_token=${encodeURIComponent(token)}`;
  const reply = await openStream(`${url}${path}`);
  const leave = (): void => reply.leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    if (signal.aborted) return;
    for (let line = await reply.next(); line !== undefined; line = await reply.next()) {
      const message = JSON.parse(line) as {
        readonly snap_token?: string;
        readonly data_changes?: {
          readonly changes: readonly {
            readonly operation: string;
            readonly tuple?: WatchedElement;
            readonly attribute?: WatchedElement;
          }[];
        };
      };
      // An error is the last line, and says to resume with the last token.
      if (message.snap_token === undefined) return;
      const changes = (message.data_changes?.changes ?? []).map((change) =>
        spelled(change.operation === "OPERATION_CREATE", change.tuple ?? change.attribute ?? {}),
      );
      yield { token: message.snap_token, changes };
    }
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}

async function* watchGrpc(
  address: string,
  snapToken: string,
  signal: AbortSignal,
): AsyncGenerator<Delivered> {
  const client = connectGrpc(address);
  const request = { tenantId: "t1", snapToken };
  try {
    for await (const { changes } of client.stream(Watch.method.watch, request, { signal })) {
      if (changes === undefined) continue;
      const spelledOut = changes.dataChanges.map(({ operation, type }) =>
        spelled(operation === Operation.CREATE, type.value ?? {}),
      );
      yield { token: changes.snapToken, changes: spelledOut };
    }
  } finally {
    client.close();
  }
}

type WatchFrom = (token: string, signal: AbortSignal) => AsyncGenerator<Delivered>;

/** Follows all changes after a token, resumes with the last one whenever a stream ends. */
class Watcher {
  readonly delivered = new Map<string, number>();
  readonly messages: (readonly string[])[] = [];
  #token: string;
  readonly #ending = new AbortController();
  readonly #watch: WatchFrom;
  readonly #running: Promise<void>;

  constructor(token: string, watch: WatchFrom) {
    this.#token = token;
    this.#watch = watch;
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        for await (const { token, changes } of this.#watch(this.#token, signal)) {
          this.#token = token;
          if (changes.length > 0) this.messages.push(changes);
          for (const change of changes)
            this.delivered.set(change, (this.delivered.get(change) ?? 0) + 1);
        }
      } catch {
        // The instance or its database is away: only what is delivered in the end matters.
      }
      await wait(10);
    }
  }
}

/** What is done to the processes, in turn; each has come to its end before the next one begins. */
function disasters(
  story: Story,
  database: RestartableServer,
  [first, second]: readonly [Instance, Instance],
): readonly (() => Promise<unknown>)[] {
  const whilePaused = async (work: () => Promise<void>): Promise<void> => {
    const { unsure } = story;
    await database.signal("SIGSTOP", "all");
    const working = work();
    await since(story, () => story.unsure > unsure);
    await database.signal("SIGCONT", "all");
    await working;
  };
  const restart = async (): Promise<void> => {
    await database.halt();
    await database.restart();
  };
  const kill = async (): Promise<void> => {
    await database.signal("SIGKILL", "all");
    await restart();
  };
  return [
    async () => await whilePaused(async () => {}),
    first.kill,
    kill,
    // The server ends all others with it, and recovers by itself.
    async () => await database.signal("SIGKILL", "backend"),
    second.kill,
    restart,
    async () => await whilePaused(first.kill),
    async () => await Promise.all([kill(), second.kill()]),
    kill,
  ];
}

/** How often each change must be delivered: once. */
function expectedOf({ tokens, deleted }: Story): ReadonlyMap<string, number> {
  const elements = [...Array.from({ length: usersPerDoc }, (_, user) => String(user)), "open"];
  const changes = [
    ...[...tokens.keys()].map((id) => `create ${id}`),
    ...[...deleted].map((id) => `delete ${id}`),
  ];
  return new Map(
    changes.flatMap((change) => elements.map((element) => [`${change} ${element}`, 1] as const)),
  );
}

/** Each message is one write or delete, and all of it. */
function assertWhole({ messages }: Watcher): void {
  for (const changes of messages) {
    const ids = new Set(changes.map((change) => change.split(" ").slice(0, 2).join(" ")));
    assert.equal(ids.size, 1, changes.join());
    assert.equal(changes.length, usersPerDoc + 1, changes.join());
  }
}

async function assertStored(url: string, { tokens, deleted }: Story): Promise<void> {
  const sql = postgres(url, { max: 1 });
  try {
    const rows = await sql<{ id: string; elements: number }[]>`
      select entity_id as id, count(*)::integer as elements
      from (select entity_id from relationships union all select entity_id from attributes) as all_of
      group by entity_id`;
    const found = new Map(rows.map(({ id, elements }) => [id, elements]));
    const wanted = [...tokens.keys()].filter((id) => !deleted.has(id));
    assert.deepEqual(found, new Map(wanted.map((id) => [id, usersPerDoc + 1])));
  } finally {
    await sql.end();
  }
}

/** The states that were acknowledged are there, too, of before and after each disaster. */
async function assertTokens(client: ApiClient, { tokens }: Story): Promise<void> {
  for (const [id, token] of [...tokens].filter((_, index) => index % 25 === 0)) {
    const question = {
      metadata: { snap_token: token },
      entity: { type: "doc", id },
      permission: "view",
      subject: { type: "user", id: "0" },
    };
    const outcome = await client.call("check", "t1", question);
    assert.ok(outcome.kind === "answer", JSON.stringify(outcome));
    assert.equal(objectOf(outcome.body)["can"], "RESULT_ALLOWED");
  }
}

test("kills, restarts and pauses of Postgres and of Pemba lose, halve and double nothing", async (t) => {
  const database = await startRestartablePostgres(postgresSettings);
  t.after(database.stop);
  const instances = [
    await startInstance(t, database.url),
    await startInstance(t, database.url),
  ] as const;
  const client = restClient(instances[0].url);
  assert.equal((await client.call("schema write", "t1", { schema })).kind, "answer");
  const nothing = { metadata: {}, tuples: [], attributes: [] };
  const start = await client.call("data write", "t1", nothing);
  assert.ok(start.kind === "answer");
  const token = objectOf(start.body)["snap_token"];
  assert.ok(typeof token === "string");

  const story: Story = {
    acknowledged: 0,
    acknowledgedBy: [0, 0],
    repeated: 0,
    unsure: 0,
    isThrough: false,
    isOver: false,
    tokens: new Map(),
    deleted: new Set(),
  };
  const watchers = instances.flatMap(({ url, grpc }) => [
    new Watcher(token, (from, signal) => watchRest(url, from, signal)),
    new Watcher(token, (from, signal) => watchGrpc(grpc, from, signal)),
  ]);
  const writing = instances.flatMap(({ url, grpc }, instance) => {
    const overGrpc = connectGrpc(grpc);
    t.after(() => overGrpc.close());
    return Array.from({ length: writersPerTransport / 2 }, (_, nth) => [
      keepWriting(story, instance, `rest-${instance}-${nth}`, restClient(url)),
      keepWriting(story, instance, `grpc-${instance}-${nth}`, grpcClient(overGrpc)),
    ]).flat();
  });
  const writers = Promise.all(writing);
  const end = async (): Promise<void> => {
    story.isOver = true;
    await Promise.allSettled([...writing, ...watchers.map((watcher) => watcher.end())]);
  };
  t.after(end);
  writers.catch(end);
  for (const strike of disasters(story, database, instances)) {
    if (story.isOver) break;
    const { acknowledged } = story;
    const before = [...story.acknowledgedBy];
    // One that has not come back yet would have nothing under way.
    const allWrite = (): boolean =>
      story.acknowledgedBy.every((count, instance) => count > (before[instance] ?? 0));
    await since(story, () => story.acknowledged > acknowledged + writesBetween && allWrite());
    await strike();
  }
  story.isThrough = true;
  await writers;

  const expected = expectedOf(story);
  await since(story, () => watchers.every(({ delivered }) => delivered.size >= expected.size));
  await Promise.all(watchers.map(async (watcher) => await watcher.end()));
  for (const watcher of watchers) {
    assert.deepEqual(watcher.delivered, expected);
    assertWhole(watcher);
  }
  await assertStored(database.url, story);
  await assertTokens(client, story);
  assert.ok(story.acknowledged >= writesWanted && story.unsure > 0);
  t.diagnostic(
    `${story.acknowledged} acknowledged, ${story.repeated} repeated, ${story.unsure} unsure`,
  );
});

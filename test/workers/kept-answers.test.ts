/**
 * Kept answers of an instance with two workers, each of which has a cache and a tail of its own, beside writers of
 * every kind and while workers are killed. A change that one worker has made must be in the answer of the other at once.
 */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { SnapToken, TenantId } from "../../src/base/tuple.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import type { DataFilters, DataWrite } from "../../src/store/store.ts";
import { type InterfaceScene, openInterface } from "../sql-interface/interface-scene.ts";
import { type KeepingInstance, runWriters } from "../store/answer-writers.ts";
import { parseAsked } from "../store/asked-text.ts";
import { connectGrpc, type GrpcClient } from "../support/grpc.ts";
import { caseCount, seed } from "../support/run-length.ts";
import { hasTwoProcessors, startByTwo, type WorkingInstance } from "./instance.ts";

const skip = hasTwoProcessors ? false : "there is one processor";
const rounds = caseCount({ short: 2, long: 20 });
/** They lead to the workers in turn. */
const connections = 4;

test("no kept answer of two workers is older than its question", { skip }, async (t) => {
  t.diagnostic(`PEMBA_SEED=${seed}`);
  const scene = await openInterface();
  t.after(scene.close);
  const instance = await startByTwo(
    [
      "--log-level=info",
      "--meter-prometheus-enabled",
      "--meter-prometheus-port=0",
      // A worker that is killed leaves all questions to the other one. What it held is lent again a little later.
      "--service-permission-concurrency-limit=100000",
      "--server-tenant-request-limit=100000",
    ],
    { databaseUrl: scene.url },
  );
  const clients = new Clients(instance);
  const over = new AbortController();
  const killing = killWorkers(instance, clients, over.signal);
  const failed = killing.catch(() => undefined);
  try {
    const instances = Array.from({ length: connections }, (_, nth) =>
      keepingConnection(clients, nth, scene),
    );
    const tally = await runWriters({ scene, instances, writers: 4, rounds });
    const hits = await hitsOf(instance);
    assert.ok(
      hits > 0 && tally.allowed > 0 && tally.listed > 0,
      `${hits} kept, ${tally.allowed} allowed, ${tally.listed} listed`,
    );
    tell(t, tally, hits);
  } finally {
    over.abort();
    await failed;
    clients.close();
    await instance.end();
  }
  t.diagnostic(`${await killing} workers killed`);
});

function tell(t: TestContext, tally: Awaited<ReturnType<typeof runWriters>>, hits: number): void {
  t.diagnostic(
    `${tally.compared} answers compared, ${tally.allowed} of them allowed, ${tally.listed} lists with ids, ` +
      `${tally.beside} beside changes, ` +
      `${hits} kept, ${tally.schemas} schemas, ${tally.ended} tenants ended`,
  );
}

interface Connection {
  readonly client: GrpcClient;
  calls: number;
}

/** Connections to the workers. */
class Clients {
  readonly #instance: WorkingInstance;
  #open: readonly Connection[] = [];
  /** Changes through workers. None is under way when one is killed: it might be committed later. */
  readonly #changes = new Set<Promise<unknown>>();
  #pause: Promise<void> | undefined;

  constructor(instance: WorkingInstance) {
    this.#instance = instance;
    this.renew();
  }

  /**
   * Opens new connections, so that they lead to both workers again. The old ones are closed when their calls have
   * ended.
   */
  renew(): void {
    const old = this.#open;
    this.#open = Array.from({ length: connections }, () => ({
      client: connectGrpc(this.#instance.grpc, { isAlone: true }),
      calls: 0,
    }));
    for (const connection of old) this.#closeUnused(connection);
  }

  close(): void {
    for (const { client } of this.#open) client.close();
  }

  #closeUnused(connection: Connection): void {
    if (connection.calls === 0 && !this.#open.includes(connection)) connection.client.close();
  }

  /** Calls by the nth connection, again if it or its worker ends. */
  async call<T>(nth: number, work: (client: GrpcClient) => Promise<T>): Promise<T> {
    for (;;) {
      const connection = this.#open[nth] ?? assert.fail("no connection");
      connection.calls += 1;
      try {
        return await work(connection.client);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        await wait(5);
      } finally {
        connection.calls -= 1;
        this.#closeUnused(connection);
      }
    }
  }

  async change<T>(nth: number, work: (client: GrpcClient) => Promise<T>): Promise<T> {
    while (this.#pause !== undefined) await this.#pause;
    const change = this.call(nth, work);
    this.#changes.add(change);
    try {
      return await change;
    } finally {
      this.#changes.delete(change);
    }
  }

  /** Does something while no change is under way. */
  async betweenChanges(work: () => Promise<void>): Promise<void> {
    this.#pause = Promise.allSettled(this.#changes).then(work);
    await this.#pause;
    this.#pause = undefined;
  }
}

/**
 * The connection ended, or the instance has no worker for it. A call that waited for its place on a connection that
 * ends has no status.
 */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === 14 || error.message.includes("Call ended without gRPC status");
}

/** Kills one worker after another until the signal, and resolves to how many. */
async function killWorkers(
  instance: WorkingInstance,
  clients: Clients,
  signal: AbortSignal,
): Promise<number> {
  let killed = 0;
  const listening = () => instance.log().match(/grpc listens on/g)?.length ?? 0;
  while (!signal.aborted) {
    const workers = await instance.workers();
    const pid = workers[killed % workers.length] ?? assert.fail("no worker");
    const before = listening();
    await clients.betweenChanges(async () => {
      // What it has counted is read now, and lost if not.
      await hitsOf(instance);
      process.kill(pid, "SIGKILL");
      while ((await instance.workers()).includes(pid)) await wait(5);
    });
    killed += 1;
    while (listening() === before) await wait(20);
    clients.renew();
    await wait(1_000, undefined, { signal }).catch(() => undefined);
  }
  return killed;
}

/** How many answers were kept, by all workers together. */
async function hitsOf(instance: WorkingInstance): Promise<number> {
  const address = /metrics are read from ([^\s"]+)/.exec(instance.log())?.[1];
  const text = await (await fetch(`http://${address}/metrics`)).text();
  return Number(/^pemba_answer_cache_hits_total(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1] ?? 0);
}

/** The instance, by one of its connections. */
function keepingConnection(clients: Clients, nth: number, scene: InterfaceScene): KeepingInstance {
  return {
    outcome: async (tenant, asked) => {
      try {
        return await clients.call(nth, async (client) => await outcomeBy(client, tenant, asked));
      } catch (error) {
        return /ERROR_CODE_(\w+)/.exec(String(error))?.[1] ?? assert.fail(String(error));
      }
    },
    changed: {
      data: {
        write: async (tenant, data) =>
          // Of what a writer makes, tuples alone go over the wire.
          data.attributes.length > 0
            ? await scene.store.data.write(tenant, data)
            : await writeBy(clients, nth, tenant, data),
        delete: async (tenant, filters) =>
          filters.attributes !== undefined
            ? await scene.store.data.delete(tenant, filters)
            : await deleteBy(clients, nth, tenant, filters),
      },
      bundles: scene.store.bundles,
    },
  };
}

async function outcomeBy(client: GrpcClient, tenantId: TenantId, asked: string): Promise<string> {
  const { entity, permission, subject } = parseAsked(asked);
  const question = { tenantId, metadata: {}, permission };
  const { check, lookupEntity, lookupSubject } = Permission.method;
  if (entity.id === "") {
    const request = { ...question, entityType: entity.type, subject };
    return (await client.call(lookupEntity, request)).entityIds.join(" ");
  }
  if (subject.id === "") {
    const request = { ...question, entity, subjectReference: subject };
    return (await client.call(lookupSubject, request)).subjectIds.join(" ");
  }
  const { can } = await client.call(check, { ...question, entity, subject });
  return String(can === CheckResult.ALLOWED);
}

async function writeBy(
  clients: Clients,
  nth: number,
  tenantId: TenantId,
  { tuples }: DataWrite,
): Promise<SnapToken> {
  const request = { tenantId, metadata: {}, tuples: [...tuples] };
  const { snapToken } = await clients.change(
    nth,
    async (client) => await client.call(Data.method.write, request),
  );
  return snapToken as SnapToken;
}

async function deleteBy(
  clients: Clients,
  nth: number,
  tenantId: TenantId,
  { tuples }: DataFilters,
): Promise<SnapToken> {
  const { entity, relation, subject } = tuples ?? assert.fail("no tuples");
  const tupleFilter = {
    entity: { type: entity.type, ids: [...entity.ids] },
    relation,
    subject: { type: subject.type, ids: [...subject.ids], relation: subject.relation },
  };
  const { snapToken } = await clients.change(
    nth,
    async (client) =>
      await client.call(Data.method.delete, { tenantId, tupleFilter, attributeFilter: {} }),
  );
  return snapToken as SnapToken;
}

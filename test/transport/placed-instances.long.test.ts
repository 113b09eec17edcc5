/**
 * The suite of behaviour with tenants on clusters: two instances over three databases, as their configuration
 * opens them. Many tenants at once go through each scenario, and each must get the answers of the memory engine.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import type postgres from "postgres";

import { must } from "../../src/base/assert.ts";
import { connect } from "../store/open-write.ts";
import { createMigratedDatabase, type TestDatabase } from "../support/database.ts";
import { connectGrpc, type GrpcClient } from "../support/grpc.ts";
import { type ServedHere, startHere } from "../support/serve-here.ts";
import { type ApiClient, grpcClient, objectOf, protobufForm, restClient } from "./client.ts";
import { scenarios } from "./scenarios.ts";
import { assertAlike, type Line, type Scenario, transcriptOf } from "./transcript.ts";

/** The clusters with their weights. The directory is not the first one. */
const weights = { a: 1, b: 2, c: 3 };
type ClusterName = keyof typeof weights;
const names: readonly ClusterName[] = ["a", "b", "c"];
const directory: ClusterName = "b";

/** So many tenants of each client go through a scenario at once. */
const tenantsOfClient = 2;

describe("tenants on clusters behave as on one engine", () => {
  const databases = new Map<ClusterName, TestDatabase & { readonly sql: postgres.Sql }>();
  const servers: ServedHere[] = [];
  const connections: GrpcClient[] = [];
  /** How many tenants of scenarios each cluster has had. */
  const placed = new Map<string, number>();
  let memory: ApiClient;
  let clients: Readonly<Record<string, ApiClient>>;
  let byTurns: ApiClient;

  before(async () => {
    for (const name of names) {
      const database = await createMigratedDatabase();
      databases.set(name, { ...database, sql: connect(database.url) });
    }
    const common = ["--database-max-data-per-write=20", "--service-watch-enabled"];
    memory = restClient((await serve(...common)).url);
    const clusters = names.map((name) => ({
      name,
      uri: databases.get(name)?.url,
      weight: weights[name],
    }));
    const flags = [
      ...common,
      "--database-engine=postgres",
      `--database-clusters=${JSON.stringify(clusters)}`,
      `--database-directory=${directory}`,
    ];
    const [one, other] = [await serve(...flags), await serve(...flags)];
    const [grpcOfOne, grpcOfOther] = [grpcClient(connected(one)), grpcClient(connected(other))];
    clients = {
      REST: restClient(one.url),
      "REST in protobuf": restClient(other.url, protobufForm),
      gRPC: grpcClient(connected(other)),
      "REST by turns": turning([restClient(other.url), restClient(one.url)]),
    };
    byTurns = turning([grpcOfOne, grpcOfOther]);
  });

  after(async () => {
    for (const connection of connections) connection.close();
    for (const { stop } of servers) stop();
    for (const { finished } of servers) await finished;
    for (const { sql, drop } of databases.values()) {
      await sql.end();
      await drop();
    }
  });

  async function serve(...flags: readonly string[]): Promise<ServedHere> {
    const server = await startHere(flags);
    servers.push(server);
    return server;
  }

  function connected({ grpc }: ServedHere): GrpcClient {
    const connection = connectGrpc(grpc, { isAlone: true });
    connections.push(connection);
    return connection;
  }

  /** The clusters whose databases have the tenant, and the one that the directory names. */
  async function placesOf(tenant: string): Promise<{
    readonly having: readonly string[];
    readonly named: string | undefined;
  }> {
    const having: string[] = [];
    for (const [name, { sql }] of databases) {
      const rows = await sql`select from tenants where id = ${tenant}`;
      if (rows.length > 0) having.push(name);
    }
    const { sql } = must(databases.get(directory), "all databases are made before");
    const [placement] = await sql<{ cluster: string }[]>`
      select cluster from placements where tenant = ${tenant}
    `;
    return { having, named: placement?.cluster };
  }

  /** The scenario, for a tenant that must be on the cluster that its placement names and on no other one. */
  function onItsCluster(scenario: Scenario, cluster?: ClusterName): Scenario {
    return async (caller) => {
      const { having, named } = await placesOf(caller.tenant);
      assert.ok(named !== undefined);
      if (cluster !== undefined) assert.equal(named, cluster);
      placed.set(named, (placed.get(named) ?? 0) + 1);
      await scenario(caller);
      assert.deepEqual(having, [named]);
      assert.deepEqual(await placesOf(caller.tenant), { having, named });
    };
  }

  /** One id, deleted and made anew on each cluster. The other instance knows its former place until then. */
  async function wandering(scenario: Scenario, expected: readonly Line[]): Promise<void> {
    const tenant = `t-${randomUUID()}`;
    for (const cluster of [...names, "a"] as const) {
      const client = placingOn(cluster, tenant, byTurns);
      const lines = await transcriptOf(client, onItsCluster(scenario, cluster), tenant);
      assertAlike(["memory", expected], [`gRPC by turns, made anew on ${cluster}`, lines]);
    }
  }

  for (const [name, scenario] of Object.entries(scenarios)) {
    test(name, async () => {
      const expected = await transcriptOf(memory, scenario);
      const runs = Object.entries(clients).flatMap(([place, client]) =>
        Array.from({ length: tenantsOfClient }, async () => {
          const lines = await transcriptOf(client, onItsCluster(scenario));
          assertAlike(["memory", expected], [place, lines]);
        }),
      );
      await Promise.all([...runs, wandering(scenario, expected)]);
    });
  }

  test("each cluster has had tenants, and none is left", async () => {
    assert.deepEqual([...placed.keys()].toSorted(), names);
    for (const [name, { sql }] of databases) {
      const rows = await sql<{ id: string }[]>`
        select id from tenants union all select tenant from placements
      `;
      // The example tenant is with the directory.
      const expected: readonly string[] = name === directory ? ["t1", "t1"] : [];
      assert.deepEqual(
        rows.map(({ id }) => id),
        expected,
        name,
      );
    }
  });
});

/** Asks each client in turn, as a load balancer before several instances does. */
function turning(clients: readonly ApiClient[]): ApiClient {
  let calls = 0;
  return {
    call: async (...request) => {
      const client = must(clients[calls++ % clients.length], "there are clients");
      return await client.call(...request);
    },
  };
}

/** Has the tenant made on a cluster that is named, and otherwise asks as the client does. */
function placingOn(cluster: string, id: string, client: ApiClient): ApiClient {
  return {
    call: async (name, tenant, request, count) => {
      if (name !== "tenant create" || request["id"] !== id) {
        return await client.call(name, tenant, request, count);
      }
      const outcome = await client.call("tenant place", tenant, { ...request, cluster });
      if (outcome.kind === "error") return outcome;
      const { cluster: _, ...made } = objectOf(objectOf(outcome.body)["tenant"]);
      return { kind: "answer", body: { tenant: made } };
    },
  };
}

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test, type TestContext } from "node:test";

import { status } from "@grpc/grpc-js";
import { pino } from "pino";
import { generate } from "selfsigned";

import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SnapToken, type TenantId } from "../../src/base/tuple.ts";
import { openPeers, ringShapeOf } from "../../src/cli/open-peers.ts";
import { Ring } from "../../src/distributed/ring.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { createHealth } from "../../src/service/health.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import type { CheckQuestion, Store } from "../../src/store/store.ts";
import { tenantWithSchema, write } from "../store/engines.ts";
import { until } from "../store/open-write.ts";
import { freePorts } from "../support/free-ports.ts";
import { configOf } from "../support/given-config.ts";
import { connectGrpc, failure } from "../support/grpc.ts";

/* What the keys under `distributed` do, shown by instances that share one store. */

const checks = 80;
let store: Store;
let tenant: TenantId;
let token: SnapToken;

before(async () => {
  store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
  tenant = await tenantWithSchema(store);
  token = await write(store, tenant, { tuples: ["doc:1#viewer@user:ann"] });
});

after(async () => await store.close());

interface Joined {
  readonly address: string;
  readonly shared: Store;
  readonly asked: CheckQuestion[];
  /** How many instances it knows. */
  readonly members: () => number;
}

/** So many instances with these flags, each at a port of its own. */
async function join(
  t: TestContext,
  count: number,
  flags: readonly string[],
  pair?: { readonly cert: Buffer; readonly key: Buffer },
): Promise<readonly Joined[]> {
  const ports = await freePorts(count);
  const list = ports.map((port) => `127.0.0.1:${port}`).join(",");
  return await Promise.all(
    ports.map(async (port) => {
      const config = configOf({
        args: [
          "--database-engine=postgres",
          "--database-uri=postgres://localhost/pemba",
          "--distributed-enabled",
          `--distributed-address=static:///${list}`,
          `--distributed-port=${port}`,
          ...flags,
        ],
      });
      const asked: CheckQuestion[] = [];
      const own = counting(asked);
      let members = (): number => 0;
      const telemetry: Telemetry = {
        ...noTelemetry,
        observe: (_name, read) => {
          members = () => read()[0]?.value ?? 0;
        },
      };
      const service = {
        store: own,
        health: createHealth(own),
        maxDataPerWrite: 1,
        bulkLimit: 1,
      };
      const joined = openPeers(config, service, {
        instance: randomUUID(),
        certificate: pair && { current: pair, onChange: () => {} },
        logger: pino({ level: "silent" }),
        telemetry,
      });
      assert.ok(joined);
      t.after(() => joined.close());
      await joined.server.listen({ host: "127.0.0.1", port });
      const address = `127.0.0.1:${port}`;
      return {
        address,
        shared: withLayers(own, { forwarding: joined.forwarding }),
        asked,
        members: () => members(),
      };
    }),
  );
}

function counting(asked: CheckQuestion[]): Store {
  return {
    ...store,
    permissions: {
      subjectPermissions: async (...of) => await store.permissions.subjectPermissions(...of),
      expand: async (...of) => await store.permissions.expand(...of),
      explain: async (...of) => await store.permissions.explain(...of),
      check: async (of, question) => {
        asked.push(question);
        return await store.permissions.check(of, question);
      },
    },
  };
}

async function knowing(instances: readonly Joined[], count: number): Promise<void> {
  await until(async () => instances.every(({ members }) => members() === count) || undefined);
}

/** Asks one instance many checks, and tells how many of them each instance worked on. */
async function spread(instances: readonly Joined[]): Promise<readonly number[]> {
  const [first] = instances;
  assert.ok(first);
  for (const { asked } of instances) asked.length = 0;
  for (let nth = 0; nth < checks; nth += 1) {
    await first.shared.permissions.check(tenant, {
      schemaVersion: undefined,
      snapToken: token,
      depth: 100,
      context: emptyContext,
      path: (_item, field) => field,
      items: [
        {
          entity: { type: "doc", id: String(nth) },
          permission: "view",
          subject: { type: "user", id: "ann", relation: "" },
          arguments: [],
        },
      ],
    });
  }
  return instances.map(({ asked }) => asked.length);
}

test("without `distributed.enabled` an instance is alone", () => {
  const config = configOf({});
  const service = { store, health: createHealth(store), maxDataPerWrite: 1, bulkLimit: 1 };
  const logger = pino({ level: "silent" });
  const parts = { instance: "one", certificate: undefined, logger, telemetry: noTelemetry };
  assert.equal(openPeers(config, service, parts), undefined);
});

test("instances at `distributed.address` share checks, of which one part is one instance's", async (t) => {
  const instances = await join(t, 2, []);
  await knowing(instances, 2);
  assert.ok((await spread(instances)).every((count) => count > 0));
  const alone = await join(t, 2, ["--distributed-partition-count=1"]);
  await knowing(alone, 2);
  const counts = await spread(alone);
  assert.ok(counts.includes(checks), `one part has one owner: ${counts.join()}`);
});

test("`distributed.picker_width` sends the checks of a part to several", async (t) => {
  const flags = ["--distributed-partition-count=1", "--distributed-picker-width=2"];
  const instances = await join(t, 2, flags);
  await knowing(instances, 2);
  const counts = await spread(instances);
  assert.ok(
    counts.every((count) => count > 10),
    counts.join(),
  );
});

/** How many of many keys the member with most of them has, of three on a ring as the flags shape it. */
function mostOf(...flags: readonly string[]): number {
  const ring = new Ring(["a:1", "b:2", "c:3"], ringShapeOf(configOf({ args: flags })));
  const counts = new Map<string, number>();
  for (let nth = 0; nth < 3_000; nth += 1) {
    for (const member of ring.membersFor(String(nth), 1)) {
      counts.set(member, (counts.get(member) ?? 0) + 1);
    }
  }
  return Math.max(...counts.values());
}

test("more of `distributed.replication_factor`, or less of `distributed.load`, makes parts even", () => {
  const uneven = mostOf("--distributed-replication-factor=1", "--distributed-load=100");
  const many = mostOf("--distributed-replication-factor=500", "--distributed-load=100");
  const bounded = mostOf("--distributed-replication-factor=1", "--distributed-load=1.01");
  assert.ok(uneven > 1_300, String(uneven));
  assert.ok(many < 1_200, String(many));
  assert.ok(bounded < 1_200, String(bounded));
});

/** How the port of an instance answers who comes with this key: its health, and a check. */
async function answersTo(
  t: TestContext,
  { address }: Joined,
  key: string | undefined,
): Promise<readonly number[]> {
  const identity = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const client = connectGrpc(address, identity);
  t.after(() => client.close());
  const entity = { type: "doc", id: "1" };
  const subject = { type: "user", id: "ann" };
  const check = { tenantId: tenant, metadata: {}, entity, permission: "view", subject };
  const calls = [
    client.call(Health.method.check, {}),
    client.call(Permission.method.check, check),
  ] as const;
  return await Promise.all(
    calls.map(async (call) => {
      const isAnswered = await call.then(
        () => true,
        () => false,
      );
      return isAnswered ? status.OK : (await failure(call)).code;
    }),
  );
}

const refused = [status.UNAUTHENTICATED, status.UNAUTHENTICATED];
const answered = [status.OK, status.OK];

test("with `distributed.preshared.keys` only instances are answered, whether clients need tokens or not", async (t) => {
  for (const authn of [
    [],
    ["--authn-enabled", "--authn-method=preshared", "--authn-preshared-keys=of-clients"],
  ]) {
    const instances = await join(t, 2, ["--distributed-preshared-keys=new,old", ...authn]);
    await knowing(instances, 2);
    assert.ok((await spread(instances)).every((count) => count > 0));
    const [first] = instances;
    assert.ok(first);
    for (const stranger of [undefined, "of-clients", "new,old", "ne"]) {
      assert.deepEqual(await answersTo(t, first, stranger), refused, stranger);
    }
    for (const key of ["new", "old"]) assert.deepEqual(await answersTo(t, first, key), answered);
  }
});

test("without them instances that ask for tokens know each other by `authn.preshared.keys`", async (t) => {
  const scoped = JSON.stringify([{ key: "limited", scopes: ["check"] }]);
  const [instance] = await join(t, 1, [
    "--authn-enabled",
    "--authn-method=preshared",
    "--authn-preshared-keys=full",
    `--authn-preshared-scoped=${scoped}`,
  ]);
  assert.ok(instance);
  for (const stranger of [undefined, "limited", "other"]) {
    assert.deepEqual(await answersTo(t, instance, stranger), refused, stranger);
  }
  assert.deepEqual(await answersTo(t, instance, "full"), answered);
});

test("where no token is asked for and there are no such keys, everybody is answered", async (t) => {
  const [instance] = await join(t, 1, []);
  assert.ok(instance);
  assert.deepEqual(await answersTo(t, instance, undefined), answered);
});

test("`server.name_override` is the name that certificates of instances must be for", async (t) => {
  const made = await generate([{ name: "commonName", value: "pemba.internal" }], {
    keyType: "ec",
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "pemba.internal" }] }],
  });
  const pair = { cert: Buffer.from(made.cert), key: Buffer.from(made.private) };
  const named = await join(t, 2, ["--server-name-override=pemba.internal"], pair);
  await knowing(named, 2);
  const unnamed = await join(t, 2, ["--server-name-override=other.internal"], pair);
  await knowing(unnamed, 0);
});

import { randomUUID } from "node:crypto";
import { createSecureContext } from "node:tls";

import { credentials } from "@grpc/grpc-js";
import { pino } from "pino";

import type { CertificatePair } from "../../src/auth/certificate.ts";
import { presharedKeys } from "../../src/auth/preshared-keys.ts";
import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import { emptyContext, type SnapToken } from "../../src/base/tuple.ts";
import type { PeerTarget } from "../../src/config/peer-target.ts";
import { forwardChecks } from "../../src/distributed/forward-checks.ts";
import { buildPeerServer } from "../../src/distributed/peer-server.ts";
import { Peers } from "../../src/distributed/peers.ts";
import { createHealth, type Health } from "../../src/service/health.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import type { CheckQuestion, Store } from "../../src/store/store.ts";

/** One of several instances over one store, as a process would hold it. */
export interface Instance {
  readonly address: string;
  /** What its clients ask. */
  readonly store: Store;
  readonly health: Health;
  readonly peers: Peers;
  /** The checks that were worked on here. */
  readonly asked: CheckQuestion[];
  readonly warnings: string[];
  /** How often it has resolved the addresses. */
  readonly looks: () => number;
  /** Ends the part that others ask, as if the process were gone. */
  fall(): void;
  close(): void;
}

export interface InstanceOptions {
  /** That it asks others with, and that others have to ask it with. */
  readonly key?: string;
  readonly pair?: CertificatePair;
  /** Before a check is worked on here. */
  readonly delay?: (subject: string) => Promise<void>;
  readonly width?: number;
  readonly telemetry?: Telemetry;
  /** How long others have to answer it, in milliseconds; long enough for a busy machine if absent. */
  readonly patienceMs?: number;
}

/** Whom all instances find, in the order in which they came. */
export class Addresses {
  readonly target: PeerTarget = { kind: "list", addresses: [] };
  readonly list: string[] = [];
  #holding: Promise<void> | undefined;

  readonly resolve = async (): Promise<readonly string[]> => {
    await this.#holding;
    return [...this.list];
  };

  /** No instance looks for others until what it returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#holding = promise;
    return resolve;
  }
}

/** An instance that has joined the others. */
export async function startInstance(
  store: Store,
  addresses: Addresses,
  options: InstanceOptions = {},
): Promise<Instance> {
  const { key, pair, telemetry = noTelemetry, patienceMs = 60_000 } = options;
  const instance = randomUUID();
  const asked: CheckQuestion[] = [];
  const warnings: string[] = [];
  let looks = 0;
  const own: Store = {
    ...store,
    permissions: {
      ...delegates(store),
      check: async (tenant, question) => {
        asked.push(question);
        await options.delay?.(question.items[0]?.subject.id ?? "");
        return await store.permissions.check(tenant, question);
      },
    },
  };
  const health = createHealth(own);
  const server = buildPeerServer({
    service: { store: own, health, maxDataPerWrite: 1_000, bulkLimit: 100 },
    instance,
    authenticator: key === undefined ? undefined : presharedKeys([key]),
    certificate: pair && { current: pair, onChange: () => {} },
    logger: pino({ level: "silent" }),
    telemetry,
  });
  const port = await server.listen({ host: "127.0.0.1", port: 0 });
  const address = `127.0.0.1:${port}`;
  addresses.list.push(address);
  const peers = new Peers({
    target: addresses.target,
    resolve: async () => {
      looks += 1;
      return await addresses.resolve();
    },
    shape: { partitions: 271, points: 20, load: 1.25 },
    width: options.width ?? 1,
    instance,
    credentials: {
      channel: () =>
        pair === undefined
          ? credentials.createInsecure()
          : credentials.createFromSecureContext(
              createSecureContext({ ca: pair.cert, allowPartialTrustChain: true }),
            ),
      serverName: pair && "localhost",
      key,
    },
    warn: (message) => warnings.push(message),
    lookIntervalMs: 50,
  });
  return {
    address,
    store: withLayers(own, {
      forwarding: forwardChecks({
        peers,
        knownHead: (tenant) => store.schemas.knownHead(tenant),
        telemetry,
        patienceMs,
      }),
    }),
    health,
    peers,
    asked,
    warnings,
    looks: () => looks,
    fall: () => server.close(),
    close: () => {
      peers.close();
      server.close();
    },
  };
}

function delegates({ permissions }: Store): Omit<Store["permissions"], "check"> {
  return {
    subjectPermissions: async (tenant, question) =>
      await permissions.subjectPermissions(tenant, question),
    expand: async (tenant, question) => await permissions.expand(tenant, question),
    explain: async (tenant, question) => await permissions.explain(tenant, question),
  };
}

/** Whether a user may view the one document, at a state. */
export function mayView(
  user: string,
  snapToken: SnapToken,
  more: Partial<CheckQuestion> = {},
): CheckQuestion {
  return {
    schemaVersion: undefined,
    snapToken,
    depth: 7,
    context: emptyContext,
    items: [
      {
        entity: { type: "doc", id: "1" },
        permission: "view",
        subject: { type: "user", id: user, relation: "" },
        arguments: [],
      },
    ],
    path: (_item, field) => field,
    ...more,
  };
}

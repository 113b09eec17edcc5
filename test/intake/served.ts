import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";

import { pino } from "pino";

import { type Authenticator, createAdmission } from "../../src/auth/admission.ts";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import type { IntakeLimits, MakeShares } from "../../src/intake/intake.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { limitStreams } from "../../src/store/layer/limit-streams.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import type { Engine, TestApp } from "../support/engines.ts";
import { type GrpcApp, serveGrpc } from "../support/grpc.ts";
import { usualIntake } from "../support/usual-intake.ts";
import { openSession } from "./wire.ts";

/** An instance with limits of intake, over both transports. */
export interface Served {
  readonly app: TestApp;
  readonly url: string;
  readonly grpc: GrpcApp;
  /** Holds up checks of the tenant until it is called. */
  holdChecks(tenant: string): Held;
  /** How many connections of REST are open. */
  connections(): Promise<number>;
  /** A connection of REST, on which a test says each byte. */
  open(): Promise<Socket>;
  /** The same of gRPC. */
  openSession(): Promise<ClientHttp2Session>;
}

export interface Held {
  /** How many are held up. */
  readonly count: number;
  letGo(): void;
}

export const schema =
  "entity user {} entity doc { relation viewer @user permission view = viewer }";

export const check = {
  metadata: {},
  entity: { type: "doc", id: "1" },
  permission: "view",
  subject: { type: "user", id: "ada" },
};

export async function serve(
  t: TestContext,
  engine: Engine,
  limits: Partial<IntakeLimits> & { readonly makeShares?: MakeShares },
  authenticator?: Authenticator,
): Promise<Served> {
  const app = await engine.start();
  const intake = usualIntake(limits);
  const gates = new Map<string, { count: number; readonly gate: PromiseWithResolvers<void> }>();
  const limited = withLayers(app.store, { streams: limitStreams(intake) });
  const { permissions } = limited;
  const service: Service = {
    ...app.service,
    health: createHealth(app.store),
    store: {
      ...limited,
      permissions: {
        ...permissions,
        check: async (tenant, question) => {
          const held = gates.get(tenant);
          if (held !== undefined) {
            held.count += 1;
            await held.gate.promise;
          }
          return await permissions.check(tenant, question);
        },
      },
    },
  };
  const rateLimit = createRateLimit(1_000_000);
  const admission = createAdmission({ rateLimit, intake, authenticator });
  const http = buildHttpServer({ service, admission, logger: pino({ level: "silent" }) });
  const url = await http.listen({ host: "127.0.0.1", port: 0 });
  const grpc = await serveGrpc(service, admission);
  const opened: { destroy(): unknown }[] = [];
  t.after(async () => {
    for (const { gate } of gates.values()) gate.resolve();
    for (const connection of opened) connection.destroy();
    grpc.client.close();
    http.server.closeAllConnections();
    await http.close();
    await grpc.close();
    await app.close();
  });
  return {
    app,
    url,
    grpc,
    holdChecks: (tenant) => {
      const held = { count: 0, gate: Promise.withResolvers<void>() };
      gates.set(tenant, held);
      return {
        get count() {
          return held.count;
        },
        letGo: () => {
          gates.delete(tenant);
          held.gate.resolve();
        },
      };
    },
    connections: async () => {
      const { promise, resolve } = Promise.withResolvers<number>();
      http.server.getConnections((_error, count) => resolve(count));
      return await promise;
    },
    open: async () => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      opened.push(socket);
      socket.on("error", () => undefined);
      await once(socket, "connect");
      return socket;
    },
    openSession: async () => {
      const session = await openSession(grpc.port);
      opened.push(session);
      return session;
    },
  };
}

/** The id in the path of a tenant. */
export function idOf(tenant: string): string {
  return tenant.split("/").at(-1) ?? "";
}

/** A check over REST. */
export async function askRest(
  { url }: Served,
  tenant: string,
  init: Pick<RequestInit, "headers" | "signal"> = {},
): Promise<Response> {
  const body = JSON.stringify(check);
  return await fetch(`${url}${tenant}/permissions/check`, { ...init, method: "POST", body });
}

/** A check over gRPC. */
export async function askGrpc({ grpc }: Served, tenant: string): Promise<unknown> {
  return await grpc.client.call(Permission.method.check, { tenantId: idOf(tenant), ...check });
}

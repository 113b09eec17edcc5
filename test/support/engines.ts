import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { pino } from "pino";

import { noTelemetry, type Telemetry } from "../../src/base/telemetry.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { observeOperations } from "../../src/store/layer/observe-operations.ts";
import { withLayers } from "../../src/store/layer/order.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { createPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { Store } from "../../src/store/store.ts";
import { admitAll } from "./admit-all.ts";
import { createMigratedDatabase } from "./database.ts";
import { areTenantsPlaced, openPlacedDatabases } from "./placed-databases.ts";
import { tokenKey } from "./token-key.ts";
import { usualIntake } from "./usual-intake.ts";

/** An engine that the tests of behaviour run on. */
export interface Engine {
  readonly name: string;
  /** A running app over an empty database; limits are the defaults unless given. */
  start(
    limits?: Partial<Pick<Service, "maxDataPerWrite" | "bulkLimit">>,
    telemetry?: Telemetry,
  ): Promise<TestApp>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** The message of an error body, else "". */
  readonly message: string;
  /** A text of the body, which must have it. */
  text(field: string): string;
}

export interface TestApp {
  readonly app: HttpApp;
  readonly store: Store;
  /** What the app serves, for another transport to serve too. */
  readonly service: Service;
  /** A body that is not text goes as JSON. */
  send(method: string, path: string, body?: unknown, type?: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** A new tenant, with a schema when its text is given: the path of its resources. */
  tenant(schema?: string): Promise<string>;
  close(): Promise<void>;
}

interface OpenStore {
  readonly store: Store;
  readonly drop: () => Promise<void>;
}

const maxSchemaCacheBytes = 10 * 1024 * 1024;
const watch = { readAheadMax: 100 };
const pool = { maxConnections: 4, idleTimeoutMs: 0, maxLifetimeMs: 0, connectTimeoutMs: 0 };

/** Tenants on the clusters a, b and c. */
export const placedEngine: Engine = engine("placed", openPlaced);

export const engines: readonly Engine[] = areTenantsPlaced()
  ? [placedEngine]
  : [engine("memory", openMemory), engine("postgres", openPostgres)];

function engine(name: string, open: (telemetry: Telemetry) => Promise<OpenStore>): Engine {
  return {
    name,
    start: async (limits = {}, telemetry = noTelemetry) => {
      const { store: opened, drop } = await open(telemetry);
      const store = withLayers(opened, { observation: observeOperations(telemetry) });
      const service: Service = {
        store,
        health: createHealth(store),
        maxDataPerWrite: 1_000,
        bulkLimit: 100,
        ...limits,
      };
      const app = buildHttpServer({
        service,
        admission: { ...admitAll, intake: usualIntake(limits) },
        logger: pino({ level: "silent" }),
        telemetry,
      });
      await app.ready();
      return testApp(app, service, drop);
    },
  };
}

async function openMemory(telemetry: Telemetry): Promise<OpenStore> {
  const store = createMemoryStore({ maxSchemaCacheBytes, tokenKey, watch, telemetry });
  return { store, drop: async () => {} };
}

async function openPostgres(telemetry: Telemetry): Promise<OpenStore> {
  const database = await createMigratedDatabase();
  const store = await openDatabase(database.url, telemetry, { tokenKey });
  return { store, drop: database.drop };
}

async function openPlaced(telemetry: Telemetry): Promise<OpenStore> {
  const placed = await openPlacedDatabases(
    3,
    { pool, telemetry },
    async (url, tokens) => await openDatabase(url, telemetry, tokens),
  );
  return { store: placed.store, drop: placed.drop };
}

async function openDatabase(
  url: string,
  telemetry: Telemetry,
  tokens: Pick<PostgresStoreOptions, "tokenKey" | "sharesTokenKey">,
): Promise<Store> {
  return await createPostgresStore({
    url,
    pool,
    autoMigrate: true,
    maxRetries: 10,
    maxSchemaCacheBytes,
    ...tokens,
    watch,
    telemetry,
    warn: () => {},
  });
}

function testApp(app: HttpApp, service: Service, drop: () => Promise<void>): TestApp {
  const { store } = service;
  const send: TestApp["send"] = async (method, path, body, type = "application/json") => {
    const raw = typeof body === "string" || body instanceof Buffer;
    const response = await app.inject({
      method: method as "POST",
      url: path,
      headers: { "content-type": type },
      ...(body !== undefined && { payload: raw ? body : JSON.stringify(body) }),
    });
    return answer(response.statusCode, response.headers, response.body);
  };
  const post: TestApp["post"] = async (path, body) => await send("POST", path, body);
  return {
    app,
    store,
    service,
    send,
    post,
    tenant: async (schema) => {
      const id = `t-${randomUUID()}`;
      const path = `/v1/tenants/${id}`;
      assert.equal((await post("/v1/tenants/create", { id, name: "" })).status, 200);
      if (schema !== undefined) {
        const written = await post(`${path}/schemas/write`, { schema });
        assert.equal(written.status, 200, written.message);
      }
      return path;
    },
    close: async () => {
      await app.close();
      await store.close();
      await drop();
    },
  };
}

function answer(status: number, headers: Answer["headers"], text: string): Answer {
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  const field = (name: string): unknown =>
    typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
  const message = field("message");
  return {
    status,
    headers,
    body,
    message: typeof message === "string" ? message : "",
    text: (name) => {
      const value = field(name);
      return typeof value === "string" ? value : assert.fail(`no text \`${name}\` in ${text}`);
    },
  };
}

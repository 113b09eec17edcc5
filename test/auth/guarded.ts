import { after, before } from "node:test";

import { pino } from "pino";

import type { Admission } from "../../src/auth/admission.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import type { HttpApp } from "../../src/http/app.ts";
import { buildHttpServer } from "../../src/http/server.ts";
import { createHealth } from "../../src/service/health.ts";
import type { Service } from "../../src/service/service.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import { connectGrpc, failure, type GrpcApp, serveGrpc } from "../support/grpc.ts";

/** How a request went: `accepted`, or the code of its error. */
export interface Asked {
  readonly rest: string;
  readonly grpc: string;
}

/** Both transports behind one admission, for the tests of the suite that it is called in. */
export interface Guarded {
  readonly app: () => HttpApp;
  readonly grpc: () => GrpcApp;
  /** One request over each transport, with this header. */
  ask(authorization?: string): Promise<Asked>;
}

export function guardedBy(makeAdmission: () => Admission): Guarded {
  let store: ReturnType<typeof createMemoryStore>;
  let app: HttpApp;
  let grpc: GrpcApp;
  before(async () => {
    store = createMemoryStore({ maxSchemaCacheBytes: 1_000_000 });
    const health = createHealth(store);
    const service: Service = { store, health, maxDataPerWrite: 1_000, bulkLimit: 100 };
    const admission = makeAdmission();
    app = buildHttpServer({ service, admission, logger: pino({ level: "silent" }) });
    grpc = await serveGrpc(service, admission);
  });
  after(async () => {
    await app.close();
    await grpc.close();
    await store.close();
  });
  return {
    app: () => app,
    grpc: () => grpc,
    ask: async (authorization) => ({
      rest: await overRest(app, authorization),
      grpc: await overGrpc(grpc, authorization),
    }),
  };
}

/** The outcome that both transports share. */
export function both(outcome: string): Asked {
  return { rest: outcome, grpc: outcome };
}

async function overRest(app: HttpApp, authorization: string | undefined): Promise<string> {
  const { statusCode, headers, body } = await app.inject({
    method: "POST",
    url: "/v1/tenants/list",
    ...(authorization !== undefined && { headers: { authorization } }),
  });
  if (statusCode === 200) return "accepted";
  const code = codeIn(body);
  const isChallenge = statusCode === 401 && headers["www-authenticate"] === "Bearer";
  return isChallenge ? code : `${statusCode} ${code}`;
}

async function overGrpc(grpc: GrpcApp, authorization: string | undefined): Promise<string> {
  const identity = authorization === undefined ? {} : { authorization };
  const client = connectGrpc(`127.0.0.1:${grpc.port}`, identity);
  try {
    const call = client.call(Tenancy.method.list, {});
    const isAccepted = await call.then(
      () => true,
      () => false,
    );
    if (isAccepted) return "accepted";
    const { code, details } = await failure(call);
    return code === 16 ? codeIn(details) : `${code} ${codeIn(details)}`;
  } finally {
    client.close();
  }
}

function codeIn(text: string): string {
  return /ERROR_CODE_(\w+): /.exec(text)?.[1] ?? text;
}

import { Pool } from "undici";

import { CheckResult, Permission } from "../src/gen/base/v1/permission_pb.ts";
import { connectGrpc, type GrpcClient } from "../test/support/grpc.ts";
import type { Question } from "./data/dataset.ts";
import type { Ask } from "./measure.ts";
import { benchTenant } from "./store.ts";

/** Asks over REST, on connections that stay open. */
export interface RestClient {
  /** The answer's text; throws when the status is not 200. `path` goes on behind the tenant. */
  readonly post: (path: string, body: object) => Promise<string>;
  readonly close: () => Promise<void>;
}

export function connectRest(url: string, connections: number): RestClient {
  const pool = new Pool(url, { connections });
  return {
    post: async (path, body) => {
      const { statusCode, body: answer } = await pool.request({
        method: "POST",
        headers: { "content-type": "application/json" },
        path: `/v1/tenants/${benchTenant}/${path}`,
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      if (statusCode !== 200) throw new Error(`${statusCode} of ${path}: ${text}`);
      return text;
    },
    close: async () => await pool.close(),
  };
}

/** Both clients of one server. */
export interface Clients {
  readonly rest: RestClient;
  readonly grpc: GrpcClient;
  readonly close: () => Promise<void>;
}

export function connectBoth(
  server: { readonly url: string; readonly grpc: string },
  connections: number,
): Clients {
  const rest = connectRest(server.url, connections);
  const grpc = connectGrpc(server.grpc);
  return {
    rest,
    grpc,
    close: async () => {
      await rest.close();
      grpc.close();
    },
  };
}

/** Of which state checks are, and how deep they go: of the present one and the default without. */
interface Pins {
  readonly snapToken?: string;
  readonly depth?: number;
}

export function askRest(client: RestClient, { snapToken, depth }: Pins = {}): Ask {
  const metadata = {
    ...(snapToken !== undefined && { snap_token: snapToken }),
    ...(depth !== undefined && { depth }),
  };
  return async (question) => {
    const answer = await client.post("permissions/check", { ...checkOf(question), metadata });
    return answer.includes('"RESULT_ALLOWED"');
  };
}

/** The same over gRPC. */
export function askGrpc(client: GrpcClient, { snapToken = "", depth = 0 }: Pins = {}): Ask {
  const metadata = { snapToken, depth };
  return async (question) => {
    const request = { tenantId: benchTenant, ...checkOf(question), metadata };
    const { can } = await client.call(Permission.method.check, request);
    return can === CheckResult.ALLOWED;
  };
}

function checkOf({ entity, permission, user }: Question) {
  return { entity, permission, subject: { type: "user", id: user } };
}

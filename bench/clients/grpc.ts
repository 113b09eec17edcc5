import { fromJson, type JsonValue } from "@bufbuild/protobuf";

import type { SnapToken } from "../../src/base/tuple.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import {
  CheckResult,
  Permission,
  PermissionCheckRequestSchema,
} from "../../src/gen/base/v1/permission_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { firstTenant } from "../../test/data/ask-store.ts";
import {
  connectGrpc as connectCalls,
  type GrpcClient,
  type Identity,
} from "../../test/support/grpc.ts";
import { type Client, filterOf, type Pins } from "./client.ts";

const tenantId = firstTenant;

/** Asks over gRPC as the first tenant. `address` is host and port. */
export function connectGrpc(address: string, identity: Identity = {}): Client {
  const grpc = connectCalls(address, identity);
  return {
    check: async ({ entity, permission, user }, pins) => {
      const subject = { type: "user", id: user };
      const request = { tenantId, entity, permission, subject, metadata: metadataOf(pins) };
      const { can } = await grpc.call(Permission.method.check, request);
      return can === CheckResult.ALLOWED;
    },
    lookUp: async (lookup, { limit, ...pins }) => {
      const { permission } = lookup;
      const frame = { tenantId, metadata: metadataOf(pins), permission, pageSize: limit };
      if (lookup.kind === "entities") {
        const { entityType, user } = lookup;
        const request = { ...frame, entityType, subject: { type: "user", id: user } };
        return (await grpc.call(Permission.method.lookupEntity, request)).entityIds;
      }
      const { entity } = lookup;
      const request = { ...frame, entity, subjectReference: { type: "user" } };
      return (await grpc.call(Permission.method.lookupSubject, request)).subjectIds;
    },
    follow: (after, signal) => follow(grpc, after, signal),
    write: async (tuples) => {
      await grpc.call(Data.method.write, { tenantId, metadata: {}, tuples: [...tuples] });
    },
    delete: async (tuple) => {
      const tupleFilter = filterOf(tuple);
      await grpc.call(Data.method.delete, { tenantId, tupleFilter, attributeFilter: {} });
    },
    close: async () => grpc.close(),
  };
}

/**
 * Asks a check that is written as for REST.
 *
 * @param path `TENANT/permissions/check`
 * @returns its result as REST writes it
 */
export async function checkOn(grpc: GrpcClient, path: string, body: object): Promise<string> {
  const [tenant, ...operation] = path.split("/");
  if (operation.join("/") !== "permissions/check") throw new Error(`${path} is no check`);
  const json: JsonValue = JSON.parse(JSON.stringify({ ...body, tenant_id: tenant }));
  const request = fromJson(PermissionCheckRequestSchema, json);
  const { can } = await grpc.call(Permission.method.check, request);
  return JSON.stringify({ can: can === CheckResult.ALLOWED ? "RESULT_ALLOWED" : "RESULT_DENIED" });
}

function metadataOf({ snapToken, depth = 0 }: Pins = {}) {
  return { snapToken: snapToken ?? "", depth };
}

async function* follow(
  grpc: GrpcClient,
  after: SnapToken,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const request = { tenantId, snapToken: after };
  for await (const { changes } of grpc.stream(Watch.method.watch, request, { signal })) {
    yield (changes?.dataChanges ?? []).flatMap(({ type }) =>
      type.case === "tuple" ? [type.value.entity?.id ?? ""] : [],
    );
  }
}

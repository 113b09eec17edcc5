import { must } from "../../src/base/assert.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { CheckResult, Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/pemba/v1/tenancy_pb.ts";
import { type Fact, fact } from "../../test/data/dataset.ts";
import { loadFacts } from "../../test/data/load.ts";
import type { GrpcClient } from "../../test/support/grpc.ts";
import { onServer } from "../server.ts";
import type { BenchCluster } from "./clusters.ts";

const schema = `
entity user {}
entity document {
  relation owner @user
  relation viewer @user
  permission view = owner or viewer
}
`;

/** A tenant whose documents each have one viewer. */
export interface BenchTenant {
  readonly id: string;
  /** Asks about one of its documents, and throws if the answer is wrong. */
  readonly check: () => Promise<void>;
  /** Writes a tuple that was never there. */
  readonly write: () => Promise<void>;
}

let written = 0;

/** Makes a tenant on a cluster with so many documents. */
export async function makeTenant(
  grpc: GrpcClient,
  { name, uri }: BenchCluster,
  { id, documents }: { readonly id: string; readonly documents: number },
): Promise<BenchTenant> {
  await grpc.call(Tenancy.method.create, { id, name: id, cluster: name });
  await grpc.call(Schema.method.write, { tenantId: id, schema });
  const number = await onServer(uri, async (sql) => {
    const [row] = await sql<{ number: string }[]>`
      select number::text as number from tenants where id = ${id}`;
    return must(row, "it was made there").number;
  });
  await loadFacts(uri, number, () => factsOf(documents));
  return {
    id,
    check: async () => {
      const nth = Math.floor(Math.random() * documents);
      const { can } = await grpc.call(Permission.method.check, {
        tenantId: id,
        metadata: { depth: 20 },
        entity: { type: "document", id: `d${nth}` },
        permission: "view",
        subject: { type: "user", id: userOf(nth) },
      });
      if (can !== CheckResult.ALLOWED)
        throw new Error(`wrong answer: ${id} d${nth} is not allowed`);
    },
    write: async () => {
      const tuple = {
        entity: { type: "document", id: `w${++written}` },
        relation: "owner",
        subject: { type: "user", id: "writer" },
      };
      await grpc.call(Data.method.write, { tenantId: id, metadata: {}, tuples: [tuple] });
    },
  };
}

function* factsOf(documents: number): Generator<Fact> {
  for (let nth = 0; nth < documents; nth++) {
    const user = { type: "user", id: userOf(nth) };
    yield fact({ type: "document", id: `d${nth}` }, "viewer", user);
  }
}

function userOf(nth: number): string {
  return `u${nth % 10_000}`;
}

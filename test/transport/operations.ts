import type { DescMessage, DescMethod } from "@bufbuild/protobuf";

import { Bundle } from "../../src/gen/base/v1/bundle_pb.ts";
import { Data } from "../../src/gen/base/v1/data_pb.ts";
import { Permission } from "../../src/gen/base/v1/permission_pb.ts";
import { Schema } from "../../src/gen/base/v1/schema_pb.ts";
import { Tenancy } from "../../src/gen/base/v1/tenancy_pb.ts";
import { Watch } from "../../src/gen/base/v1/watch_pb.ts";
import { Bundle as PembaBundle } from "../../src/gen/pemba/v1/bundle_pb.ts";
import { Data as PembaData } from "../../src/gen/pemba/v1/data_pb.ts";
import { Permission as PembaPermission } from "../../src/gen/pemba/v1/permission_pb.ts";
import { Schema as PembaSchema } from "../../src/gen/pemba/v1/schema_pb.ts";
import { Tenancy as PembaTenancy } from "../../src/gen/pemba/v1/tenancy_pb.ts";

type Rpc = DescMethod & { readonly input: DescMessage; readonly output: DescMessage };

/** One thing that clients can do, and how either transport names it. */
export type Operation = {
  /** The HTTP method and the path; `{tenant}` is where the tenant stands. */
  readonly route: `${"POST" | "PATCH" | "DELETE"} ${string}`;
} & (
  | { readonly kind: "unary"; readonly rpc: Rpc & { readonly methodKind: "unary" } }
  | { readonly kind: "stream"; readonly rpc: Rpc & { readonly methodKind: "server_streaming" } }
);

/** All of them, by the name that scenarios use. */
export const operations = {
  "tenant create": {
    kind: "unary",
    rpc: Tenancy.method.create,
    route: "POST /v1/tenants/create",
  },
  "tenant list": { kind: "unary", rpc: Tenancy.method.list, route: "POST /v1/tenants/list" },
  "tenant place": {
    kind: "unary",
    rpc: PembaTenancy.method.create,
    route: "POST /v1/tenants/place",
  },
  "tenant list placed": {
    kind: "unary",
    rpc: PembaTenancy.method.list,
    route: "POST /v1/tenants/list-placed",
  },
  "tenant delete": {
    kind: "unary",
    rpc: Tenancy.method.delete,
    route: "DELETE /v1/tenants/{tenant}",
  },
  "schema write": of(Schema.method.write, "POST schemas/write"),
  "schema partial write": of(Schema.method.partialWrite, "PATCH schemas/partial-write"),
  "schema change": of(PembaSchema.method.write, "POST schemas/change"),
  "schema activate": of(PembaSchema.method.activate, "POST schemas/activate"),
  "schema read text": of(PembaSchema.method.readText, "POST schemas/read-text"),
  "schema read": of(Schema.method.read, "POST schemas/read"),
  "schema list": of(Schema.method.list, "POST schemas/list"),
  "data write": of(Data.method.write, "POST data/write"),
  "relationships write": of(Data.method.writeRelationships, "POST relationships/write"),
  "relationships read": of(Data.method.readRelationships, "POST data/relationships/read"),
  "attributes read": of(Data.method.readAttributes, "POST data/attributes/read"),
  "data delete": of(Data.method.delete, "POST data/delete"),
  "relationships delete": of(Data.method.deleteRelationships, "POST relationships/delete"),
  "data change": of(PembaData.method.change, "POST data/change"),
  "run bundle": of(Data.method.runBundle, "POST data/run-bundle"),
  "bundle write": of(Bundle.method.write, "POST bundle/write"),
  "bundle read": of(Bundle.method.read, "POST bundle/read"),
  "bundle list": of(PembaBundle.method.list, "POST bundle/list"),
  "bundle delete": of(Bundle.method.delete, "POST bundle/delete"),
  check: of(Permission.method.check, "POST permissions/check"),
  "bulk check": of(Permission.method.bulkCheck, "POST permissions/bulk-check"),
  expand: of(Permission.method.expand, "POST permissions/expand"),
  explain: of(PembaPermission.method.explain, "POST permissions/explain"),
  "subject permission": of(
    Permission.method.subjectPermission,
    "POST permissions/subject-permission",
  ),
  "lookup entity": of(Permission.method.lookupEntity, "POST permissions/lookup-entity"),
  "lookup entity stream": {
    kind: "stream",
    rpc: Permission.method.lookupEntityStream,
    route: "POST /v1/tenants/{tenant}/permissions/lookup-entity-stream",
  },
  watch: {
    kind: "stream",
    rpc: Watch.method.watch,
    route: "POST /v1/tenants/{tenant}/watch",
  },
  "lookup subject": of(Permission.method.lookupSubject, "POST permissions/lookup-subject"),
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

/** An operation on a tenant, by the path behind that. */
function of<R extends Rpc & { readonly methodKind: "unary" }>(
  rpc: R,
  route: `${"POST" | "PATCH"} ${string}`,
): Operation & { readonly kind: "unary" } {
  const [verb, path] = route.split(" ");
  return {
    kind: "unary",
    rpc,
    route: `${verb === "PATCH" ? "PATCH" : "POST"} /v1/tenants/{tenant}/${path}`,
  };
}

import type { DescMethod, DescService } from "@bufbuild/protobuf";

import { Bundle } from "../gen/base/v1/bundle_pb.ts";
import { Data } from "../gen/base/v1/data_pb.ts";
import { Permission } from "../gen/base/v1/permission_pb.ts";
import { Schema } from "../gen/base/v1/schema_pb.ts";
import { Tenancy } from "../gen/base/v1/tenancy_pb.ts";
import { Watch } from "../gen/base/v1/watch_pb.ts";
import { Bundle as PembaBundle } from "../gen/pemba/v1/bundle_pb.ts";
import { Data as PembaData } from "../gen/pemba/v1/data_pb.ts";
import { Permission as PembaPermission } from "../gen/pemba/v1/permission_pb.ts";
import { Schema as PembaSchema } from "../gen/pemba/v1/schema_pb.ts";
import { Tenancy as PembaTenancy } from "../gen/pemba/v1/tenancy_pb.ts";

interface NamedService {
  readonly service: DescService;
  /** The first word of the names of its operations, as in REST paths. */
  readonly group: string;
}

/** A new service is added here, and its methods in `methods/`. */
const named: readonly NamedService[] = [
  { service: Permission, group: "permissions" },
  { service: PembaPermission, group: "permissions" },
  { service: Schema, group: "schemas" },
  { service: PembaSchema, group: "schemas" },
  { service: Data, group: "data" },
  { service: PembaData, group: "data" },
  { service: Bundle, group: "bundle" },
  { service: PembaBundle, group: "bundle" },
  { service: Tenancy, group: "tenants" },
  { service: PembaTenancy, group: "tenants" },
  { service: Watch, group: "watch" },
];

/** Methods whose operation is not named by group and method. */
const otherNames: readonly (readonly [DescMethod, string])[] = [
  [Data.method.writeRelationships, "relationships.write"],
  [Data.method.deleteRelationships, "relationships.delete"],
  [Data.method.readRelationships, "data.relationships.read"],
  [Data.method.readAttributes, "data.attributes.read"],
  [Watch.method.watch, "watch"],
  [PembaSchema.method.write, "schemas.change"],
  [PembaTenancy.method.create, "tenants.place"],
  [PembaTenancy.method.list, "tenants.list-placed"],
];

/** The services of the API. */
export const apiServices: readonly DescService[] = named.map(({ service }) => service);

/** The name of the operation of each method in all transports, such as `permissions.check`. */
export const operationNames: ReadonlyMap<DescMethod, string> = new Map([
  ...named.flatMap(({ service, group }) =>
    service.methods.map((method) => [method, `${group}.${kebab(method.name)}`] as const),
  ),
  ...otherNames,
]);

function kebab(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
}

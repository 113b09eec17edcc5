import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

import { Tenancy, type TenantSchema } from "../../gen/base/v1/tenancy_pb.ts";
import {
  Tenancy as PembaTenancy,
  type TenantSchema as PlacedTenantSchema,
} from "../../gen/pemba/v1/tenancy_pb.ts";
import type { Service } from "../../service/service.ts";
import { createTenant, deleteTenant, listTenants } from "../../service/tenants.ts";
import type { Tenant } from "../../store/store.ts";
import { type MessageMethod, unary } from "../method.ts";
import { decodePage } from "../request.ts";

export function tenancyMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Tenancy.method.create, async ({ id, name }) => ({
      tenant: encodeTenant(await createTenant(service, { id, name })),
    })),
    unary(PembaTenancy.method.create, async ({ id, name, cluster }) => ({
      tenant: encodePlacedTenant(await createTenant(service, { id, name, cluster })),
    })),
    unary(Tenancy.method.delete, async ({ id }) => ({
      tenantId: await deleteTenant(service, { id }),
    })),
    unary(Tenancy.method.list, async (request, { credential }) => {
      const { tenants, continuousToken } = await listTenants(service, {
        ...decodePage(request),
        among: credential.tenants,
      });
      return { tenants: tenants.map(encodeTenant), continuousToken };
    }),
    unary(PembaTenancy.method.list, async (request, { credential }) => {
      const { tenants, continuousToken } = await listTenants(service, {
        ...decodePage(request),
        among: credential.tenants,
      });
      return { tenants: tenants.map(encodePlacedTenant), continuousToken };
    }),
  ];
}

function encodeTenant({ id, name, createdAt }: Tenant): MessageInitShape<typeof TenantSchema> {
  return { id, name, createdAt: timestampFromDate(createdAt) };
}

function encodePlacedTenant({
  id,
  name,
  createdAt,
  cluster = "",
}: Tenant): MessageInitShape<typeof PlacedTenantSchema> {
  return { id, name, createdAt: timestampFromDate(createdAt), cluster };
}

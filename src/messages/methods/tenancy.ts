import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";

import { Tenancy, type TenantSchema } from "../../gen/base/v1/tenancy_pb.ts";
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
  ];
}

function encodeTenant({ id, name, createdAt }: Tenant): MessageInitShape<typeof TenantSchema> {
  return { id, name, createdAt: timestampFromDate(createdAt) };
}

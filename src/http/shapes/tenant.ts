import { type Static, Type } from "typebox";

import { newTenantPattern } from "../../base/tuple.ts";
import { maxTenantBytes } from "../../service/field.ts";
import type { Tenant } from "../../store/store.ts";
import { nextPage, timeAnswer } from "./answer.ts";
import { textField } from "./field.ts";
import { textRule } from "./value-fields.ts";

export const createTenantBody = Type.Object({
  id: textField({
    description: "The id of the tenant in requests; unique.",
    required: true,
    pattern: newTenantPattern,
  }),
  name: textField({
    description: `A name for people, which may be empty; at most ${maxTenantBytes} bytes.`,
    required: true,
    ...textRule,
    maxLength: maxTenantBytes,
  }),
});

const tenantAnswer = Type.Object(
  { id: Type.String(), name: Type.String(), created_at: timeAnswer },
  { about: { component: "Tenant" } },
);

export const placeTenantBody = Type.Object({
  ...createTenantBody.properties,
  cluster: textField({
    description:
      "The name of the cluster that gets the tenant, one of `database.clusters` of the server. The server chooses one if it is empty.",
  }),
});

export const createTenantAnswer = Type.Object({ tenant: tenantAnswer });

export const listTenantsAnswer = Type.Object({
  tenants: Type.Array(tenantAnswer),
  continuous_token: nextPage,
});

const placedTenantAnswer = Type.Object(
  { ...tenantAnswer.properties, cluster: Type.String() },
  { about: { component: "PlacedTenant" } },
);

export const placeTenantAnswer = Type.Object({ tenant: placedTenantAnswer });

export const listPlacedTenantsAnswer = Type.Object({
  tenants: Type.Array(placedTenantAnswer),
  continuous_token: nextPage,
});

export const deleteTenantAnswer = Type.Object({ tenant_id: Type.String() });

export function encodeTenant(tenant: Tenant): Static<typeof tenantAnswer> {
  return { id: tenant.id, name: tenant.name, created_at: tenant.createdAt.toISOString() };
}

export function encodePlacedTenant(tenant: Tenant): Static<typeof placedTenantAnswer> {
  return { ...encodeTenant(tenant), cluster: tenant.cluster ?? "" };
}

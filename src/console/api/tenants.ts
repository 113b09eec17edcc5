import type { Static } from "typebox";

import type { createTenantAnswer, listPlacedTenantsAnswer } from "../../http/shapes/tenant.ts";
import { send } from "./send.ts";

export type TenantPage = Static<typeof listPlacedTenantsAnswer>;

type CreatedTenant = Static<typeof createTenantAnswer>["tenant"];

/** A tenant with its cluster, which is empty on a server with one database. */
export type ListedTenant = TenantPage["tenants"][number];

const pageSize = 100;

/** A page of the tenants that the token may see. */
export async function listTenants(after: string, signal?: AbortSignal): Promise<TenantPage> {
  const body = { page_size: pageSize, continuous_token: after };
  return await send({ method: "POST", path: "v1/tenants/list-placed", body, signal });
}

export async function createTenant(id: string, name: string): Promise<CreatedTenant> {
  const answer = await send<Static<typeof createTenantAnswer>>({
    method: "POST",
    path: "v1/tenants/create",
    body: { id, name },
  });
  return answer.tenant;
}

/** Deletes a tenant with all that it holds. */
export async function deleteTenant(id: string): Promise<void> {
  await send({ method: "DELETE", path: `v1/tenants/${encodeURIComponent(id)}` });
}

import { type Static, Type } from "typebox";

import { createTenant } from "../../service/create-tenant.ts";
import { deleteTenant } from "../../service/delete-tenant.ts";
import { listTenants } from "../../service/list-tenants.ts";
import type { Service } from "../../service/service.ts";
import type { HttpApp } from "../app.ts";
import { decodePage, pageBody } from "../shapes/page.ts";
import { createTenantBody, encodeTenant } from "../shapes/tenant.ts";

export function tenantRoutes(app: HttpApp, service: Service): void {
  app.post("/v1/tenants/create", { schema: { body: createTenantBody } }, async ({ body }) => ({
    tenant: encodeTenant(await createTenant(service, body)),
  }));

  app.post("/v1/tenants/list", { schema: { body: pageBody } }, async ({ body }) =>
    listAnswer(service, body),
  );

  app.get(
    "/v1/tenants/list",
    // The HEAD route that would come along cannot have a body.
    { schema: { body: pageBody, querystring: pageBody }, exposeHeadRoute: false },
    async ({ body, query }) => listAnswer(service, { ...query, ...body }),
  );

  app.delete(
    "/v1/tenants/:id",
    { schema: { params: Type.Object({ id: Type.String() }) } },
    async ({ params }) => ({ tenant_id: await deleteTenant(service, { id: params.id }) }),
  );
}

async function listAnswer(service: Service, page: Static<typeof pageBody>): Promise<object> {
  const { tenants, continuousToken } = await listTenants(service, decodePage(page));
  return { tenants: tenants.map(encodeTenant), continuous_token: continuousToken };
}

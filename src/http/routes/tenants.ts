import { type Static, Type } from "typebox";

import { createTenant } from "../../service/create-tenant.ts";
import { deleteTenant } from "../../service/delete-tenant.ts";
import { listTenants } from "../../service/list-tenants.ts";
import type { Service } from "../../service/service.ts";
import { type HttpApp, tenantId } from "../app.ts";
import { decodePage, pageBody } from "../shapes/page.ts";
import {
  createTenantAnswer,
  createTenantBody,
  deleteTenantAnswer,
  encodeTenant,
  listTenantsAnswer,
} from "../shapes/tenant.ts";

export function tenantRoutes(app: HttpApp, service: Service): void {
  app.post(
    "/v1/tenants/create",
    { schema: { body: createTenantBody, response: { 200: createTenantAnswer } } },
    async ({ body }) => ({
      tenant: encodeTenant(await createTenant(service, body)),
    }),
  );

  app.post(
    "/v1/tenants/list",
    { schema: { body: pageBody, response: { 200: listTenantsAnswer } } },
    async ({ body }) => listAnswer(service, body),
  );

  app.get(
    "/v1/tenants/list",
    // The HEAD route that would come along cannot have a body.
    {
      schema: { body: pageBody, querystring: pageBody, response: { 200: listTenantsAnswer } },
      exposeHeadRoute: false,
    },
    async ({ body, query }) => listAnswer(service, { ...query, ...body }),
  );

  app.delete(
    "/v1/tenants/:id",
    {
      schema: {
        params: Type.Object({ id: tenantId }),
        response: { 200: deleteTenantAnswer },
      },
    },
    async ({ params }) => ({ tenant_id: await deleteTenant(service, { id: params.id }) }),
  );
}

async function listAnswer(
  service: Service,
  page: Static<typeof pageBody>,
): Promise<Static<typeof listTenantsAnswer>> {
  const { tenants, continuousToken } = await listTenants(service, decodePage(page));
  return { tenants: tenants.map(encodeTenant), continuous_token: continuousToken };
}

import { type Static, Type } from "typebox";

import { type Credential, permitTenant } from "../../auth/credential.ts";
import type { Service } from "../../service/service.ts";
import { createTenant, deleteTenant, listTenants } from "../../service/tenants.ts";
import { type HttpApp, tenantId } from "../app.ts";
import {
  createTenantAnswer,
  createTenantBody,
  deleteTenantAnswer,
  encodePlacedTenant,
  encodeTenant,
  listPlacedTenantsAnswer,
  listTenantsAnswer,
  placeTenantAnswer,
  placeTenantBody,
} from "../shapes/tenant.ts";
import { decodePage, pageBody } from "../shapes/value-fields.ts";

export function tenantRoutes(app: HttpApp, service: Service): void {
  app.post(
    "/v1/tenants/create",
    { schema: { body: createTenantBody, response: { 200: createTenantAnswer } } },
    async ({ body, credential }) => {
      // A missing field gets its own error.
      if (credential !== null && body.id) permitTenant(credential, body.id);
      const { id, name } = body;
      return { tenant: encodeTenant(await createTenant(service, { id, name })) };
    },
  );

  app.post(
    "/v1/tenants/place",
    { schema: { body: placeTenantBody, response: { 200: placeTenantAnswer } } },
    async ({ body, credential }) => {
      if (credential !== null && body.id) permitTenant(credential, body.id);
      return { tenant: encodePlacedTenant(await createTenant(service, body)) };
    },
  );

  app.post(
    "/v1/tenants/list",
    { schema: { body: pageBody, response: { 200: listTenantsAnswer } } },
    async ({ body, credential }) => listAnswer(service, body, credential),
  );

  app.get(
    "/v1/tenants/list",
    // No HEAD route, because it would have no body.
    {
      schema: { body: pageBody, querystring: pageBody, response: { 200: listTenantsAnswer } },
      exposeHeadRoute: false,
    },
    async ({ body, query, credential }) => listAnswer(service, { ...query, ...body }, credential),
  );

  app.post(
    "/v1/tenants/list-placed",
    { schema: { body: pageBody, response: { 200: listPlacedTenantsAnswer } } },
    async ({ body, credential }) => {
      const { tenants, continuousToken } = await listPage(service, body, credential);
      return { tenants: tenants.map(encodePlacedTenant), continuous_token: continuousToken };
    },
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
  credential: Credential | null,
): Promise<Static<typeof listTenantsAnswer>> {
  const { tenants, continuousToken } = await listPage(service, page, credential);
  return { tenants: tenants.map(encodeTenant), continuous_token: continuousToken };
}

async function listPage(
  service: Service,
  page: Static<typeof pageBody>,
  credential: Credential | null,
): ReturnType<typeof listTenants> {
  return await listTenants(service, { ...decodePage(page), among: credential?.tenants });
}

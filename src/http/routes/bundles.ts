import { deleteBundle } from "../../service/delete-bundle.ts";
import { readBundle } from "../../service/read-bundle.ts";
import { runBundle } from "../../service/run-bundle.ts";
import type { Service } from "../../service/service.ts";
import { writeBundles } from "../../service/write-bundles.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import {
  decodeBundle,
  encodeBundle,
  namedBundleBody,
  runBundleBody,
  writeBundlesBody,
} from "../shapes/bundle.ts";

export function bundleRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/bundle/write`,
    { schema: { params: tenantParams, body: writeBundlesBody } },
    async ({ params, body }) => ({
      names: await writeBundles(service, {
        tenantId: params.tenant_id,
        bundles: body.bundles?.map(decodeBundle),
      }),
    }),
  );

  app.post(
    `${tenantPath}/bundle/read`,
    { schema: { params: tenantParams, body: namedBundleBody } },
    async ({ params, body }) => ({
      bundle: encodeBundle(
        await readBundle(service, { tenantId: params.tenant_id, name: body.name }),
      ),
    }),
  );

  app.post(
    `${tenantPath}/bundle/delete`,
    { schema: { params: tenantParams, body: namedBundleBody } },
    async ({ params, body }) => ({
      name: await deleteBundle(service, { tenantId: params.tenant_id, name: body.name }),
    }),
  );

  app.post(
    `${tenantPath}/data/run-bundle`,
    { schema: { params: tenantParams, body: runBundleBody } },
    async ({ params, body }) => ({
      snap_token: await runBundle(service, {
        tenantId: params.tenant_id,
        name: body.name,
        arguments: body.arguments,
      }),
    }),
  );
}

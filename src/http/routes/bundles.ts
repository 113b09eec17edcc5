import { deleteBundle, listBundles, readBundle, writeBundles } from "../../service/bundles.ts";
import { runBundle } from "../../service/run-bundle.ts";
import type { Service } from "../../service/service.ts";
import { type HttpApp, tenantParams, tenantPath } from "../app.ts";
import { snapTokenAnswer } from "../shapes/answer.ts";
import {
  decodeBundle,
  deleteBundleAnswer,
  encodeBundle,
  listBundlesAnswer,
  namedBundleBody,
  readBundleAnswer,
  runBundleBody,
  writeBundlesAnswer,
  writeBundlesBody,
} from "../shapes/bundle.ts";
import { decodePage, pageBody } from "../shapes/value-fields.ts";

export function bundleRoutes(app: HttpApp, service: Service): void {
  app.post(
    `${tenantPath}/bundle/write`,
    {
      schema: {
        params: tenantParams,
        body: writeBundlesBody,
        response: { 200: writeBundlesAnswer },
      },
    },
    async ({ params, body }) => ({
      names: await writeBundles(service, {
        tenantId: params.tenant_id,
        bundles: body.bundles?.map(decodeBundle),
      }),
    }),
  );

  app.post(
    `${tenantPath}/bundle/read`,
    {
      schema: { params: tenantParams, body: namedBundleBody, response: { 200: readBundleAnswer } },
    },
    async ({ params, body }) => ({
      bundle: encodeBundle(
        await readBundle(service, { tenantId: params.tenant_id, name: body.name }),
      ),
    }),
  );

  app.post(
    `${tenantPath}/bundle/list`,
    { schema: { params: tenantParams, body: pageBody, response: { 200: listBundlesAnswer } } },
    async ({ params, body }) => {
      const page = await listBundles(service, { tenantId: params.tenant_id, ...decodePage(body) });
      return { names: page.names, continuous_token: page.continuousToken };
    },
  );

  app.post(
    `${tenantPath}/bundle/delete`,
    {
      schema: {
        params: tenantParams,
        body: namedBundleBody,
        response: { 200: deleteBundleAnswer },
      },
    },
    async ({ params, body }) => ({
      name: await deleteBundle(service, { tenantId: params.tenant_id, name: body.name }),
    }),
  );

  app.post(
    `${tenantPath}/data/run-bundle`,
    { schema: { params: tenantParams, body: runBundleBody, response: { 200: snapTokenAnswer } } },
    async ({ params, body }) => ({
      snap_token: await runBundle(service, {
        tenantId: params.tenant_id,
        name: body.name,
        arguments: body.arguments,
      }),
    }),
  );
}

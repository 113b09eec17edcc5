import type { MessageInitShape } from "@bufbuild/protobuf";

import { Bundle, type DataBundleSchema } from "../../gen/base/v1/bundle_pb.ts";
import { Bundle as PembaBundle } from "../../gen/pemba/v1/bundle_pb.ts";
import { deleteBundle, listBundles, readBundle, writeBundles } from "../../service/bundles.ts";
import type { Service } from "../../service/service.ts";
import type { Bundle as StoredBundle } from "../../store/bundle.ts";
import { type MessageMethod, unary } from "../method.ts";
import { decodePage } from "../request.ts";

export function bundleMethods(service: Service): readonly MessageMethod[] {
  return [
    unary(Bundle.method.write, async ({ tenantId, bundles }) => ({
      names: [...(await writeBundles(service, { tenantId, bundles }))],
    })),
    unary(Bundle.method.read, async ({ tenantId, name }) => ({
      bundle: encodeBundle(await readBundle(service, { tenantId, name })),
    })),
    unary(PembaBundle.method.list, async (request) => {
      const { tenantId } = request;
      const page = await listBundles(service, { tenantId, ...decodePage(request) });
      return { names: [...page.names], continuousToken: page.continuousToken };
    }),
    unary(Bundle.method.delete, async ({ tenantId, name }) => ({
      name: await deleteBundle(service, { tenantId, name }),
    })),
  ];
}

function encodeBundle(bundle: StoredBundle): MessageInitShape<typeof DataBundleSchema> {
  return {
    name: bundle.name,
    arguments: [...bundle.arguments],
    operations: bundle.operations.map((operation) => ({
      relationshipsWrite: [...operation.relationshipsWrite],
      relationshipsDelete: [...operation.relationshipsDelete],
      attributesWrite: [...operation.attributesWrite],
      attributesDelete: [...operation.attributesDelete],
    })),
  };
}

import type { Static } from "typebox";

import type { schemaVersionAnswer } from "../../http/shapes/answer.ts";
import type { listSchemasAnswer, schemaTextAnswer } from "../../http/shapes/schema.ts";
import { send, tenantPath } from "./send.ts";

export type SchemaText = Static<typeof schemaTextAnswer>;

/** The text of a version. Empty: of the head. */
export async function readSchemaText(
  tenant: string,
  version: string,
  signal?: AbortSignal,
): Promise<SchemaText> {
  return await send({
    method: "POST",
    path: tenantPath(tenant, "schemas/read-text"),
    body: { schema_version: version },
    signal,
  });
}

/** Makes the text the head, if the head is the expected one. Returns the new version. */
export async function changeSchema(
  tenant: string,
  change: { readonly expectedHead: string; readonly schema: string },
): Promise<string> {
  const answer = await send<Static<typeof schemaVersionAnswer>>({
    method: "POST",
    path: tenantPath(tenant, "schemas/change"),
    body: { expected_head: change.expectedHead, schema: change.schema },
  });
  return answer.schema_version;
}

/** A page of the versions, newest first. */
export async function listSchemas(
  tenant: string,
  page: { readonly after: string; readonly pageSize: number },
  signal?: AbortSignal,
): Promise<Static<typeof listSchemasAnswer>> {
  const body = { page_size: page.pageSize, continuous_token: page.after };
  return await send({ method: "POST", path: tenantPath(tenant, "schemas/list"), body, signal });
}

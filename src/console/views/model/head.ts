import { listSchemas, readSchemaText } from "../../api/schemas.ts";

/** The newest schema of a tenant. */
export interface SchemaHead {
  /** Empty: the tenant has no schema yet. */
  readonly version: string;
  readonly text: string;
}

/** Reads the head. A tenant without a schema has an empty one. */
export async function readHead(tenant: string, signal?: AbortSignal): Promise<SchemaHead> {
  const { head } = await listSchemas(tenant, { after: "", pageSize: 1 }, signal);
  if (head === "") return { version: "", text: "" };
  const { schema } = await readSchemaText(tenant, head, signal);
  // As the editor has it.
  return { version: head, text: schema.replaceAll(/\r\n?/g, "\n") };
}

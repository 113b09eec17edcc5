import { randomUUID } from "node:crypto";

/** A server that a test has started. */
export interface TestServer {
  readonly restUrl: string;
  /** Sent with each request. Undefined if the server asks for none. */
  readonly token: string | undefined;
}

/**
 * Makes a tenant that no other test has, with this schema, and resolves to its id. Fails with the answer of
 * the server if it refuses the schema.
 */
export async function createTestTenant(
  server: TestServer,
  schema: string | undefined,
): Promise<string> {
  const id = `test-${randomUUID()}`;
  await post(server, "/v1/tenants/create", { id, name: id });
  if (schema !== undefined) await post(server, `/v1/tenants/${id}/schemas/write`, { schema });
  return id;
}

async function post({ restUrl, token }: TestServer, path: string, body: object): Promise<void> {
  const answer = await fetch(restUrl + path, {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
}

import type { Static, TSchema } from "typebox";

import { askServer } from "./ask.ts";
import { fieldOf } from "./fields.ts";
import { type Server, tenantPath } from "./send.ts";

/**
 * The pages of a list or of a lookup of a tenant, until there are no more. Each is asked when it is
 * taken. Fails with ServerRefusal.
 */
export function pagesOf<Shape extends TSchema>(
  server: Server,
  rest: string,
  request: { readonly body: object; readonly answer: Shape },
): AsyncGenerator<Static<Shape>> {
  return pathPagesOf(server, tenantPath(server, rest), request);
}

/** The same by the whole path. */
export async function* pathPagesOf<Shape extends TSchema>(
  server: Server,
  path: string,
  request: { readonly body: object; readonly answer: Shape },
): AsyncGenerator<Static<Shape>> {
  let next: unknown = "";
  do {
    const body = { ...request.body, ...(next !== "" && { continuous_token: next }) };
    const page = await askServer(server, { method: "POST", path, body, answer: request.answer });
    yield page;
    next = fieldOf(page, "continuous_token") ?? "";
  } while (next !== "");
}

import type { Static, TSchema } from "typebox";

import { suggest } from "../../base/suggest.ts";
import { askTenant, ServerRefusal } from "../client/ask.ts";
import { pagesOf } from "../client/pages.ts";
import type { Server } from "../client/send.ts";
import { ListBundlesAnswer } from "./bundle-answer.ts";

/** Asks about the bundle of that name. Fails with ServerRefusal, which suggests a name if there is no such bundle. */
export async function askBundle<Shape extends TSchema>(
  server: Server,
  rest: string,
  request: {
    readonly body: { readonly name: string; readonly arguments?: object };
    readonly answer: Shape;
  },
): Promise<Static<Shape>> {
  try {
    return await askTenant(server, rest, request);
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.code !== "BUNDLE_NOT_FOUND") throw error;
    throw new ServerRefusal(`${error.message}${await meantBundle(server, request.body.name)}`);
  }
}

/** The names of the first page are enough for a hint. */
async function meantBundle(server: Server, name: string): Promise<string> {
  const request = { body: { page_size: 1_000 }, answer: ListBundlesAnswer };
  try {
    for await (const { names } of pagesOf(server, "bundle/list", request)) {
      const meant = suggest(name, names);
      return meant === "" ? ": `pemba bundle list` shows those that there are" : meant;
    }
  } catch (error) {
    // The token may not list them, for example.
    if (!(error instanceof ServerRefusal)) throw error;
  }
  return "";
}

import type { FastifyInstance } from "fastify";

import { readDocumentPage } from "../data/document.ts";
import { type Order, orders, readListPage } from "../data/list.ts";
import { documentPage } from "../pages/document.ts";
import { listPage } from "../pages/list.ts";
import type { Parts } from "../parts.ts";
import { Problem } from "../problem.ts";
import { documentId, readPlace } from "../web/place.ts";
import { sendPage } from "../web/send-page.ts";
import { signedInUser } from "../web/session.ts";

const pageSize = 20;

/** What the address of the list may say. The framework answers 400 for anything else. */
interface ListAddress {
  readonly search: string;
  readonly order: Order;
  readonly after?: string;
}

const listAddress = {
  type: "object",
  properties: {
    search: { type: "string", maxLength: 200, pattern: "^[^\\0]*$", default: "" },
    order: { type: "string", enum: orders, default: "newest" },
    after: { type: "string", maxLength: 2_000 },
  },
};

/** What only reads: `GET /` and `GET /documents/ID`. Each page is one statement. */
export function pageRoutes(application: FastifyInstance, { database }: Parts): void {
  application.get<{ Querystring: ListAddress }>(
    "/",
    { schema: { querystring: listAddress } },
    async (request, reply) => {
      const user = signedInUser(request);
      if (user === undefined) return reply.redirect("/sign-in", 303);
      const { search, order, after } = request.query;
      const place = after === undefined ? undefined : readPlace(order, after);
      const query = { search, order, after: place, size: pageSize };
      const page = await readListPage(database, user, query);
      if (page === undefined) return reply.redirect("/sign-in", 303);
      return sendPage(reply, listPage(page, query));
    },
  );
  application.get<{ Params: { readonly id: string } }>("/documents/:id", async (request, reply) => {
    const user = signedInUser(request);
    if (user === undefined) return reply.redirect("/sign-in", 303);
    const page = await readDocumentPage(database, user, documentId(request.params.id));
    if (page === undefined) return reply.redirect("/sign-in", 303);
    // A document that the user may not view is not told apart from one that does not exist.
    if (page.document === null) throw new Problem(404, "There is no such document.");
    return sendPage(reply, documentPage(page.userName, page.document));
  });
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { readSharing, renameDocument } from "../data/document.ts";
import type { Tuple } from "../data/pemba.ts";
import type { Parts } from "../parts.ts";
import { Problem } from "../problem.ts";
import { formField } from "../web/form.ts";
import { documentId } from "../web/place.ts";
import { signedInUser } from "../web/session.ts";

/** A request that names a document in its path. */
interface OfDocument {
  Params: { readonly id: string };
}

/** What changes a document or its sharing. Each answers with the page of the document. */
export function changeRoutes(application: FastifyInstance, { database, pemba }: Parts): void {
  application.post<OfDocument>("/documents/:id/title", async (request, reply) => {
    const id = documentId(request.params.id);
    const title = formField(request, "title", 200);
    if (!(await renameDocument(database, userOf(request), { id, title }))) {
      throw new Problem(403, "You may not edit this document.");
    }
    return showDocument(reply, id);
  });
  application.post<OfDocument>("/documents/:id/share", async (request, reply) => {
    const tuple = await sharingOf(request);
    await pemba.write({ tuples: [tuple] });
    return showDocument(reply, tuple.entity.id);
  });
  application.post<OfDocument>("/documents/:id/unshare", async (request, reply) => {
    const tuple = await sharingOf(request);
    await pemba.deleteTuple(tuple);
    return showDocument(reply, tuple.entity.id);
  });
  application.post<OfDocument>("/documents/:id/everyone", async (request, reply) => {
    const user = userOf(request);
    const id = documentId(request.params.id);
    const mayView = formField(request, "may_view", 5);
    if (mayView !== "true" && mayView !== "false") {
      throw new Problem(400, `The field "may_view" must be true or false.`);
    }
    const { mayShare } = await readSharing(database, user, { id, person: user });
    if (!mayShare) throw new Problem(403, "You may not share this document.");
    const entity = { type: "document", id };
    await pemba.write({ flags: [{ entity, attribute: "public", value: mayView === "true" }] });
    return showDocument(reply, id);
  });

  /** The tuple that shares a document with the user of the form, if the one who asks may share it. */
  async function sharingOf(request: FastifyRequest<OfDocument>): Promise<Tuple> {
    const id = documentId(request.params.id);
    const person = formField(request, "user", 100);
    const { mayShare, isUser } = await readSharing(database, userOf(request), { id, person });
    if (!mayShare) throw new Problem(403, "You may not share this document.");
    if (!isUser) throw new Problem(400, `There is no user "${person}".`);
    const subject = { type: "user", id: person };
    return { entity: { type: "document", id }, relation: "viewer", subject };
  }
}

function userOf(request: FastifyRequest<OfDocument>): string {
  const user = signedInUser(request);
  if (user === undefined) throw new Problem(401, "You are not signed in.");
  return user;
}

function showDocument(reply: FastifyReply, id: string): FastifyReply {
  return reply.redirect(`/documents/${id}`, 303);
}

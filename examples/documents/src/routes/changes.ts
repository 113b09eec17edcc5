import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import { renameDocument } from "../data/document.ts";
import type { Parts } from "../parts.ts";
import { Problem } from "../problem.ts";
import type { Outcome, Share } from "../sharing/sharing.ts";
import { formField } from "../web/form.ts";
import { documentId } from "../web/place.ts";
import { signedInUser } from "../web/session.ts";

/** A request that names a document in its path. */
interface OfDocument {
  Params: { readonly id: string };
}

/** What changes a document or its sharing. Each answers with the page of the document. */
export function changeRoutes(application: FastifyInstance, { database, sharing }: Parts): void {
  application.post<OfDocument>("/documents/:id/title", async (request, reply) => {
    const id = documentId(request.params.id);
    const title = formField(request, "title", 200);
    if (!(await renameDocument(database, userOf(request), { id, title }))) {
      throw new Problem(403, "You may not edit this document.");
    }
    return showDocument(reply, id);
  });
  application.post<OfDocument>("/documents/:id/share", async (request, reply) => {
    const share = shareOf(request);
    refuse(await sharing.share(userOf(request), share), share.person);
    return showDocument(reply, share.id);
  });
  application.post<OfDocument>("/documents/:id/unshare", async (request, reply) => {
    const share = shareOf(request);
    refuse(await sharing.unshare(userOf(request), share), share.person);
    return showDocument(reply, share.id);
  });
  application.post<OfDocument>("/documents/:id/everyone", async (request, reply) => {
    const user = userOf(request);
    const id = documentId(request.params.id);
    const mayView = formField(request, "may_view", 5);
    if (mayView !== "true" && mayView !== "false") {
      throw new Problem(400, `The field "may_view" must be true or false.`);
    }
    refuse(await sharing.shareWithEveryone(user, { id, mayView: mayView === "true" }), user);
    return showDocument(reply, id);
  });
}

/** The document of the path and the person of the form. */
function shareOf(request: FastifyRequest<OfDocument>): Share {
  return { id: documentId(request.params.id), person: formField(request, "user", 100) };
}

/** Fails when the sharing was not changed. */
function refuse(outcome: Outcome, person: string): void {
  if (outcome === "forbidden") throw new Problem(403, "You may not share this document.");
  if (outcome === "no_person") throw new Problem(400, `There is no user "${person}".`);
}

function userOf(request: FastifyRequest<OfDocument>): string {
  const user = signedInUser(request);
  if (user === undefined) throw new Problem(401, "You are not signed in.");
  return user;
}

function showDocument(reply: FastifyReply, id: string): FastifyReply {
  return reply.redirect(`/documents/${id}`, 303);
}

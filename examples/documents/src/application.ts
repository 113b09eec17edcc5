import fastify, { type FastifyError, type FastifyInstance } from "fastify";

import { messagePage } from "./pages/layout.ts";
import { style } from "./pages/style.ts";
import type { Parts } from "./parts.ts";
import { Problem } from "./problem.ts";
import { changeRoutes } from "./routes/changes.ts";
import { pageRoutes } from "./routes/pages.ts";
import { sessionRoutes } from "./routes/session.ts";
import { acceptForms } from "./web/form.ts";
import { sendPage } from "./web/send-page.ts";

const headers = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** Puts the application together. It does not listen yet. */
export function buildApplication(parts: Parts, { hasLog }: { hasLog: boolean }): FastifyInstance {
  const application = fastify({ logger: hasLog });
  acceptForms(application);
  application.addHook("onRequest", async (request, reply) => {
    reply.headers(headers);
    // The page of another site cannot send a form of this application.
    if (request.method === "POST" && request.headers["sec-fetch-site"] === "cross-site") {
      throw new Problem(403, "This form is not of this site.");
    }
  });
  application.setNotFoundHandler((_request, reply) =>
    sendPage(reply.status(404), messagePage("Not found", "There is no such page.")),
  );
  application.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error instanceof Problem ? error.status : (error.statusCode ?? 500);
    if (status >= 500) request.log.error(error);
    // What the database says of an error is for the log alone.
    const isTold = error instanceof Problem || status < 500;
    const message = isTold ? error.message : "Please try again later.";
    return sendPage(reply.status(status), messagePage("That did not work", message));
  });
  application.get("/style.css", (_request, reply) => reply.type("text/css").send(style));
  sessionRoutes(application, parts);
  pageRoutes(application, parts);
  changeRoutes(application, parts);
  return application;
}

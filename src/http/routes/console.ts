import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";

import { PembaError } from "../../base/error.ts";
import { quote } from "../../base/quote.ts";
import type { HttpApp } from "../app.ts";
import { type ConsoleFile, findConsoleFiles } from "./console-files.ts";

const pagePath = "/console";
const assetPath = `${pagePath}/assets/:name`;

/** The console needs no token, but counts for the rate limit: its calls carry the token. */
export const consolePaths: ReadonlySet<string> = new Set([pagePath, assetPath]);

/** The page loads nothing from other sites, runs nothing that is not a file, and cannot be embedded. */
const policy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types pemba";

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  vary: "accept-encoding",
};

/** Names of assets have a digest of their content, so what is behind a name never changes. */
const forEver = "public, max-age=31536000, immutable";

/** Serves the page of the console and its files. */
export function consoleRoutes(app: HttpApp): void {
  const files = findConsoleFiles();
  app.get(pagePath, async (request, reply) => {
    if (files === undefined) {
      throw new PembaError(
        "NOT_FOUND",
        "the console is not built: run `npm run build:console` and start the server again",
      );
    }
    return await send(files.page, "no-cache", request, reply);
  });
  const params = Type.Object({ name: Type.String() });
  app.get(assetPath, { schema: { params } }, async (request, reply) => {
    const { name } = request.params;
    const file = files?.assets.get(name);
    if (file === undefined) {
      throw new PembaError("NOT_FOUND", `the console has no file ${quote(name)}`);
    }
    return await send(file, forEver, request, reply);
  });
}

async function send(
  file: ConsoleFile,
  cacheControl: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { content, coding } = await file.read(request.headers["accept-encoding"]);
  reply.headers({ ...headers, "cache-control": cacheControl }).type(file.contentType);
  if (coding !== undefined) reply.header("content-encoding", coding);
  return await reply.send(content);
}

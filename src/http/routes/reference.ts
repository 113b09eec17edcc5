import { readFile } from "node:fs/promises";

import { stringify } from "yaml";

import type { HttpApp } from "../app.ts";
import { describeApi, type DescribedRoute } from "../openapi/describe-api.ts";
import { pageFiles, pathOfPageFile } from "./page-files.ts";

const jsonPath = "/openapi.json";
const yamlPath = "/openapi.yaml";
const pagePath = "/docs";

/** The files of the page that come from a package. `starter` is the script that starts it. */
const [script, style] = pageFiles;
const starter = "start.js";

/** All URLs are relative, so that the page also works behind a prefix. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Pemba</title>
    <link rel="stylesheet" href="docs/${style}" />
    <link rel="icon" href="data:," />
  </head>
  <body>
    <div id="reference"></div>
    <script src="docs/${script}"></script>
    <script src="docs/${starter}"></script>
  </body>
</html>
`;

/** Without \`validatorUrl: null\` the description would be sent to a third-party server. */
const start = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  validatorUrl: null,
});
`;

/** The page loads nothing from other sites, and other pages cannot embed it. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * The API description and the page that shows it. They need no token, but count for the rate limit.
 */
export const referencePaths: ReadonlySet<string> = new Set([
  jsonPath,
  yamlPath,
  pagePath,
  ...[script, style, starter].map((name) => `${pagePath}/${name}`),
]);

/** Serves the API description of these routes. */
export function referenceRoutes(app: HttpApp, routes: readonly DescribedRoute[]): void {
  let known: { readonly json: string; readonly yaml: string } | undefined;
  // Created on first use, because it takes longer than starting the server.
  const texts = (): { readonly json: string; readonly yaml: string } => {
    if (known === undefined) {
      const description = describeApi(routes);
      const yaml = stringify(description, { aliasDuplicateObjects: false });
      known = { json: JSON.stringify(description, null, 2), yaml };
    }
    return known;
  };

  app.get(
    jsonPath,
    async (_request, reply) => await reply.type("application/json").send(texts().json),
  );
  app.get(
    yamlPath,
    async (_request, reply) => await reply.type("application/yaml").send(texts().yaml),
  );
  pageRoutes(app);
}

function pageRoutes(app: HttpApp): void {
  const scriptType = "text/javascript; charset=utf-8";
  app.get(pagePath, async (_request, reply) => {
    reply.header("content-security-policy", policy);
    return await reply.type("text/html; charset=utf-8").send(page);
  });
  app.get(
    `${pagePath}/${starter}`,
    async (_request, reply) => await reply.type(scriptType).send(start),
  );
  for (const [name, type] of [
    [script, scriptType],
    [style, "text/css; charset=utf-8"],
  ] as const) {
    const file = pathOfPageFile(name);
    app.get(`${pagePath}/${name}`, async (_request, reply) => {
      return await reply
        .headers({ "cache-control": "public, max-age=3600", "x-content-type-options": "nosniff" })
        .type(type)
        .send(await readFile(file));
    });
  }
}

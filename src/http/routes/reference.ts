import { readFile } from "node:fs/promises";

import type { FastifyReply } from "fastify";
import { stringify } from "yaml";

import type { HttpApp } from "../app.ts";
import { type JsonForm, jsonConstraint, jsonForms, jsonHeader } from "../json-form.ts";
import { describeApi, type DescribedRoute } from "../openapi/describe-api.ts";
import { pageFiles, pathOfPageFile } from "./page-files.ts";

const jsonPath = "/openapi.json";
const yamlPath = "/openapi.yaml";
const pagePath = "/docs";

/** The files of the page that come from a package. `starter` is the script that starts it. */
const [script, style] = pageFiles;
const starter = "start.js";
const ownStyle = "page.css";

/** All URLs are relative, so that the page also works behind a prefix. */
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Pemba</title>
    <link rel="stylesheet" href="docs/${style}" />
    <link rel="stylesheet" href="docs/${ownStyle}" />
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

/** No operation has links, and on a telephone their column would not fit. */
const styleText = `.swagger-ui table.responses-table > * > tr > .response-col_links {
  display: none !important;
}
@media (max-width: 640px) {
  .swagger-ui .wrapper {
    padding: 0 8px;
  }
  .swagger-ui .opblock .opblock-summary,
  .swagger-ui .opblock .opblock-summary-path-description-wrapper {
    flex-wrap: wrap;
  }
  .swagger-ui table.responses-table,
  .swagger-ui table.responses-table > tbody,
  .swagger-ui table.responses-table > tbody > tr,
  .swagger-ui table.responses-table > tbody > tr > td,
  .swagger-ui table.parameters,
  .swagger-ui table.parameters > tbody,
  .swagger-ui table.parameters > tbody > tr,
  .swagger-ui table.parameters > tbody > tr > td {
    display: block;
    width: auto;
    max-width: none;
    min-width: 0;
  }
  .swagger-ui table.responses-table > thead,
  .swagger-ui table.parameters > thead {
    display: none;
  }
  .swagger-ui table {
    overflow-wrap: anywhere;
  }
  .swagger-ui table.headers td:last-child {
    overflow-wrap: normal;
  }
}
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
  ...[script, style, starter, ownStyle].map((name) => `${pagePath}/${name}`),
]);

/** Serves the description of these routes, in the form that a request chooses, and the page. */
export function referenceRoutes(app: HttpApp, routes: readonly DescribedRoute[]): void {
  for (const form of jsonForms) descriptionRoutes(app, routes, form);
  pageRoutes(app);
}

function descriptionRoutes(app: HttpApp, routes: readonly DescribedRoute[], form: JsonForm): void {
  let known: { readonly json: string; readonly yaml: string } | undefined;
  // Created on first use, because it takes longer than starting the server.
  const texts = (): { readonly json: string; readonly yaml: string } => {
    if (known === undefined) {
      const description = describeApi(routes, form);
      const yaml = stringify(description, { aliasDuplicateObjects: false });
      known = { json: JSON.stringify(description, null, 2), yaml };
    }
    return known;
  };
  const options = {
    config: { json: form },
    ...(form === "protobuf" && { constraints: { [jsonConstraint]: form } }),
  };
  const send = (reply: FastifyReply, type: string, text: string): FastifyReply => {
    // Where pages of some sites may ask, the answer varies with the site, too.
    const vary = [reply.getHeader("vary") ?? [], jsonHeader].flat().join(", ");
    return reply.header("vary", vary).type(type).send(text);
  };
  app.get(jsonPath, options, (_request, reply) => send(reply, "application/json", texts().json));
  app.get(yamlPath, options, (_request, reply) => send(reply, "application/yaml", texts().yaml));
}

function pageRoutes(app: HttpApp): void {
  const scriptType = "text/javascript; charset=utf-8";
  const styleType = "text/css; charset=utf-8";
  app.get(pagePath, async (_request, reply) => {
    reply.header("content-security-policy", policy);
    return await reply.type("text/html; charset=utf-8").send(page);
  });
  app.get(
    `${pagePath}/${starter}`,
    async (_request, reply) => await reply.type(scriptType).send(start),
  );
  app.get(
    `${pagePath}/${ownStyle}`,
    async (_request, reply) => await reply.type(styleType).send(styleText),
  );
  for (const [name, type] of [
    [script, scriptType],
    [style, styleType],
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

import type { RouteOptions } from "fastify";

import { assert, must } from "../../base/assert.ts";
import { packageVersion } from "../../base/package-version.ts";
import { operationNames } from "../../messages/operations.ts";
import { replyWithStreamError } from "../error-reply.ts";
import type { JsonForm } from "../json-form.ts";
import { operationOf } from "../observe.ts";
import type { JsonSchema } from "../shapes/field.ts";
import { describeOperation, headerParameters } from "./describe-operation.ts";
import type { Components } from "./describe-shape.ts";
import { examples } from "./examples.ts";
import { operations, tags } from "./operations.ts";
import { refusalResponses } from "./refusals.ts";

/** The parts of a route that the description needs. */
export type DescribedRoute = Pick<
  RouteOptions,
  "method" | "url" | "schema" | "errorHandler" | "config"
>;

const about = `Authorization: tuples say how entities are related, a schema says which permissions follow.

This is the form in which to send requests. The server accepts more: a field that is null counts as
absent, numbers may be strings, unknown keys are ignored, and the content type of a request does not
matter. gRPC has the same operations.`;

/** Says which form is described, and where the other one is. */
const formTexts: Readonly<Record<JsonForm, string>> = {
  documented: `There are two forms of JSON, and this describes the documented one. With the header
\`Pemba-Json: protobuf\`, requests and answers are the canonical JSON of the protobuf messages, and this
path describes that form.`,
  protobuf: `There are two forms of JSON, and this describes the canonical JSON of the protobuf messages. In
answers, fields that are not set have the default of their type. With the header
\`Pemba-Json: documented\`, requests and answers have the documented form, and this path describes that form.`,
};

const token = {
  type: "http",
  scheme: "bearer",
  description:
    "Needed if `authn.enabled` is true: a key of the server, or a JWT of its issuer. Each operation names its scope; a token may be limited to some scopes and some tenants.",
};

/**
 * Describes a form of the REST interface as OpenAPI 3.1: from the shapes of the documented routes or from
 * the messages, and from texts and examples. Fails if a route has no text, which is a bug.
 */
export function describeApi(routes: readonly DescribedRoute[], form: JsonForm): JsonSchema {
  const components: Components = new Map();
  const paths = describePaths(routes, form, components);
  const parameters = headerParameters(form, components);
  const responses = refusalResponses(form, components);
  return {
    openapi: "3.1.1",
    info: {
      title: "Pemba",
      version: packageVersion(),
      description: `${about}\n\n${formTexts[form]}`,
    },
    servers: [{ url: "/", description: "This server." }],
    security: [{}, { token: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { token },
      parameters,
      responses,
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

/** By the names of their operations. */
const methods = new Map([...operationNames].map(([method, name]) => [name, method]));

/** In the order of the texts. */
function describePaths(
  routes: readonly DescribedRoute[],
  form: JsonForm,
  components: Components,
): JsonSchema {
  const named = new Map(
    routes.flatMap((route) => {
      const path = route.url.replaceAll(/:(\w+)/g, "{$1}");
      const verbs = [route.method].flat().filter((verb) => verb !== "HEAD");
      return verbs.map((verb) => [`${verb} ${path}`, { path, verb, route }]);
    }),
  );
  const paths: Record<string, JsonSchema> = {};
  for (const [name, text] of Object.entries(operations)) {
    const { path, verb, route } = must(named.get(name), `there is a route ${name}`);
    named.delete(name);
    const method =
      form === "protobuf" ? methods.get(operationOf({ url: route.url, method: verb })) : undefined;
    const operation = describeOperation(
      {
        path,
        scope: route.config?.scope,
        text,
        example: examples[text.id],
        shapes: route.schema ?? {},
        hasStreamErrors:
          route.errorHandler === replyWithStreamError || method?.methodKind === "server_streaming",
        method,
      },
      components,
    );
    paths[path] = { ...paths[path], [verb.toLowerCase()]: operation };
  }
  assert(named.size === 0, `nothing is said of ${[...named.keys()].join(", ")}`);
  return paths;
}

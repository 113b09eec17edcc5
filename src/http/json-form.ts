import type { IncomingHttpHeaders } from "node:http";

import type { FastifyRequest, FastifyServerOptions } from "fastify";

import { fieldError } from "../base/error.ts";
import { quote } from "../base/quote.ts";
import type { HttpApp } from "./app.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The form that the route speaks. Undefined: the documented one. */
    json?: JsonForm;
  }
}

/** The forms of JSON: as documented, or the canonical one of the protobuf messages. */
export const jsonForms = ["documented", "protobuf"] as const;

export type JsonForm = (typeof jsonForms)[number];

/** The header by which a request chooses its form. */
export const jsonHeader = "pemba-json";

/** The name by which routes say which form they are for. */
export const jsonConstraint = "json";

/** Chooses the route of a request by the form that it asks for, which is `byDefault` without the header. */
export function routeByJson(
  byDefault: JsonForm,
): NonNullable<NonNullable<FastifyServerOptions["routerOptions"]>["constraints"]> {
  return {
    [jsonConstraint]: {
      name: jsonConstraint,
      storage: () => new Map(),
      deriveConstraint: ({ headers }) => chosenIn(headers) ?? byDefault,
    },
  };
}

/** Refuses requests to the API whose header names no form. They come to the route of the default. */
export function checkJsonHeader(app: HttpApp): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { headers, routeOptions } = request;
    const text = headers[jsonHeader];
    const isWrong = text !== undefined && chosenIn(headers) === undefined;
    if (!isWrong || routeOptions.url?.startsWith("/v1/") !== true) {
      done();
      return;
    }
    const expected = jsonForms.map((form) => `\`${form}\``).join(" or ");
    const problem = `${quote(String(text))} is not a form of JSON, expected ${expected}`;
    done(fieldError("VALIDATION", jsonHeader, problem));
  });
}

/** The form that a request is answered in, errors included. */
export function jsonFormOf({ routeOptions }: FastifyRequest): JsonForm {
  return routeOptions.config?.json ?? "documented";
}

function chosenIn(headers: IncomingHttpHeaders): JsonForm | undefined {
  const text = headers[jsonHeader];
  return text === undefined ? undefined : jsonForms.find((form) => form === text);
}
